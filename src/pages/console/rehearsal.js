// Plays a scenario on a copy of a server. The settings that it advises are entered in the fields, to be saved.

import { element } from "../dom.js";
import { post } from "./api.js";
import { createForm, fillSelect, labelled, preformatted } from "./parts.js";

const scenarios = ["raid", "spam", "hijack", "restore", "member"];

/** @param {{ instance: string, guild_id: string }} place @param {(values: Map<string, unknown>) => void} enter */
export function createRehearsal(place, enter) {
	const select = element("select");
	const items = scenarios.map((name) => ({ id: name, name }));
	fillSelect(select, items);
	const result = element("div", { role: "status" });
	/** @param {string} name @param {object} args @returns {Promise<{ text: string }>} */
	const call = (name, args) => post("/tools/call", { name, arguments: { ...place, ...args } });
	const proof = element("p.quiet");
	/** When a backup was last proven, or that none was in 30 days. */
	async function showProof() {
		const { text } = await call("run_setup_check", {}).catch(({ message }) => ({ text: message }));
		proof.textContent = /proven backup: .*/.exec(text)?.[0] ?? "";
	}
	async function submit() {
		const args = { scenario: select.value };
		for (let isRunning = true; isRunning; ) {
			// Depends on whether the bot lists all of its tools.
			const found = call("use_reading_tool", { name: "rehearse", arguments: args });
			const { text } = await found.catch(() => call("rehearse", args));
			result.replaceChildren(preformatted("Result", text, 20_000));
			isRunning = text.startsWith("The rehearsal is running");
			const [, advice] = text.split(/^To apply the setting: set_settings /m);
			if (advice) enter(new Map(Object.entries(JSON.parse(advice).settings)));
		}
		await showProof();
	}
	const form = createForm("form", {}, { label: "Rehearse", submit }, labelled("Scenario", select));
	const about = "What would happen, on a copy. A setting that changes it is filled in above, to be saved.";
	return element(
		"details.panel",
		{ ontoggle: () => void showProof() },
		element("summary", element("strong", "Rehearse")),
		element("p.quiet", about),
		proof,
		form,
		result,
	);
}
