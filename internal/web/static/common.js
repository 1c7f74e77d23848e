// What the pages of one person and those of a team share. What a model wrote is only ever set as text; what the
// server renders comes in through one Trusted Types policy.
export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
export const html = trustedTypes.createPolicy("assent", { createHTML: (text) => text });
export const main = $("#main");
export const utf8 = new TextEncoder();
export const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
export const base64url = (bytes) => base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
export const hex = (bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, "0")).join("");
export const sha256 = (data) => crypto.subtle.digest("SHA-256", data);
export const digestOf = async (text) => (text ? "sha256:" + hex(await sha256(utf8.encode(text))) : "");
export const nonce = () => base64url(crypto.getRandomValues(new Uint8Array(16)));
export const uri = encodeURIComponent;
export const element = (name, textContent, more) => Object.assign(document.createElement(name), { textContent }, more);

export class Refused extends Error {
	constructor(status, detail) { super(detail); this.status = status; }
}
export const words = (e) => (e instanceof Refused ? e.message : "not confirmed: the server did not answer");

// answered returns a response, or throws Refused with the words of the server.
export async function answered(response) {
	if (response.ok) return response;
	let detail = response.statusText;
	const text = await response.text().catch(() => "");
	try { detail = JSON.parse(text).detail ?? detail; } catch {
		if (text && response.headers.get("Content-Type")?.startsWith("text/plain")) detail = text.trim().slice(0, 300);
	}
	throw new Refused(response.status, detail);
}

// tell shows words in place of a page.
export function tell(title, text) {
	const article = document.createElement("article");
	article.append(element("h1", title, { tabIndex: -1 }), element("p", text));
	main.replaceChildren(article);
}
export const state = (text) => { $("#state").textContent = text; };
export const said = (text) => {
	const p = $("dialog[open] .said") ?? $("#said") ?? $("#state");
	p.textContent = text;
	delete p.dataset.hint;
};

// events hands on what a stream of server-sent events says.
export async function events(response, happened) {
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	let text = "";
	for (;;) {
		const { value, done } = await reader.read();
		if (done) return;
		text += value;
		for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
			const event = {};
			for (const line of text.slice(0, end).split("\n")) {
				const at = line.indexOf(": ");
				if (at > 0) event[line.slice(0, at)] = line.slice(at + 2);
			}
			if (event.event) happened(event.event, JSON.parse(event.data), event.id);
		}
	}
}

// ages writes how long ago something was.
export function ages(root = document) {
	const words = (s) => (s < 60 ? `${s | 0} s` : s < 3600 ? `${(s / 60) | 0} min` : s < 172800 ? `${(s / 3600) | 0} h` : `${(s / 86400) | 0} d`);
	for (const t of $$("time", root)) {
		t.textContent = words(Math.max(0, (Date.now() - Date.parse(t.dateTime)) / 1000)) + " ago";
		t.title = new Date(t.dateTime).toLocaleString();
	}
	for (const s of $$("[data-until]", root)) {
		const left = (Date.parse(s.dataset.until) - Date.now()) / 1000;
		s.textContent = left < 0 ? "no longer waits" : `waits ${words(left)} more`;
		s.classList.toggle("problem", left < 60);
	}
}
setInterval(ages, 1000);

// the manners of a page that takes answers

export const now = { busy: false, online: true, armed: 0 }; // may is set by each page
export const current = () => $("#request");
export const answerButtons = ".answers button, .further button, dialog button[data-give]";

// Buttons work half a second after the layout last changed.
export function arm() {
	now.armed = performance.now() + 500;
	arm.focus = $(answerButtons.replaceAll("button", "button:focus")) ?? arm.focus; // a disabled button loses it
	for (const b of $$(answerButtons)) b.disabled = true;
	clearTimeout(arm.timer);
	arm.timer = setTimeout(() => {
		ready();
		if (document.activeElement === document.body) arm.focus?.focus();
		arm.focus = undefined;
	}, 500);
}
export const isArmed = () => performance.now() >= now.armed && !now.busy && now.online && !current()?.dataset.over;

// ready offers the answers that can be given now, and says what is missing for others.
export function ready() {
	if (!isArmed()) return;
	for (const b of $$(answerButtons)) b.disabled = !now.may(b);
	const a = current();
	if (!a || $("#said").textContent && !$("#said").dataset.hint) return;
	$("#said").dataset.hint = "yes";
	$("#said").textContent = !$("[data-answer=approve]") ? "" : !informed() ? "To approve, first scroll through everything under “What it would do”."
		: whole() || !$("[data-do=session], [data-do=always]") ? "" : a.dataset.headOnly === "true" ? "No session or always: only the beginning can be shown."
		: a.dataset.cut === "true" ? "For session or always, press v to see all of it first." : "For session or always, scroll to the end first.";
}
export const informed = () => !$(".acts .asks:not([data-seen])");
export const whole = () => current().dataset.whole === "yes";

// watch notes what of a request was on screen, and when its layout changes.
export function watch(a, wasWhole) {
	const looking = new IntersectionObserver((entries) => {
		for (const e of entries) if (e.isIntersecting) {
			if (e.target.id !== "end") e.target.closest("li").dataset.seen = "yes";
			else if (a.dataset.cut !== "true" && a.dataset.headOnly !== "true") { a.dataset.whole = "yes"; wasWhole(); }
		}
		ready();
	}, { rootMargin: "0px 0px -64px 0px" }); // the answers stand there
	for (const e of $$(".acts .asks .sr, #end", a)) looking.observe(e);
	moved.disconnect();
	moved.observe(a);
	arm();
}
export const moved = new ResizeObserver(arm);

// over says who else answered.
export function over(how) {
	const a = current();
	a.dataset.over = "yes";
	for (const b of $$(answerButtons, a)) b.disabled = true;
	for (const d of $$("dialog[open]", a)) d.close();
	said(`This needs no answer any more: ${how}.`);
}

// Enter alone answers nothing.
export function onEnter(e) {
	if (e.key !== "Enter" || !e.target.closest("[data-answer], [data-give], [data-choice]")) return false;
	said("Enter alone answers nothing. Press y to approve, n to deny.");
	e.preventDefault();
	return true;
}
// A key does what the button does that shows it, in the open dialog or outside of all.
export const keyed = (key, d) => $$("button:not(:disabled)", main).find((b) => b.closest("dialog") === d && $("kbd", b)?.textContent === key);
export const typing = (e) => e.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select") || e.ctrlKey || e.metaKey || e.altKey || e.repeat;
