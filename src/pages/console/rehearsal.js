// Plays a scenario on a copy of a server. The settings that it advises are entered in the fields, to be saved.

import { element } from "../dom.js";
import { post } from "./api.js";
import { createForm, fillSelect, labelled, preformatted, shown } from "./parts.js";
import { createSettingField } from "./setting-fields.js";

const scenarios = ["raid", "spam", "hijack", "restore", "document", "member"].map((name) => ({ name }));

/** @param {string} key @param {string} kind @param {string} label @param {string} help @param {object} [more] */
const field = (key, kind, label, help, more) =>
	createSettingField({ key, kind, label, help, value: null, default: null, ...more }, () => {});

/** @param {import("./types.ts").Place} place @param {import("./types.ts").Entered} settings */
export function createRehearsal(place, { lists, entered, enter }) {
	const select = element("select", { onchange: choose });
	fillSelect(select, scenarios);
	const roles = field("role_ids", "many", "Roles", "Of the member", { list: "role" });
	const plan = field("document", "text", "Guild document", "JSON or YAML. Empty: the latest backup");
	const seed = field("seed", "number", "Seed", "The same gives the same answer", { default: 1 });
	const all = field("all_members", "flag", "All members", "Also those beyond 20,000, which are only counted otherwise");
	const watch = field("watch", "flag", "Watch it live", "In real time, on a page that opens on the bot's machine");
	const file = element("input", { type: "file", "aria-label": "Guild document from a file", onchange: readFile });
	plan.content.append(file);
	const fields = [roles, plan, seed, all, watch];
	const grid = element("div.fields", labelled("Scenario", select), ...fields.map(({ content }) => content));
	const form = createForm("form.list", {}, { label: "Rehearse", submit }, grid);
	const result = element("div", { role: "status" });
	const proof = element("span");
	const prove = element("p.buttons.quiet", proof, element("button.small", { onclick: proveNow }, "Prove it now"));

	function choose() {
		roles.content.hidden = select.value !== "member";
		plan.content.hidden = select.value !== "document";
	}

	async function readFile() {
		plan.set(await file.files?.[0]?.text(), {});
	}

	function proveNow() {
		select.value = "restore";
		choose();
		form.requestSubmit();
	}

	/** @param {string} name @param {object} args @returns {Promise<any>} */
	const call = (name, args) => post("/tools/call", { name, arguments: { ...place, ...args } });

	/** Shows when a backup was last proven, or that none was in 30 days. */
	async function open() {
		choose();
		for (const { read, set } of fields) set(read(), lists());
		const { text } = await call("run_setup_check", {}).catch(({ message }) => ({ text: message }));
		proof.textContent = /proven backup: .*/.exec(text)?.[0] ?? "";
		prove.hidden = proof.textContent === "";
	}

	/** @param {any} event */
	function onStep({ detail }) {
		const [step, address] = shown(detail, 400).split(/(?=http:\/\/127\.0\.0\.1:\d+\/)/);
		const link = address && element("a", { href: address, target: "_blank", rel: "noreferrer" }, address);
		result.replaceChildren(element("p", step, link));
	}

	async function submit() {
		const given = fields.filter(({ content, read }) => !content.hidden && read() !== null);
		const values = Object.fromEntries(given.map(({ description, read }) => [description.key, read()]));
		const args = { scenario: select.value, settings: entered(), ...values };
		onStep({ detail: "Running…" });
		addEventListener("step", onStep);
		let answer;
		try {
			do {
				// Depends on whether the bot lists all of its tools.
				const found = call("use_reading_tool", { name: "rehearse", arguments: args });
				answer = await found.catch(() => call("rehearse", args));
			} while (answer.text.startsWith("The rehearsal is running"));
		} finally {
			removeEventListener("step", onStep);
			result.replaceChildren();
		}
		// Its end is for assistants.
		const text = answer.text.replace(/\s(To apply the setting:|Pass settings=|Use list_backups |plan_hash=).*/s, "");
		if (answer.isError) return text;
		result.append(preformatted("Result", text, 20_000));
		if (answer.advice) enter(answer.advice.set);
		await open();
	}

	const about = "What would happen, on a copy, with what is entered above. It fills in what would change it.";
	return element(
		"details.panel",
		{ ontoggle: () => void open() },
		element("summary", element("strong", "Rehearse")),
		element("div", element("p.quiet", about), prove, form, result),
	);
}
