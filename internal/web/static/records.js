// What the pages of the log, the rules and the explanations do. They are loaded when somebody goes there.
import { $, $$, element, said, words } from "./common.js";

export function audit({ call, json, go, trying }) {
	$("#search").onsubmit = (e) => { e.preventDefault(); go("/audit?" + new URLSearchParams(new FormData(e.target))); };
	$("[data-do=verify]").onclick = trying(async () => {
		said("Reading the whole log…");
		const v = await json("GET", "/api/v1/audit/verify");
		said(v.ok ? `The log is as it was recorded: ${v.records} records. Its seal is ${v.head}` : `The log was changed: ${v.flaws.join("; ")}`);
	});
	for (const b of $$("[data-do=export]")) b.onclick = trying(async () => {
		const blob = await (await call("GET", "/api/v1/audit/export?format=" + b.dataset.format)).blob();
		const a = element("a", "", { href: URL.createObjectURL(blob), download: "assent-audit." + b.dataset.format });
		a.click();
		URL.revokeObjectURL(a.href);
		said("Exported to " + a.download);
	});
}

export function rules({ call, json, doing, trying }) {
	const form = $("#add"), save = $("[data-do=add]");
	let wide = false;
	form.oninput = () => { save.disabled = true; save.textContent = "Save"; $("#trial").replaceChildren(); };
	form.onsubmit = trying(async (e) => {
		e.preventDefault();
		const { trial } = await json("POST", "/api/v1/rules", { rule: form.rule.value, project: form.project.value, dry_run: true });
		const changes = trial.changes ?? [];
		const lines = [`${trial.rule}: of ${trial.calls} past calls, ${changes.length} would have gone otherwise.`, ...changes, ...(trial.warnings ?? [])];
		if (trial.wide) lines.push(`This rule is wide: ${trial.wide}. Press Save twice to save it.`);
		wide = Boolean(trial.wide);
		$("#trial").replaceChildren(...lines.map((l) => element("p", l)));
		said("");
		save.disabled = false;
	});
	save.onclick = () => {
		if (wide && save.textContent === "Save") { save.textContent = "Save the wide rule"; return; }
		doing(async () => {
			await call("POST", "/api/v1/rules", { rule: form.rule.value, project: form.project.value, note: form.note.value, wide });
			history.replaceState(null, "", "/rules");
		}, "Saved: " + form.rule.value);
	};
}

export function explain({ json }) {
	const form = $("#what");
	form.onsubmit = async (e) => {
		e.preventDefault();
		const says = json("POST", "/api/v1/explain", { text: form.text.value, for: form.for.value });
		$("#answer").textContent = (await says.catch((e) => ({ text: words(e) }))).text;
	};
}
