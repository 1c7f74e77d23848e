// The page's own script: a key that cannot leave the browser, signed calls, the list of what waits, and
// the answers. What a model wrote is only ever set as text; parts of the page that the server renders come
// in through one Trusted Types policy.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const html = trustedTypes.createPolicy("assent", { createHTML: (text) => text });
const utf8 = new TextEncoder();
const main = $("#main");

// --- the key -----------------------------------------------------------------------------------------

const base64url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
const hex = (bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, "0")).join("");
const sha256 = (data) => crypto.subtle.digest("SHA-256", data);
const nonce = () => base64url(crypto.getRandomValues(new Uint8Array(16)));
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
  const pair = await crypto.subtle.generateKey(ecdsa, false, ["sign", "verify"]);
  const spki = await crypto.subtle.exportKey("spki", pair.publicKey);
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

const sign = async (text) => crypto.subtle.sign(ecdsa, key.privateKey, utf8.encode(text));

// --- calls -------------------------------------------------------------------------------------------

class Refused extends Error {
  constructor(status, detail) { super(detail); this.status = status; }
}

// call makes a signed call. It throws Refused if the server said no, and any other error if nobody knows.
async function call(method, path, body, headers = {}, stream) {
  const text = body === undefined ? "" : JSON.stringify(body);
  const at = String(Date.now()), once = nonce();
  const sum = hex(await sha256(utf8.encode(text)));
  const signature = base64url(await sign("assent-call-v1\0" + [method, path, at, once, sum].join("\n")));
  headers = { ...headers, Authorization: `Assent ${key.id}.${at}.${once}.${signature}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { method, headers, body: body === undefined ? undefined : text, ...stream });
  if (response.ok) return response;
  let detail = response.statusText;
  try { detail = (await response.json()).detail ?? detail; } catch { /* no words */ }
  if (response.status === 401) lockedOut(detail);
  throw new Refused(response.status, detail);
}

// fill shows a part of the page that the server rendered, with everything in it escaped.
async function fill(response) { main.innerHTML = html.createHTML(await response.text()); }

function lockedOut(why) {
  state("This page can no longer answer: " + why);
  main.replaceChildren(Object.assign(document.createElement("p"), { textContent: "Open the link that ‘assent inbox --web’ prints." }));
}

const state = (text) => { $("#state").textContent = text; };
const said = (text) => { const p = $("#said"); if (p) p.textContent = text; else state(text); };

// --- what waits --------------------------------------------------------------------------------------

let items = new Map(), total = 0, lastEvent = "", shown = 0;
const pageSize = 50;
const seen = new Map(); // id -> fingerprint and view of requests that were on screen in full
const marked = new Set();

async function readList() {
  items = new Map();
  let after = "";
  do {
    const list = await (await call("GET", `/api/v1/requests?limit=200${after && "&after=" + encodeURIComponent(after)}`)).json();
    for (const i of list.requests) items.set(i.id, i);
    lastEvent ||= list.event;
    after = list.next;
  } while (after);
  counted();
}

const waiting = () => [...items.values()].filter((i) => !i.ended);

function counted() {
  total = waiting().length;
  $("#count").textContent = total ? `(${total})` : "";
  document.title = total ? `(${total}) assent` : "assent";
}

const channel = new BroadcastChannel("assent");
channel.onmessage = ({ data: { name, data, id } }) => {
  lastEvent = id ?? lastEvent;
  name === "state" ? state(data) : happened(name, data);
};

// connection says in all tabs whether this one, which listens for them, is connected.
function connection(text) {
  state(text);
  channel.postMessage({ name: "state", data: text });
}

function happened(name, data) {
  if (name === "waiting") {
    items.set(data.id, data);
    counted();
    if (view === "waiting") put(data);
    if (view === "request" && current()?.dataset.id === data.id && data.problem) show();
  } else if (name === "ended") {
    const old = items.get(data.id);
    if (old) old.ended = `${data.state}${data.by ? " by " + data.by : ""}`;
    counted();
    if (view === "waiting") ended(data.id);
    if (view === "request" && current()?.dataset.id === data.id && !busy) over(old?.ended ?? data.state);
    if (undoable?.id === data.id) forget();
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
        connection("");
        wait = 250;
        await events(response.body.pipeThrough(new TextDecoderStream()).getReader());
      } catch (e) {
        if (e instanceof Refused && e.status === 401) return;
      }
      connection("Not connected: this list may be old. Trying again…");
      await new Promise((done) => setTimeout(done, wait));
    }
  });
}

async function events(reader) {
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
      if (!event.event) continue;
      lastEvent = event.id;
      const message = { name: event.event, data: JSON.parse(event.data), id: event.id };
      channel.postMessage(message);
      happened(message.name, message.data);
    }
  }
}

// --- the list ----------------------------------------------------------------------------------------

function showList() {
  main.replaceChildren($("#waiting").content.cloneNode(true));
  for (const [id, i] of items) if (i.ended) items.delete(id);
  shown = pageSize;
  for (const i of [...items.values()].slice(0, shown)) put(i);
  $(".more button").onclick = more;
  for (const b of $$("[data-bulk]")) b.onclick = () => bulk(b.dataset.bulk);
  extent();
}

function more() {
  const next = [...items.values()].slice(shown, shown + pageSize);
  shown += pageSize;
  for (const i of next) put(i);
  extent();
}

function extent() {
  if (!$("#list")) return;
  $(".more").hidden = items.size <= shown;
  $(".empty").hidden = items.size > 0;
  const chosen = [...marked].filter((id) => items.has(id) && !items.get(id).ended);
  const ready = chosen.filter((id) => seen.has(id) && !items.get(id).person_only);
  $(".bulk").hidden = chosen.length === 0;
  const [deny, approve] = $$("[data-bulk]");
  deny.textContent = `Deny the ${chosen.length} marked`;
  approve.textContent = ready.length === chosen.length ? `Approve the ${ready.length} marked` : `Approve ${ready.length} of ${chosen.length}: open the others first`;
  approve.disabled = ready.length === 0;
}

// put shows an item: in its place if it is there, else at the end, where it moves nothing.
function put(i) {
  const list = $(".items");
  let li = $(`[data-id="${CSS.escape(i.id)}"]`, list);
  if (!li) {
    if (list.children.length >= shown) return extent();
    li = $("#item").content.cloneNode(true).firstElementChild;
    li.dataset.id = i.id;
    list.append(li);
  }
  const link = $("a", li);
  link.href = "/r/" + encodeURIComponent(i.id);
  $(".agent", li).textContent = i.agent;
  $(".path", li).textContent = [i.project, i.branch].filter(Boolean).join(" · ");
  $(".summary", li).textContent = `${i.tool} · ${i.summary}`;
  $(".reason", li).textContent = i.problem || i.why;
  $(".ended", li).textContent = i.ended ?? "";
  const box = $("input", li);
  box.checked = marked.has(i.id);
  box.onchange = () => { box.checked ? marked.add(i.id) : marked.delete(i.id); extent(); };
  $(".pick .sr", li).textContent = "Mark: " + i.summary;
  $("time", li).dateTime = i.created;
  if (i.until) $(".left", li).dataset.until = i.until;
  ages(li);
  extent();
}

function ended(id) {
  const li = $(`.items [data-id="${CSS.escape(id)}"]`);
  if (!li) return;
  li.classList.add("over");
  $(".ended", li).textContent = items.get(id)?.ended ?? "ended";
  extent();
}

// ages writes how long ago something was.
function ages(root = document) {
  for (const t of $$("time", root)) {
    const seconds = Math.max(0, (Date.now() - Date.parse(t.dateTime)) / 1000);
    const [n, unit] = seconds < 60 ? [seconds, "s"] : seconds < 3600 ? [seconds / 60, "min"] : seconds < 86400 ? [seconds / 3600, "h"] : [seconds / 86400, "d"];
    t.textContent = `${Math.floor(n)} ${unit} ago`;
    t.title = new Date(t.dateTime).toLocaleString();
  }
  for (const s of $$("[data-until]", root)) {
    const left = (Date.parse(s.dataset.until) - Date.now()) / 1000;
    s.textContent = left < 0 ? "no longer waits" : left < 60 ? `waits ${Math.ceil(left)} s more` : `waits ${Math.floor(left / 60)} min more`;
  }
}
setInterval(ages, 1000);

async function bulk(answer) {
  for (const id of [...marked]) {
    const i = items.get(id);
    if (!i || i.ended || (answer === "approve" && (!seen.has(id) || i.person_only))) continue;
    try {
      const d = await (await call("GET", "/api/v1/requests/" + encodeURIComponent(id))).json();
      if (answer === "approve" && seen.get(id) !== d.fingerprint + d.view_digest) continue;
      await give({ id, fingerprint: d.fingerprint, view: d.view_digest }, { answer });
      marked.delete(id);
    } catch (e) { state(`${i.summary}: ${words(e)}`); }
  }
  extent();
}

// --- one request -------------------------------------------------------------------------------------

const current = () => $("#request");
const answerButtons = ".answers button, .further button, dialog [data-give]";
let armed = 0, busy = false, undoable;

// Buttons work half a second after the layout last changed, so that no click or key that was meant for
// something else answers.
function arm() {
  armed = performance.now() + 500;
  for (const b of $$(answerButtons)) b.disabled = true;
  clearTimeout(arm.timer);
  arm.timer = setTimeout(() => {
    if (busy || current()?.dataset.over) return;
    for (const b of $$(answerButtons)) b.disabled = b.dataset.needsAll === "true" && !whole();
  }, 500);
}
const isArmed = () => performance.now() >= armed && !busy && current() && !current().dataset.over;
const whole = () => current().dataset.cut !== "true";

async function showRequest(id, all) {
  const response = await call("GET", `/page/request/${encodeURIComponent(id)}${all ? "?whole" : ""}`);
  await fill(response);
  const a = current();
  ages(a);
  busy = false;
  for (const b of $$("[data-do=session],[data-do=always]", a)) b.dataset.needsAll = "true";
  for (const b of $$(".answers button, .further button", a)) b.onclick = () => isArmed() && press(b);
  $("[data-do=whole]", a)?.addEventListener("click", () => showRequest(id, true));
  for (const d of $$("dialog", a)) prepare(d);
  for (const link of $$("[data-keys]", a)) link.onclick = (e) => { e.preventDefault(); step(link.dataset.keys === "j" ? 1 : -1); };
  new IntersectionObserver((entries) => {
    if (entries.some((e) => e.isIntersecting) && whole()) seen.set(id, a.dataset.fingerprint + a.dataset.view);
  }).observe($("#end", a));
  new ResizeObserver(arm).observe(a);
  arm();
}

function press(b) {
  if (b.dataset.answer) return answer({ answer: b.dataset.answer });
  if (b.dataset.choice) return answer({ answer: "approve", choice: b.dataset.choice });
  if (b.dataset.do === "whole") return showRequest(current().dataset.id, true);
  const d = $("#" + b.dataset.do);
  if (!d) return;
  d.showModal();
  arm();
  refresh(d);
}

// prepare joins what a dialog holds to what it does.
function prepare(d) {
  $("form", d).onsubmit = (e) => e.preventDefault();
  for (const b of $$("[data-close]", d)) b.onclick = () => d.close();
  for (const b of $$("[data-give]", d)) b.onclick = () => isArmed() && fromDialog(b.dataset.give, d);
  for (const i of $$("input", d)) i.addEventListener("change", () => refresh(d, i.name === "reach"));
}

const chosen = (d, name) => $(`[name=${name}]:checked`, d)?.value ?? "";

// refresh shows the rules of the chosen reach, and what else an answer would settle.
async function refresh(d, reach = true) {
  const rules = $("[name=rules]", d);
  if (rules && reach) rules.value = $("[name=reach]:checked", d)?.dataset.rules ?? "";
  const remember = remembered(d);
  const p = $(".covers", d);
  if (!p || !remember.keep) { if (p) p.textContent = ""; return; }
  try {
    const answer = d.id === "note" ? "deny" : "approve";
    const { requests } = await (await call("POST", `/api/v1/requests/${encodeURIComponent(current().dataset.id)}/covers`, { answer, remember })).json();
    p.textContent = requests.length ? `It also settles ${requests.length} other: ${requests.join("; ")}` : "It settles nothing else that waits.";
  } catch (e) { p.textContent = words(e); }
}

// exact reads JSON and keeps numbers as they are written: some have more digits than a number here.
const exact = (text) => JSON.parse(text, (_, value, context) =>
  typeof value === "number" && context?.source && String(value) !== context.source ? JSON.rawJSON(context.source) : value);

// remembered is what a dialog says about later calls, with nothing in it that says nothing: it is signed.
function remembered(d) {
  const keep = d.id === "note" ? chosen(d, "keep") : d.id;
  if (keep !== "session" && keep !== "always") return {};
  const out = { keep };
  if (keep === "always") {
    const text = $("[name=rules]", d)?.value ?? $("[name=reach]:checked", d)?.dataset.rules ?? "";
    const rules = text.split("\n").map((l) => l.trim()).filter(Boolean);
    if ($("[name=everywhere]", d)?.checked) out.everywhere = true;
    if (rules.length) out.rules = rules;
    return out;
  }
  const reach = chosen(d, "reach");
  if (reach) out.reach = reach;
  const seconds = Number(chosen(d, "for"));
  if (seconds) out.for = seconds * 1e9;
  if ($("[name=shared]", d)?.checked) out.shared = true;
  return out;
}

function fromDialog(what, d) {
  const a = current();
  if (what === "deny") answer({ answer: "deny", note: $("[name=note]", d).value.trim(), remember: remembered(d) }, d);
  if (what === "session" || what === "always") answer({ answer: "approve", remember: remembered(d) }, d);
  if (what === "respond") answer({ answer: "respond", result: $("[name=result]", d).value }, d);
  if (what === "edit") {
    let args;
    try {
      args = exact(a.dataset.edit ? $("#arguments").textContent : $("[name=text]", d).value);
      if (a.dataset.edit) args[a.dataset.edit] = $("[name=text]", d).value;
    } catch (e) { return said("That is not valid JSON: " + e.message); }
    answer({ answer: "approve", arguments: args }, d);
  }
}

// answer gives the answer of the request that is shown.
async function answer(body, dialog) {
  const a = current();
  busy = true;
  for (const b of $$(answerButtons)) b.disabled = true;
  try {
    const { answer: digest } = await give({ id: a.dataset.id, fingerprint: a.dataset.fingerprint, view: a.dataset.view, etag: a.dataset.etag }, body);
    dialog?.close();
    undoable = { id: a.dataset.id, digest };
    $("#last").hidden = false;
    $("#last span").textContent = `${{ approve: "Approved", deny: "Denied", respond: "Answered" }[body.answer]}: ${items.get(a.dataset.id)?.summary ?? ""}`;
    setTimeout(forget, 15000, undoable);
    next(a.dataset.id);
  } catch (e) {
    busy = false;
    dialog?.close();
    if (e instanceof Refused) {
      if (e.status === 409 || e.status === 404) over(e.message);
      else if (e.status === 412) { await show(); said(e.message); }
      else { said(e.message); arm(); }
    } else {
      a.dataset.over = "unknown";
      said("Not confirmed: the server did not answer, and whether your answer counts is not known. It is not sent again. Reload to see.");
    }
  }
}

const words = (e) => (e instanceof Refused ? e.message : "not confirmed: the server did not answer");
const digestOf = async (text) => (text ? "sha256:" + hex(await sha256(utf8.encode(text))) : "");

// give signs an answer and sends it, once.
async function give(r, body) {
  const once = nonce();
  const statement = JSON.stringify({
    version: 1, tenant: "", request: r.id, fingerprint: r.fingerprint, view: r.view, answer: body.answer, choice: body.choice ?? "",
    note: await digestOf(body.note), arguments: await digestOf(body.arguments && JSON.stringify(body.arguments)), result: await digestOf(body.result),
    stop: false, remember: body.remember ?? {}, serial: 0, expires: Math.floor(Date.now() / 1000) + 120, nonce: once,
  });
  const proof = { credential: key.id, statement, signature: base64(await sign("assent-answer-v1\0" + statement)) };
  const send = { ...body, fingerprint: r.fingerprint, proof };
  for (const k of ["note", "result", "choice"]) if (!send[k]) delete send[k];
  if (!Object.keys(send.remember ?? {}).length) delete send.remember;
  const headers = { "Idempotency-Key": once };
  if (r.etag) headers["If-Match"] = r.etag;
  return (await call("POST", `/api/v1/requests/${encodeURIComponent(r.id)}/answer`, send, headers)).json();
}

// over says that somebody else answered, or that it ended.
function over(how) {
  const a = current();
  a.dataset.over = "yes";
  for (const b of $$(answerButtons, a)) b.disabled = true;
  for (const d of $$("dialog[open]", a)) d.close();
  said(`This needs no answer any more: ${how}.`);
}

function forget(which) {
  if (which && which !== undoable) return;
  undoable = undefined;
  $("#last").hidden = true;
}

async function takeBack() {
  const u = undoable;
  if (!u) return;
  forget();
  try {
    await call("POST", `/api/v1/requests/${encodeURIComponent(u.id)}/take-back`, { answer: u.digest });
    go("/r/" + encodeURIComponent(u.id));
  } catch (e) { state(words(e)); }
}
$("#last button").onclick = takeBack;

// next goes to the next request that waits, of the same turn first.
function next(id) {
  const near = (current()?.dataset.near ?? "").split(" ").filter((n) => n && n !== id && items.has(n) && !items.get(n).ended);
  go(near.length ? "/r/" + encodeURIComponent(near[0]) : "/");
}

function step(by) {
  const all = waiting().map((i) => i.id), at = all.indexOf(current()?.dataset.id ?? $(".items [aria-current]")?.dataset.id);
  if (view === "request") { const to = all[at + by]; if (to) go("/r/" + encodeURIComponent(to)); return; }
  const rows = $$(".items li"), row = rows[Math.max(0, Math.min(rows.length - 1, rows.findIndex((r) => r.hasAttribute("aria-current")) + by))];
  if (!row) return;
  for (const r of rows) r.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
  $("a", row).focus();
}

document.addEventListener("keydown", (e) => {
  const field = e.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select");
  if (e.key === "Enter" && e.target.closest("[data-answer], [data-give], [data-choice], [data-bulk]")) return e.preventDefault();
  if (field || e.ctrlKey || e.metaKey || e.altKey || e.repeat) return;
  if (e.key === "u") return takeBack();
  if (e.key === "j" || e.key === "k") return step(e.key === "j" ? 1 : -1);
  if (view !== "request" || !isArmed()) return;
  const open = $("dialog[open]");
  if (open) { if (e.key === "y") $("[data-give]:not(:disabled)", open)?.click(); return; }
  const button = { y: "[data-answer=approve]", n: "[data-answer=deny]", N: "[data-do=note]", s: "[data-do=session]", a: "[data-do=always]",
    e: "[data-do=edit]", r: "[data-do=respond]", v: "[data-do=whole]", "?": "[data-do=why]" }[e.key];
  const b = button && $(button);
  if (b && !b.disabled) { e.preventDefault(); b.click(); }
});

// --- other pages -------------------------------------------------------------------------------------

async function showPage(name, query = "") {
  await fill(await call("GET", `/page/${name}${query}`));
  ages(main);
  const act = { audit: auditPage, rules: rulesPage, status: statusPage, explain: explainPage }[name.split("/")[0]];
  act?.();
}

function auditPage() {
  $("#search").onsubmit = (e) => { e.preventDefault(); go("/audit?" + new URLSearchParams(new FormData(e.target))); };
  $("[data-do=verify]").onclick = async () => {
    said("Reading the whole log…");
    try {
      const v = await (await call("GET", "/api/v1/audit/verify")).json();
      said(v.ok ? `The log is as it was recorded: ${v.records} records. Its seal is ${v.head}` : `The log was changed: ${v.flaws.join("; ")}`);
    } catch (e) { said(words(e)); }
  };
  for (const b of $$("[data-do=export]")) b.onclick = async () => {
    try {
      const blob = await (await call("GET", "/api/v1/audit/export?format=" + b.dataset.format)).blob();
      const a = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: "assent-audit." + b.dataset.format });
      a.click();
      URL.revokeObjectURL(a.href);
    } catch (e) { said(words(e)); }
  };
}

async function doing(what, then = show) {
  try { await what(); await then(); } catch (e) { said(words(e)); }
}

function rulesPage() {
  const form = $("#add"), save = $("[data-do=add]");
  let wide = false;
  form.onsubmit = (e) => e.preventDefault();
  form.rule.oninput = () => { save.disabled = true; $("#trial").textContent = ""; };
  $("[data-do=try]").onclick = () => doing(async () => {
    const { trial } = await (await call("POST", "/api/v1/rules", { rule: form.rule.value, project: form.project.value, dry_run: true })).json();
    const lines = [`${trial.rule}: of ${trial.calls} past calls, ${(trial.changes ?? []).length} would have gone otherwise.`, ...(trial.changes ?? []), ...(trial.warnings ?? [])];
    if (trial.wide) lines.push(`This rule is wide: ${trial.wide}. Press Save twice to save it.`);
    wide = Boolean(trial.wide);
    $("#trial").replaceChildren(...lines.map((textContent) => Object.assign(document.createElement("p"), { textContent })));
    save.disabled = false;
    save.textContent = "Save";
  }, () => {});
  save.onclick = () => {
    if (wide && save.textContent === "Save") { save.textContent = "Save the wide rule"; return; }
    doing(() => call("POST", "/api/v1/rules", { rule: form.rule.value, project: form.project.value, note: form.note.value, wide }));
  };
  for (const b of $$("tr button")) b.onclick = () => {
    const row = b.closest("tr"), id = encodeURIComponent(row.dataset.id);
    doing(() => ({
      enable: () => call("PATCH", `/api/v1/rules/${id}`, { enabled: true }), disable: () => call("PATCH", `/api/v1/rules/${id}`, { enabled: false }),
      remove: () => call("DELETE", `/api/v1/rules/${id}`), revoke: () => call("DELETE", `/api/v1/sessions/${encodeURIComponent(row.dataset.session)}/grants/${id}`),
    })[b.dataset.do]());
  };
}

function statusPage() {
  for (const b of $$("[data-do=revoke-key]")) b.onclick = () => doing(() => call("DELETE", `/api/v1/keys/${encodeURIComponent(b.closest("tr").dataset.id)}`));
}

function explainPage() {
  $("#what").onsubmit = async (e) => {
    e.preventDefault();
    try {
      const form = new FormData(e.target);
      const { text } = await (await call("POST", "/api/v1/explain", { text: form.get("text"), for: form.get("for") || undefined })).json();
      $("#answer").textContent = text;
    } catch (error) { $("#answer").textContent = words(error); }
  };
}

// --- the way about -----------------------------------------------------------------------------------

let view = "";

async function show() {
  const path = location.pathname, [, first, rest] = path.split("/");
  view = { "": "waiting", r: "request" }[first] ?? first;
  for (const a of $$("[data-nav]")) a.dataset.nav === view ? a.setAttribute("aria-current", "page") : a.removeAttribute("aria-current");
  try {
    if (view === "waiting") showList();
    else if (view === "request") await showRequest(decodeURIComponent(rest ?? ""));
    else if (view === "audit" && rest) await showPage("record/" + rest);
    else if (["audit", "rules", "status", "explain"].includes(view)) await showPage(view, location.search);
    else go("/");
  } catch (e) {
    if (e instanceof Refused && e.status === 401) return;
    main.replaceChildren(Object.assign(document.createElement("p"), { textContent: words(e) }));
  }
}

function go(path) {
  history.pushState(null, "", path);
  show().then(() => main.focus({ preventScroll: true }));
  scrollTo(0, 0);
}

document.addEventListener("click", (e) => {
  const a = e.target.closest("a[href^='/']");
  if (!a || a.dataset.keys || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
  e.preventDefault();
  go(a.getAttribute("href"));
});
addEventListener("popstate", show);

const code = new URLSearchParams(location.hash.slice(1)).get("code");
if (code) history.replaceState(null, "", location.pathname);
try {
  key = await database("readonly", (keys) => keys.get("key"));
  // A used link, or one that another page made up, takes nothing away from a browser that was let in.
  if (code) await letIn(code).catch((e) => { if (!key) throw e; });
  if (!key) throw new Error("this browser was not let in yet");
  await readList();
  await show();
  listen();
} catch (e) {
  if (!(e instanceof Refused && e.status === 401)) lockedOut(e.message);
}
