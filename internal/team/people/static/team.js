// The inbox of a team: who is signed in sees what waits for them, and signs each yes with a passkey.
import { $, $$, ages, answerButtons, answered, arm, base64, base64url, current, digestOf, element, events, html, informed, isArmed, keyed, main, moved, nonce,
	now, onEnter, over, ready, Refused, said, sha256, state, tell, typing, uri, utf8, watch, whole, words } from "./common.js";

// calls

let me; // who is signed in: {id, name, tenant, rp, keys}

async function call(method, path, body) {
	const headers = body === undefined ? {} : { "Content-Type": "application/json" };
	try {
		return await answered(await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }));
	} catch (e) {
		if (e.status === 401) signIn(e.message);
		throw e;
	}
}
const json = async (...args) => (await call(...args)).json();
const request = (id, rest = "") => `/api/v1/requests/${uri(id)}${rest}`;
const goTo = (id) => go("/r/" + uri(id));

function signIn(why) {
	main.replaceChildren($("#signin").content.cloneNode(true));
	why ||= "you are not signed in"; // a proxy may say nothing
	$(".why", main).textContent = why[0].toUpperCase() + why.slice(1) + (why.endsWith(".") ? "" : ".");
	$("a", main).href = "/signin?to=" + uri(location.pathname);
	$("#new-keys").replaceChildren(newKeys.shown = "");
	state("");
}

// fill shows what the server rendered and escaped, if it is still wanted.
let wanted;
async function fill(path) {
	wanted = path;
	const text = await (await call("GET", path)).text();
	if (wanted !== path) await new Promise(() => {});
	main.innerHTML = html.createHTML(text);
}

// newKeys shows above every page whose keys are new and do not count yet.
async function newKeys() {
	try {
		const text = await (await call("GET", "/page/new-keys")).text();
		if (text === newKeys.shown) return;
		$("#new-keys").innerHTML = html.createHTML(newKeys.shown = text);
		ages($("#new-keys"));
		arm();
	} catch (e) {
		if (e.status !== 401) state("New keys cannot be shown: " + words(e));
	}
}

// passkeys

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

class NoTouch extends Refused {}

// touch has a passkey of the person sign a challenge.
async function touch(challenge) {
	if (!me.keys.length) throw new NoTouch(403, "You have no passkey that is in force yet. See the page Keys.");
	let c;
	try {
		c = await navigator.credentials.get({ publicKey: {
			challenge, rpId: me.rp, userVerification: "required", allowCredentials: me.keys.map((id) => ({ type: "public-key", id: bytes(id) })) } });
	} catch (e) { throw new NoTouch(403, "The passkey did not sign: " + e.message); }
	const r = c.response;
	return { credential: base64url(c.rawId), signature: base64(r.signature), authenticator: base64(r.authenticatorData), client: base64(r.clientDataJSON) };
}

// challengeOf is what a passkey signs: a text, for what its context says.
const challengeOf = (context, text) => sha256(utf8.encode(context + "\0" + text));

// statement is everything that an answer does.
const statement = async (r, body) => JSON.stringify({
	version: 1, tenant: me.tenant, request: r.id, fingerprint: r.fingerprint, view: r.view, answer: body.answer, choice: body.choice ?? "",
	note: await digestOf(body.note), arguments: "", result: await digestOf(body.result), stop: false, remember: body.remember ?? {},
	serial: Number(r.serial), expires: Math.floor(Date.now() / 1000) + 3600, nonce: nonce(),
});

// vote signs answers with one touch, and sends them, once.
async function vote(all) {
	const texts = await Promise.all(all.map(({ r, body }) => statement(r, body)));
	let proofs;
	if (texts.length === 1) {
		proofs = [{ ...(await touch(await challengeOf("assent-answer-v1", texts[0]))), statement: texts[0] }];
	} else {
		const batch = await Promise.all(texts.map(digestOf)), sums = await Promise.all(texts.map((t) => sha256(utf8.encode(t))));
		const proof = await touch(await sha256(await new Blob(["assent-batch-v1\0", ...sums]).arrayBuffer()));
		proofs = texts.map((statement) => ({ ...proof, statement, batch }));
	}
	const votes = all.map(({ r, body }, i) => {
		const out = { request: r.id, proof: proofs[i] };
		for (const k of ["note", "result"]) if (body[k]) out[k] = body[k];
		return out;
	});
	return (await json("POST", "/api/v1/votes", { votes })).results;
}

// what waits

let items = new Map(), next = "";
const seen = new Map(); // id -> fingerprint and view of what was on screen in full
const marked = new Set();

async function readList(after = "") {
	const list = await json("GET", `/api/v1/requests?limit=50${after && "&after=" + uri(after)}`);
	if (!after) items = new Map();
	for (const i of [...list.requests, ...(list.own ?? [])]) items.set(i.id, i);
	next = list.next ?? "";
	counted();
}

const waiting = () => [...items.values()].filter((i) => !i.ended);
const mine = () => waiting().filter((i) => !i.deny_only); // those that wait for who is signed in

function counted() {
	const n = mine().length, count = n ? `(${n}${next && "+"})` : "";
	$("#count").textContent = count;
	document.title = [count, $("h1", main)?.textContent, "assent"].filter(Boolean).join(" ");
}

// One tab listens for all: browsers allow few connections to one server.
const channel = new BroadcastChannel("assent-team");
channel.onmessage = ({ data: [name, data] }) => happened(name, data);
const everyTab = (name, data) => { channel.postMessage([name, data]); happened(name, data); };

function happened(name, data) {
	if (name === "connected") {
		if (data === now.online) return;
		now.online = data;
		state(data ? "" : `Not connected: as of ${new Date().toLocaleTimeString([], { timeStyle: "short" })}`);
		arm();
	} else if (name === "waiting") {
		items.set(data.id, data);
		counted();
		if (view === "waiting") put(data);
	} else if (name === "ended") {
		const old = items.get(data.id);
		if (old) old.ended = data.words;
		counted();
		if (rowOf(data.id)) put(old);
	} else if (name === "touched") {
		const id = current()?.dataset.id;
		if (data.ids.includes(id)) votes(id);
	} else if (name === "keys") {
		newKeys();
	} else if (name === "reset") {
		newKeys();
		readList().then(() => (view === "waiting" ? show() : current() && votes(current().dataset.id)));
	}
}

function listen() {
	navigator.locks.request("assent-team-stream", async () => {
		for (let wait = 250; ; wait = Math.min(wait * 2, 10000)) {
			try {
				const response = await call("GET", "/api/v1/events");
				everyTab("connected", true);
				wait = 250;
				await events(response, everyTab);
			} catch (e) {
				if (e.status === 401) return;
			}
			everyTab("connected", false);
			await new Promise((done) => setTimeout(done, wait));
		}
	});
}

// the list

function showList() {
	main.replaceChildren($("#waiting").content.cloneNode(true));
	for (const [id, i] of items) if (i.ended) items.delete(id);
	for (const i of items.values()) put(i);
	$(".more button").onclick = trying(async () => {
		await readList(next);
		for (const i of items.values()) put(i);
	});
	for (const b of $$("[data-bulk]")) b.onclick = () => bulk(b.dataset.bulk);
	prepare($("#several"));
	extent();
}

const chosen = () => [...marked].map((id) => items.get(id)).filter((i) => i && !i.ended);
const left = (i) => (i.voted ? "you voted already" : i.not || (seen.has(i.id) ? "" : "open it first and scroll to its end"));

function extent() {
	if (!$("#list")) return;
	$(".more").hidden = !next;
	$(".empty").hidden = Boolean($(".items li"));
	$(".own").hidden = !$(".own li");
	const all = chosen(), can = all.filter((i) => !left(i)).length;
	$(".bulk").hidden = all.length === 0;
	$("[data-bulk=deny] span").textContent = `Deny ${all.length} marked…`;
	$("[data-bulk=approve] span").textContent = `Approve ${can === all.length ? can : can + " of " + all.length} marked…`;
}

const rowOf = (id) => $(`.items [data-id="${CSS.escape(id)}"]`);

// put shows an item in its place, or at the end, where it moves nothing.
function put(i) {
	let li = rowOf(i.id);
	if (!li) {
		li = $("#item").content.cloneNode(true).firstElementChild;
		li.dataset.id = i.id;
	}
	const list = $(i.deny_only ? ".own .items" : ".items");
	if (li.parentElement !== list) list.append(li); // it is new, or by now it waits for who is signed in
	li.classList.toggle("over", Boolean(i.ended));
	$("a", li).href = "/r/" + uri(i.id);
	$(".agent", li).textContent = i.agent;
	$(".path", li).textContent = [i.machine, i.project?.split("/").pop(), i.branch].filter(Boolean).join(" · ");
	$(".summary", li).textContent = `${i.person_only ? "! " : ""}${i.tool} · ${i.summary}`;
	$(".reason", li).textContent = i.ended || i.need;
	const box = $("input", li);
	box.checked = marked.has(i.id);
	box.onchange = () => mark(i.id);
	$(".pick .sr", li).textContent = "Mark: " + i.summary;
	$("time", li).dateTime = i.created;
	$(".left", li).textContent = "";
	if (i.until && !i.ended) $(".left", li).dataset.until = i.until;
	else delete $(".left", li).dataset.until;
	ages(li);
	extent();
}

function mark(id) {
	marked.has(id) ? marked.delete(id) : marked.add(id);
	if (view === "waiting") put(items.get(id));
	else state(marked.has(id) ? "Marked" : "No longer marked");
}

// bulk asks once more what is answered together, and what is left open.
function bulk(answer) {
	const d = $("#several"), all = chosen(), deny = answer === "deny";
	if (!all.length) return state("Nothing is marked. Mark requests with Space first.");
	const yes = all.filter((i) => deny || !left(i)), no = all.filter((i) => !yes.includes(i));
	const line = (i) => `${i.tool} · ${i.summary}`;
	$("h2", d).textContent = deny ? `Deny ${yes.length}, this once` : `Approve ${yes.length}, this once, with one touch`;
	$(".yes-list", d).replaceChildren(...yes.map((i) => element("li", line(i))));
	$(".no-list", d).replaceChildren(...no.map((i) => element("li", `${line(i)} (${left(i)})`)));
	$(".left-open", d).hidden = !no.length;
	$("label", d).hidden = !deny;
	const b = $("[data-give]", d);
	b.className = deny ? "no" : "yes";
	b.dataset.give = deny ? "deny-all" : "approve-all";
	b.dataset.none = yes.length ? "" : "yes";
	$("span", b).textContent = deny ? "Deny" : "Approve with passkey";
	$("kbd", b).textContent = deny ? "n" : "y";
	open(d);
}

// signing gathers what one touch is to be under. A yes is for what was on the screen.
async function signing(all, body) {
	const out = [];
	for (const { id } of all) {
		const r = await json("GET", request(id));
		if (body.answer === "approve" && seen.get(id) !== r.fingerprint + r.view_digest) throw new Refused(412, "One of them has changed since you saw it. Open it again.");
		out.push({ r: { id, fingerprint: r.fingerprint, view: r.view_digest, serial: r.serial }, body });
	}
	return out;
}

async function several(answer, d) {
	const all = chosen().filter((i) => answer === "deny" || !left(i));
	now.busy = true;
	arm();
	try {
		if (answer === "deny") {
			const note = $("[name=note]", d).value.trim();
			if (note && me.keys.length) await vote(await signing(all, { answer, note }));
			else for (const { id } of all) await call("POST", request(id, "/deny"), { note });
			for (const { id } of all) marked.delete(id);
			state(`Denied: ${all.length}`);
		} else {
			const results = await vote(await signing(all, { answer })), ran = results.filter((r) => r.state === "approved"), bad = results.filter((r) => r.problem);
			for (const r of results) marked.delete(r.request);
			const more = results.length - ran.length - bad.length;
			state([...(ran.length || !more ? ["Approved: " + ran.length] : []), ...(more ? [`Your yes is counted: ${more}, others must still agree`] : []), ...bad.map((r) => r.problem)].join("; "));
		}
		d.close();
	} catch (e) {
		said(words(e));
	}
	now.busy = false;
	arm();
	for (const i of all) if (rowOf(i.id)) put(i); // the marks have gone
	extent();
}

// one request

// may reports whether the person has seen what a button answers, and may say so.
now.may = (b) => {
	const a = current(), d = b.closest("dialog");
	const yes = b.dataset.answer === "approve" || b.dataset.choice || b.dataset.do === "respond" || b.dataset.do === "session" || b.dataset.do === "always";
	if (yes && a && (a.dataset.not || a.dataset.voted === "true" || !me.keys.length || !informed())) return false;
	if (b.dataset.do === "session" || b.dataset.do === "always") return whole();
	return !d || !b.dataset.none;
};

async function showRequest(id, all) {
	const knew = all && informed();
	await fill(`/page/request/${uri(id)}${all ? "?whole" : ""}`);
	const a = current();
	if (knew) for (const li of $$(".asks", a)) li.dataset.seen = "yes";
	ages(a);
	now.busy = false;
	for (const b of $$(".answers button, .further button", a)) b.onclick = () => isArmed() && press(b);
	$("[data-do=whole]", a)?.addEventListener("click", () => showRequest(id, true).then(() => $("h1").focus({ preventScroll: true })));
	for (const d of $$("dialog", a)) prepare(d);
	watch(a, () => seen.set(id, a.dataset.fingerprint + a.dataset.view));
	if (a.dataset.ended) over(a.dataset.ended);
}

// votes shows who has voted by now.
async function votes(id) {
	const text = await (await call("GET", "/page/votes/" + uri(id))).text();
	if (current()?.dataset.id !== id) return;
	$("#votes").innerHTML = html.createHTML(text);
	current().dataset.voted = $("#votes [data-mine]") ? "true" : "false";
	ages($("#votes"));
	const { ended } = $("#votes .need").dataset;
	if (ended && !now.busy) over(ended);
	else arm();
}

function press(b) {
	if (b.dataset.do) open($("#" + b.dataset.do));
	else answer({ answer: b.dataset.answer ?? "approve", choice: b.dataset.choice });
}

function open(d) {
	d.showModal();
	moved.observe(d);
	arm();
}

// prepare joins what a dialog holds to what it does.
function prepare(d) {
	$("form", d).onsubmit = (e) => e.preventDefault();
	for (const b of $$("[data-close]", d)) b.onclick = () => d.close();
	for (const b of $$("[data-give]", d)) b.onclick = () => d.open && isArmed() && now.may(b) && fromDialog(b.dataset.give, d);
}

const value = (d, name) => $(`[name=${name}]:checked`, d)?.value ?? "";

// remembered is what a dialog says about later calls, and no more: it is signed.
function remembered(d) {
	const out = { keep: d.id }, reach = value(d, "reach"), seconds = Number(value(d, "for"));
	if (d.id === "always") {
		out.rules = $("[name=reach]:checked", d).dataset.rules.split("\n");
		return out;
	}
	if (reach) out.reach = reach;
	if (seconds) out.for = seconds * 1e9;
	return out;
}

function fromDialog(what, d) {
	const text = (name) => $(`[name=${name}]`, d).value;
	if (what === "deny-all" || what === "approve-all") return several(what.slice(0, -4), d);
	if (what === "deny") return answer({ answer: "deny", note: text("note").trim() }, d);
	if (what === "respond") return answer({ answer: "respond", result: text("result") }, d);
	answer({ answer: "approve", remember: remembered(d) }, d);
}

// answer gives the answer of the request that is shown.
async function answer(body, dialog) {
	const a = current(), { id, fingerprint, view, serial } = a.dataset;
	now.busy = true;
	for (const b of $$(answerButtons)) b.disabled = true;
	try {
		let result;
		if (body.answer === "deny" && !(body.note && me.keys.length)) result = await json("POST", request(id, "/deny"), { note: body.note ?? "", fingerprint });
		else [result] = await vote([{ r: { id, fingerprint, view, serial }, body }]);
		if (result.problem) throw new Refused(403, result.problem);
		now.busy = false;
		dialog?.close();
		marked.delete(id);
		await go("/");
		state(result.words);
	} catch (e) {
		now.busy = false;
		if (e instanceof NoTouch || e instanceof Refused && e.status < 500) {
			if (e.status === 409 || e.status === 404) over(e.message);
			else if (e.status === 412) { await show(); said(e.message); }
			else { said(e.message); arm(); }
		} else {
			dialog?.close();
			a.dataset.over = "unknown";
			said("The server did not confirm your answer, and it may or may not have had an effect. It is not sent again. Reload to see.");
		}
	}
}

function step(by) {
	if (view === "request") {
		const all = waiting().map((i) => i.id), to = all[all.indexOf(current()?.dataset.id) + by];
		return to && goTo(to);
	}
	const links = $$(".items a");
	links[Math.max(0, Math.min(links.length - 1, links.indexOf(document.activeElement) + by))]?.focus();
}

document.addEventListener("keydown", (e) => {
	const { key, target } = e, d = $("dialog[open]"), a = current(), row = target.closest(".items a");
	if (onEnter(e) || typing(e)) return;
	const by = { j: 1, k: -1, ArrowDown: a ? 0 : 1, ArrowUp: a ? 0 : -1 }[key];
	if (by && !d && (a || $("#list"))) step(by);
	else if (key === " " && row) mark(row.parentElement.dataset.id);
	else if (key === "m" && a && !d) mark(a.dataset.id);
	else if (key === "Escape" && a && !d) go("/");
	else {
		const b = keyed(key, d);
		if (!b) return;
		b.click();
	}
	e.preventDefault();
});

// keys

const trying = (what) => async (...args) => { try { await what(...args); } catch (e) { said(words(e)); } };

// doing does something and shows the page anew, with what was done.
const doing = trying(async (what, done) => {
	const says = await what();
	me = await json("GET", "/api/v1/me");
	await show();
	said(says ?? done);
	$("h1", main)?.focus();
});

// changes joins buttons to the calls that they name. What cannot be undone wants a second press.
function changes() {
	for (const b of $$("[data-path]")) b.onclick = () => {
		const { method, path, done } = b.dataset;
		if (method === "DELETE" && !b.dataset.sure) {
			b.dataset.sure = "yes";
			b.firstChild.textContent = "Press again to " + b.firstChild.textContent.toLowerCase();
		} else doing(async () => { await call(method, path); }, done);
	};
}

// enrol makes a passkey. An invitation lets it in, or a passkey that counts already and signs the new one.
const enrol = (invitation, name) => doing(async () => {
	const { options } = await json("POST", "/api/v1/keys/begin", {});
	const o = options.publicKey;
	let made;
	try {
		made = await navigator.credentials.create({ publicKey: { ...o, challenge: bytes(o.challenge), user: { ...o.user, id: bytes(o.user.id) },
			excludeCredentials: (o.excludeCredentials ?? []).map((c) => ({ ...c, id: bytes(c.id) })) } });
	} catch (e) { throw new NoTouch(403, "No passkey was made: " + e.message); }
	const r = made.response, body = { name, credential: { id: made.id, rawId: base64url(made.rawId), type: made.type, response: {
		clientDataJSON: base64url(r.clientDataJSON), attestationObject: base64url(r.attestationObject), transports: r.getTransports?.() ?? [] } } };
	if (invitation) body.invitation = invitation;
	else body.proof = await touch(await challengeOf("assent-enrol-v1", base64(r.getPublicKey())));
	return (await json("POST", "/api/v1/keys", body)).words;
});

const invite = (person) => doing(async () => {
	const statement = JSON.stringify({ version: 1, tenant: me.tenant, person, expires: Math.floor(Date.now() / 1000) + 600, nonce: nonce() });
	const proof = { ...(await touch(await challengeOf("assent-invite-v1", statement))), statement };
	const { code, words } = await json("POST", "/api/v1/invitations", { person, proof });
	return `${words} ${code}`;
});

function keysPage() {
	const make = $("#make"), other = $("#invite");
	make.onsubmit = (e) => { e.preventDefault(); enrol(make.invitation.value.trim(), make.name.value.trim()); };
	if (other) other.onsubmit = (e) => { e.preventDefault(); invite(other.person.value); };
	$("[data-do=sign-out]").onclick = trying(async () => {
		await call("POST", "/api/v1/sign-out", {});
		signIn("You are signed out.");
	});
}

// the way about

let view = "";

async function show() {
	const [, first, rest] = location.pathname.split("/");
	wanted = "";
	view = { "": "waiting", r: "request" }[first] ?? first;
	for (const a of $$("[data-nav]")) a.dataset.nav === view ? a.setAttribute("aria-current", "page") : a.removeAttribute("aria-current");
	if (view === "request") $("[data-nav=waiting]").setAttribute("aria-current", "true");
	moved.disconnect();
	newKeys();
	try {
		if (view === "waiting") showList();
		else if (view === "request") await showRequest(decodeURIComponent(rest ?? ""));
		else {
			await fill("/page/" + view + location.search);
			ages(main);
			if (view === "keys") keysPage();
			changes();
		}
	} catch (e) {
		if (e.status === 401) return;
		if (e instanceof Refused) tell("This cannot be shown", e.message);
		else tell("Not connected", "The server did not answer.");
		main.append(element("a", "Back to the list", { href: "/", className: "target" }));
	}
	counted();
}

function go(path) {
	history.pushState(null, "", path);
	scrollTo(0, 0);
	return show().then(() => ($("h1", main) ?? main).focus({ preventScroll: true }));
}

document.addEventListener("click", (e) => {
	const a = e.target.closest("a[href^='/']");
	if (!a || a.pathname === "/signin" || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
	e.preventDefault();
	go(a.getAttribute("href"));
});
addEventListener("popstate", show);

try {
	me = await json("GET", "/api/v1/me");
	await readList();
	await show();
	listen();
} catch (e) {
	if (e.status !== 401) {
		tell("Not connected", e instanceof Refused ? e.message : "The server did not answer.");
		main.append(element("button", "Try again", { type: "button", onclick: () => location.reload() }));
	}
}
