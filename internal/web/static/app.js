// A key that cannot leave the browser, signed calls, the list of what waits, and the answers.
import { $, $$, ages, answerButtons, answered, arm, base64, base64url, current, digestOf, element, events, hex, html, informed, isArmed, keyed, main, moved, nonce,
	now, onEnter, over, ready, Refused, said, sha256, state, tell, typing, uri, utf8, watch, whole, words } from "./common.js";

// the key

const { subtle } = crypto;
const ecdsa = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

function database(mode, use) {
	return new Promise((resolve, reject) => {
		const open = indexedDB.open("assent", 1);
		open.onupgradeneeded = () => open.result.createObjectStore("keys");
		open.onerror = () => reject(open.error);
		open.onsuccess = () => {
			const tx = open.result.transaction("keys", mode);
			const request = use(tx.objectStore("keys"));
			tx.oncomplete = () => { open.result.close(); resolve(request.result); };
			tx.onerror = () => reject(tx.error);
		};
	});
}

let key; // {id, privateKey}

// letIn makes a key and has the code of the link let it in.
async function letIn(code) {
	const pair = await subtle.generateKey(ecdsa, false, ["sign", "verify"]);
	const spki = await subtle.exportKey("spki", pair.publicKey);
	const agent = navigator.userAgentData?.brands?.at(-1)?.brand ?? "Browser";
	const response = await fetch("/api/v1/keys", {
		method: "POST", headers: { "Content-Type": "application/json" },
		body: JSON.stringify({ code, public: base64(spki), name: `${agent} on ${navigator.platform}` }),
	});
	const answer = await response.json();
	if (!response.ok) throw new Error(answer.detail);
	key = { id: answer.id, privateKey: pair.privateKey };
	await database("readwrite", (keys) => keys.put(key, "key"));
}

const sign = async (text) => subtle.sign(ecdsa, key.privateKey, utf8.encode(text));

// calls

// call makes a signed call. It throws Refused if the server said no, and any other error if nobody knows.
async function call(method, path, body, headers = {}) {
	const text = body === undefined ? "" : JSON.stringify(body);
	const at = String(Date.now()), once = nonce();
	const sum = hex(await sha256(utf8.encode(text)));
	const signature = base64url(await sign("assent-call-v1\0" + [method, path, at, once, sum].join("\n")));
	headers = { ...headers, Authorization: `Assent ${key.id}.${at}.${once}.${signature}` };
	if (body !== undefined) headers["Content-Type"] = "application/json";
	try {
		return await answered(await fetch(path, { method, headers, body: body === undefined ? undefined : text }));
	} catch (e) {
		if (e.status === 401) lockedOut(e.message);
		throw e;
	}
}

const json = async (...args) => (await call(...args)).json();
const request = (id, rest = "") => `/api/v1/requests/${uri(id)}${rest}`;
const goTo = (id) => go("/r/" + uri(id));

// fill shows what the server rendered and escaped, if it is still wanted.
let wanted;
async function fill(path) {
	wanted = path;
	const text = await (await call("GET", path)).text();
	if (wanted !== path) await new Promise(() => {});
	main.innerHTML = html.createHTML(text);
}

const lockedOut = (why) => tell("This page cannot answer", why + ". Open the link that ‘assent inbox --web’ prints; Enter there prints a new one.");

// what waits

let items = new Map(), lastEvent = "", shown = 0;
const seen = new Map(); // id -> fingerprint and view of what was on screen in full
const marked = new Set();

async function readList() {
	items = new Map();
	let after = "";
	do {
		const list = await json("GET", `/api/v1/requests?limit=200${after && "&after=" + uri(after)}`);
		for (const i of list.requests) items.set(i.id, i);
		lastEvent ||= list.event;
		after = list.next;
	} while (after);
	counted();
}

const waiting = () => [...items.values()].filter((i) => !i.ended);

function counted() {
	const count = waiting().length ? `(${waiting().length})` : "";
	$("#count").textContent = count;
	document.title = [count, $("h1", main)?.textContent, "assent"].filter(Boolean).join(" ");
}

const channel = new BroadcastChannel("assent");
channel.onmessage = ({ data: [name, data, last] }) => { lastEvent = last; happened(name, data); };
const everyTab = (name, data) => { channel.postMessage([name, data, lastEvent]); happened(name, data); };

// Without a connection nothing can be answered.
function connected(yes) {
	if (yes === now.online) return;
	now.online = yes;
	state(yes ? "" : `Not connected: as of ${new Date().toLocaleTimeString([], { timeStyle: "short" })}`);
	arm();
}

function happened(name, data) {
	if (name === "connected") connected(data);
	else if (name === "waiting") {
		items.set(data.id, data);
		counted();
		if (view === "waiting") put(data);
		if (view === "request" && current()?.dataset.id === data.id && data.problem) show();
	} else if (name === "ended") {
		const old = items.get(data.id);
		if (old) old.ended = `${data.state}${data.by ? " by " + data.by : ""}`;
		counted();
		if (rowOf(data.id)) put(old);
		if (view === "request" && current()?.dataset.id === data.id && !now.busy) over(old?.ended ?? data.state);
	} else if (name === "reset") {
		readList().then(() => view === "waiting" && show());
	}
}

// One tab listens for all: browsers allow few connections to one server.
function listen() {
	navigator.locks.request("assent-stream", async () => {
		for (let wait = 250; ; wait = Math.min(wait * 2, 10000)) {
			try {
				const response = await call("GET", "/api/v1/events", undefined, lastEvent && { "Last-Event-ID": lastEvent });
				everyTab("connected", true);
				wait = 250;
				await events(response, (name, data, id) => { lastEvent = id; everyTab(name, data); });
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
	shown = 0;
	more();
	$(".more button").onclick = more;
	for (const b of $$("[data-bulk]")) b.onclick = () => bulk(b.dataset.bulk);
	prepare($("#several"));
	extent();
}

function more() {
	shown += 50;
	for (const i of [...items.values()].slice(shown - 50, shown)) put(i);
}

const chosen = () => [...marked].map((id) => items.get(id)).filter((i) => i && !i.ended);
const left = (i) => (i.team ? "the team decides" : i.person_only ? "only a person may answer it, each time" : seen.has(i.id) ? "" : "was not on screen in full");

function extent() {
	if (!$("#list")) return;
	$(".more").hidden = items.size <= shown;
	$(".empty").hidden = items.size > 0;
	const all = chosen(), ready = all.filter((i) => !left(i)).length;
	$(".bulk").hidden = all.length === 0;
	$("[data-bulk=deny] span").textContent = `Deny ${all.length} marked…`;
	$("[data-bulk=approve] span").textContent = `Approve ${ready === all.length ? ready : ready + " of " + all.length} marked…`;
}

const rowOf = (id) => $(`.items [data-id="${CSS.escape(id)}"]`);

// put shows an item in its place, or at the end, where it moves nothing.
function put(i) {
	const list = $(".items");
	let li = rowOf(i.id);
	if (!li) {
		if (list.children.length >= shown) return extent();
		li = $("#item").content.cloneNode(true).firstElementChild;
		li.dataset.id = i.id;
		list.append(li);
	}
	li.classList.toggle("over", Boolean(i.ended));
	$("a", li).href = "/r/" + uri(i.id);
	$(".agent", li).textContent = i.agent;
	$(".path", li).textContent = [i.project?.split("/").pop(), i.branch].filter(Boolean).join(" · ");
	$(".summary", li).textContent = `${i.person_only ? "! " : ""}${i.tool} · ${i.summary}`;
	$(".reason", li).textContent = i.ended || i.problem || i.why;
	const box = $("input", li);
	box.checked = marked.has(i.id);
	box.onchange = () => mark(i.id);
	$(".pick .sr", li).textContent = "Mark: " + i.summary;
	$("time", li).dateTime = i.created;
	if (i.until) $(".left", li).dataset.until = i.until;
	ages(li);
	extent();
}

// bulk asks once more what is answered together, and what is left open.
function bulk(answer) {
	const d = $("#several"), all = chosen(), deny = answer === "deny";
	if (!all.length) return state("Nothing is marked. Mark requests with Space first.");
	const yes = all.filter((i) => deny || !left(i)), no = all.filter((i) => !yes.includes(i));
	$("h2", d).textContent = `${deny ? "Deny" : "Approve"} ${yes.length}, this once`;
	$(".yes-list", d).replaceChildren(...yes.map((i) => element("li", `${i.tool} · ${i.summary}`)));
	$(".no-list", d).replaceChildren(...no.map((i) => element("li", `${i.tool} · ${i.summary} (${left(i)})`)));
	$(".left-open", d).hidden = !no.length;
	$("label", d).hidden = !deny;
	const b = $("[data-give]", d);
	b.className = deny ? "no" : "yes";
	b.dataset.give = deny ? "deny-all" : "approve-all";
	b.dataset.none = yes.length ? "" : "yes";
	$("span", b).textContent = deny ? "Deny" : "Approve";
	$("kbd", b).textContent = deny ? "n" : "y";
	open(d);
}

async function several(answer, d) {
	const body = answer === "deny" ? { answer, note: $("[name=note]", d).value.trim() } : { answer };
	await each(chosen().filter((i) => answer === "deny" || !left(i)), body);
	d.close();
	extent();
}

// each answers requests that are not on the screen; a yes is for what was there.
async function each(all, body) {
	let done = 0;
	now.busy = true;
	for (const { id, summary } of all) {
		try {
			const r = await json("GET", request(id));
			if (body.answer === "approve" && seen.get(id) !== r.fingerprint + r.view_digest) throw new Refused(412, "it is no longer what was shown");
			await give({ id, fingerprint: r.fingerprint, view: r.view_digest }, body);
			marked.delete(id);
			state(`${did[body.answer]}: ${++done}`);
		} catch (e) { state(`${summary}: ${words(e)}`); if (!(e instanceof Refused)) break; }
	}
	now.busy = false;
}
const did = { approve: "Approved", deny: "Denied", respond: "Answered" };

// one request

let undoable;

// may reports whether the person has seen what a button answers.
now.may = (b) => {
	if (b.dataset.answer === "approve" || b.dataset.choice) return informed();
	if (b.dataset.do === "session" || b.dataset.do === "always") return informed() && whole();
	const d = b.closest("dialog");
	return !d || !d.dataset.unknown && !b.dataset.none && ($(".wide", d)?.hidden !== false || $("[name=sure]", d).value.trim().toLowerCase() === "yes");
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
}

function press(b) {
	if (b.dataset.do) open($("#" + b.dataset.do));
	else answer({ answer: b.dataset.answer ?? "approve", choice: b.dataset.choice });
}

function open(d) {
	d.showModal();
	moved.observe(d);
	arm();
	refresh(d);
}

// prepare joins what a dialog holds to what it does.
function prepare(d) {
	$("form", d).onsubmit = (e) => e.preventDefault();
	for (const b of $$("[data-close]", d)) b.onclick = () => d.close();
	for (const b of $$("[data-give]", d)) b.onclick = () => d.open && isArmed() && now.may(b) && fromDialog(b.dataset.give, d);
	d.oninput = (e) => (e.target.name === "sure" ? ready() : refresh(d, e.target.name === "reach"));
}

const value = (d, name) => $(`[name=${name}]:checked`, d)?.value ?? "";

// refresh shows the rules of the chosen reach, and what else an answer settles: before, nothing is answered.
let turn = 0;
async function refresh(d, reach = true) {
	const mine = ++turn, rules = $("[name=rules]", d), p = $(".covers", d), wide = $(".wide", d);
	if (rules && reach) rules.value = $("[name=reach]:checked", d)?.dataset.rules ?? "";
	const remember = remembered(d);
	d.dataset.unknown = "";
	if (p) p.textContent = "";
	if (!remember.keep) return;
	d.dataset.unknown = "yes";
	ready();
	const says = await json("POST", request(current().dataset.id, "/covers"), { answer: d.id === "note" ? "deny" : "approve", remember }).catch((e) => e);
	if (mine !== turn) return;
	if (says instanceof Error) { p.textContent = words(says); return; }
	d.dataset.unknown = "";
	p.textContent = says.requests.length ? "It also answers: " + says.requests.join("; ") : "It answers nothing else that waits.";
	if (wide) {
		wide.hidden = !says.wide;
		$("p", wide).textContent = (says.wide ?? []).join("; ");
	}
	ready();
}

// exact reads JSON and keeps numbers as they are written.
const exact = (text) => JSON.parse(text, (_, value, context) =>
	typeof value === "number" && context?.source && String(value) !== context.source ? JSON.rawJSON(context.source) : value);

// remembered is what a dialog says about later calls, and no more: it is signed.
function remembered(d) {
	const keep = d.id === "note" ? value(d, "keep") : d.id;
	if (keep !== "session" && keep !== "always") return {};
	const out = { keep };
	if (keep === "always") {
		const text = $("[name=rules]", d)?.value ?? $("[name=reach]:checked", d)?.dataset.rules ?? "";
		const rules = text.split("\n").map((l) => l.trim()).filter(Boolean);
		if ($("[name=everywhere]", d)?.checked) out.everywhere = true;
		if (rules.length) out.rules = rules;
		return out;
	}
	const reach = value(d, "reach");
	if (reach) out.reach = reach;
	const seconds = Number(value(d, "for"));
	if (seconds) out.for = seconds * 1e9;
	if ($("[name=shared]", d)?.checked) out.shared = true;
	return out;
}

function fromDialog(what, d) {
	const a = current(), text = (name) => $(`[name=${name}]`, d).value;
	if (what === "deny-all" || what === "approve-all") return several(what.slice(0, -4), d);
	if (what === "deny" && value(d, "keep") === "stop") return stop(text("note").trim(), d);
	if (what === "deny") return answer({ answer: "deny", note: text("note").trim(), remember: remembered(d) }, d);
	if (what === "session" || what === "always") return answer({ answer: "approve", remember: remembered(d) }, d);
	if (what === "respond") return answer({ answer: "respond", result: text("result") }, d);
	if (text("text") === $("[name=text]", d).defaultValue) return said("Nothing was changed.");
	try {
		const args = exact(a.dataset.edit ? $("#arguments").textContent : text("text"));
		if (a.dataset.edit) args[a.dataset.edit] = text("text");
		answer({ answer: "approve", arguments: args }, d);
	} catch (e) { said("That is not valid JSON: " + e.message); }
}

// stop denies all that a run waits for, and ends it.
async function stop(note, d) {
	const { id, session } = current().dataset, body = { answer: "deny", note: "the person stopped the run", stop: true };
	await each(waiting().filter((i) => i.session === session && i.id !== id), body);
	answer({ ...body, note: note || body.note }, d);
}

// answer gives the answer of the request that is shown.
async function answer(body, dialog) {
	const a = current();
	now.busy = true;
	for (const b of $$(answerButtons)) b.disabled = true;
	try {
		const { answer: digest } = await give({ id: a.dataset.id, fingerprint: a.dataset.fingerprint, view: a.dataset.view, etag: a.dataset.etag }, body);
		now.busy = false;
		dialog?.close();
		undoable = { id: a.dataset.id, digest };
		$("#last").hidden = false;
		$("#last span").textContent = `${did[body.answer]}: ${items.get(a.dataset.id)?.summary ?? ""}`;
		clearTimeout(answer.timer);
		answer.timer = setTimeout(() => { $("#last").hidden = true; }, 15000); // the key works on
		next(a.dataset.id);
	} catch (e) {
		now.busy = false;
		if (e instanceof Refused && e.status < 500) {
			if (e.status === 409 || e.status === 404) over(e.message);
			else if (e.status === 412) { await show(); said(e.message); }
			else { said(e.message); arm(); }
		} else {
			dialog?.close();
			a.dataset.over = "unknown";
			said("Not confirmed: nobody knows whether your answer counts. It is not sent again. Reload to see.");
		}
	}
}

// give signs an answer and sends it, once.
async function give(r, body) {
	const once = nonce();
	const statement = JSON.stringify({
		version: 1, tenant: "", request: r.id, fingerprint: r.fingerprint, view: r.view, answer: body.answer, choice: body.choice ?? "",
		note: await digestOf(body.note), arguments: await digestOf(body.arguments && JSON.stringify(body.arguments)), result: await digestOf(body.result),
		stop: body.stop ?? false, remember: body.remember ?? {}, serial: 0, expires: Math.floor(Date.now() / 1000) + 120, nonce: once,
	});
	const proof = { credential: key.id, statement, signature: base64(await sign("assent-answer-v1\0" + statement)) };
	const send = { ...body, fingerprint: r.fingerprint, proof };
	for (const k of ["note", "result", "choice"]) if (!send[k]) delete send[k];
	if (!Object.keys(send.remember ?? {}).length) delete send.remember;
	const headers = { "Idempotency-Key": once };
	if (r.etag) headers["If-Match"] = r.etag;
	return json("POST", request(r.id, "/answer"), send, headers);
}

// takeBack takes the last answer back, if nobody used it yet.
async function takeBack() {
	const u = undoable;
	if (!u) return;
	undoable = undefined;
	$("#last").hidden = true;
	try {
		await call("POST", request(u.id, "/take-back"), { answer: u.digest });
		goTo(u.id);
	} catch (e) { state(words(e)); }
}
$("#last button").onclick = takeBack;

// next goes to the next request that waits, of the same turn first.
function next(id) {
	const all = waiting().filter((i) => i.id !== id), batch = items.get(id)?.batch;
	const to = all.find((i) => i.batch === batch);
	to ? goTo(to.id) : go("/");
}

function step(by) {
	if (view === "request") {
		const all = waiting().map((i) => i.id), to = all[all.indexOf(current()?.dataset.id) + by];
		return to && goTo(to);
	}
	const links = $$(".items a");
	links[Math.max(0, Math.min(links.length - 1, links.indexOf(document.activeElement) + by))]?.focus();
}

function mark(id) {
	marked.has(id) ? marked.delete(id) : marked.add(id);
	if (view === "waiting") put(items.get(id));
	else state(marked.has(id) ? "Marked" : "No longer marked");
}

const leads = { Escape: () => "/", g: () => "/rules", h: (session) => "/audit?session=" + uri(session) };

document.addEventListener("keydown", (e) => {
	const { key, target } = e, d = $("dialog[open]"), a = current(), row = target.closest(".items a");
	if (onEnter(e) || typing(e)) return;
	const by = { j: 1, k: -1, ArrowDown: a ? 0 : 1, ArrowUp: a ? 0 : -1 }[key];
	const other = d ? $$("[name=reach]", d)[key - 1] ?? $({ w: "[type=checkbox]", e: "[name=rules]" }[key] ?? "none", d) : key === "c" && $("[data-choice]");
	if (other) key === "c" || key === "e" ? other.focus() : other.click();
	else if (by && !d && (a || $("#list"))) step(by);
	else if (key === "u" && !d) takeBack();
	else if (key === " " && row) mark(row.parentElement.dataset.id);
	else if (key === "m" && a && !d) mark(a.dataset.id);
	else if (!d && leads[key] && a) go(leads[key](a.dataset.session));
	else {
		const b = keyed(key === "q" ? "N" : key, d);
		if (!b) return;
		b.click();
		if (key === "q") $("#note [value=stop]").click();
	}
	e.preventDefault();
});

// other pages

const trying = (what) => async (...args) => { try { await what(...args); } catch (e) { said(words(e)); } };

// doing does something and shows the page anew, with what was done.
const doing = trying(async (what, done) => {
	await what();
	await show();
	said(done);
	$("h1", main)?.focus();
});

// changes joins buttons to the calls that they name. What cannot be undone wants a second press.
function changes() {
	for (const b of $$("[data-path]")) b.onclick = () => {
		const { method, path, body, done } = b.dataset;
		if (method === "DELETE" && !b.dataset.sure) {
			b.dataset.sure = "yes";
			b.firstChild.textContent = "Press again to " + b.firstChild.textContent.toLowerCase();
		} else doing(() => call(method, path, body && JSON.parse(body)), done);
	};
}

async function showPage(name) {
	const { [name]: join } = await import("./records.js"); // before anybody can press something
	await fill("/page/" + name + location.search);
	ages(main);
	join?.({ call, json, go, doing, trying });
	changes();
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
	try {
		if (view === "waiting") showList();
		else if (view === "request") await showRequest(decodeURIComponent(rest ?? ""));
		else if (view === "audit" && rest) await showPage("record/" + rest);
		else await showPage(view);
	} catch (e) {
		if (e.status === 401) return;
		if (e instanceof Refused) tell(e.status === 409 ? "This request has ended" : "This cannot be shown", e.message);
		else tell("Not connected", "The server did not answer. The list is as it was.");
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
	if (!a || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
	e.preventDefault();
	go(a.getAttribute("href"));
});
addEventListener("popstate", show);

const code = new URLSearchParams(location.hash.slice(1)).get("code");
if (code) history.replaceState(null, "", location.pathname);
try {
	key = await database("readonly", (keys) => keys.get("key"));
	// A used or made-up link takes nothing from a browser that was let in.
	if (code) await letIn(code).catch((e) => { if (!key) throw e; });
	if (!key) throw new Error("this browser was not let in yet");
	await readList();
	await show();
	listen();
} catch (e) {
	if (e.status !== 401) lockedOut(e.message);
}
