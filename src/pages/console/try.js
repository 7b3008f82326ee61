// The section "Try": runs a read-only tool, with a form that is generated from its JSON Schema.

import { element } from "../dom.js";
import { get, post } from "./api.js";
import { createFields, readFields } from "./form.js";
import { copyButton, createForm, fillSelect, labelled, named, preformatted, shown } from "./parts.js";

/** @typedef {{ name: string, title?: string, description?: string, inputSchema: import("./form.js").Schema, instances: string[] }} Tool */

/** Maximum number of characters of a result that are shown. The copy button copies all of it. */
const maxResult = 200_000;

/** @param {() => Promise<import("./api.js").State>} stateOf */
export function createTry(stateOf) {
	/** @type {Tool[]} */
	let tools = [];
	/** The guilds of all bots, to choose from. */
	/** @type {{ value: string, label: string }[]} */
	let guilds = [];
	/** The last entered values by field name. The form of the next tool starts with them. */
	/** @type {Map<string, string>} */
	const entered = new Map();
	const select = element("select", { id: "tool", onchange: showForm });
	const place = element("div");
	const result = element("div", { role: "status" });
	const content = element(
		"div",
		element("p.quiet", "These tools only read and change nothing. They run with your rights."),
		labelled("Tool", select),
		place,
		result,
	);

	function showForm() {
		result.replaceChildren();
		const tool = tools.find(({ name }) => name === select.value);
		if (tool) place.replaceChildren(createToolForm(tool));
	}

	/** @param {Tool} tool */
	function createToolForm(tool) {
		const { instances } = tool;
		// If only one bot has the tool, it is chosen. A chosen bot that lacks the tool is cleared.
		if (instances.length === 1) entered.set("instance", String(instances[0]));
		else if (!instances.includes(entered.get("instance") ?? "")) entered.delete("instance");
		const { fields, content: controls } = createFields(tool.inputSchema, {
			suggestions: new Map([
				["guild_id", guilds],
				["instance", instances.map((value) => ({ value, label: "" }))],
			]),
			entered,
		});
		async function submit() {
			const args = readFields(fields);
			if (!args) return;
			result.replaceChildren(element("p", "Running…"));
			const call = post("/tools/call", { name: tool.name, arguments: args }).finally(() => result.replaceChildren());
			result.replaceChildren(...describeResult(await call));
		}
		return createForm(
			"form.panel",
			// The fields themselves show what is wrong, in place of the browser's messages.
			{ novalidate: true },
			{ label: "Run", submit },
			element("h3", named(tool.title ?? tool.name, 80), " ", element("code.quiet", named(tool.name, 64))),
			element("p", named(tool.description ?? "", 1_000)),
			controls,
		);
	}

	return {
		content,
		async open() {
			const [found, { bots }] = await Promise.all([get("/tools"), stateOf()]);
			guilds = bots.flatMap((bot) => bot.guilds.map(({ id, name }) => ({ value: id, label: shown(name, 60) })));
			const names = JSON.stringify(found.tools);
			if (names === JSON.stringify(tools)) return;
			tools = found.tools;
			fillSelect(
				select,
				tools.map(({ name }) => ({ id: name, name })),
			);
			if (tools.length === 0) place.replaceChildren(element("p", "No bot lists a read-only tool."));
			else showForm();
		},
	};
}

/** @param {{ id: null | string, outcome: string, isError: boolean, text: string }} answer */
function describeResult({ id, isError, text }) {
	const block = preformatted("Result", text, maxResult);
	block.className = isError ? "bad" : "good";
	return [
		element(
			"div.bar",
			element("h3", isError ? "The tool refused" : "Result"),
			id !== null && element("span.quiet", "request ", element("code", shown(id, 64))),
			copyButton("the result", text, block),
		),
		block,
	];
}
