// The section "Try": runs a read-only tool, with a form that is generated from its JSON Schema.

import { element } from "../dom.js";
import { get, post } from "./api.js";
import { createFields, readFields } from "./form.js";
import { copyButton, createForm, fillSelect, labelled, named, preformatted, shown } from "./parts.js";

/** @typedef {{ name: string, title?: string, description?: string, inputSchema: import("./form.js").Schema, instances: string[] }} Tool */

/** Characters that are shown. The copy button copies all. */
const maxResult = 200_000;

/** @param {() => Promise<import("./types.ts").State>} stateOf */
export function createTry(stateOf) {
	/** @type {Tool[]} */
	let tools = [];
	/** @type {import("./types.ts").Bot[]} */
	let bots = [];
	const lists = ["channel", "role", "member"].map((name) => element("datalist", { id: `list-${name}` }));
	/** By field, for the form of the next tool. @type {Map<string, string>} */
	const entered = new Map();
	const select = element("select", { id: "tool", onchange: showForm });
	const place = element("div");
	const result = element("div", { role: "status" });
	const content = element(
		"div",
		element("p.quiet", "These tools only read and change nothing. They run with your rights."),
		labelled("Tool", select),
		place,
		...lists,
		result,
	);

	function showForm() {
		result.replaceChildren();
		const tool = tools.find(({ name }) => name === select.value);
		if (tool) place.replaceChildren(createToolForm(tool));
	}

	/** Guilds of a bot. @param {string | undefined} name */
	const guildsOf = (name) => bots.find((bot) => bot.name === name)?.guilds ?? [];

	/** Offers what the guild has. Who may not change its settings types names or ids. */
	async function offer() {
		const instance = entered.get("instance") ?? "";
		const guild_id = entered.get("guild_id") || guildsOf(instance)[0]?.id;
		for (const list of lists) list.replaceChildren();
		if (!guild_id) return;
		const found = await post("/settings", { instance, guild_id }).catch(() => undefined);
		if (instance !== entered.get("instance")) return;
		for (const list of lists) {
			const items = found?.lists?.[list.id.replace("list-", "")] ?? [];
			list.replaceChildren(
				...items.map((/** @type {{ id: string, name: string }} */ { id, name }) =>
					element("option", { value: id, label: shown(name, 80) }),
				),
			);
		}
	}

	/** @param {Tool} tool */
	function createToolForm(tool) {
		const { instances } = tool;
		// The first bot that has the tool, so that a call reaches one.
		if (!instances.includes(entered.get("instance") ?? "")) entered.set("instance", instances[0] ?? "");
		const { fields, content: controls } = createFields(tool.inputSchema, {
			choices: new Map([
				["instance", instances.map((name) => ({ id: name, name }))],
				["guild_id", guildsOf(entered.get("instance"))],
			]),
			listFor(name) {
				const [, kind] = /(?:^|_)(channel|thread|category|role|user|member)_ids?$/.exec(name) ?? [];
				return kind && `list-${{ user: "member", thread: "channel", category: "channel" }[kind] ?? kind}`;
			},
			entered,
		});
		controls.addEventListener("change", ({ target }) => {
			if (!(target instanceof HTMLSelectElement) || !/^(instance|guild_id)$/.test(target.name)) return;
			entered.set(target.name, target.value);
			const guild = fields.find(({ name }) => name === "guild_id")?.control;
			if (target.name === "instance") {
				entered.delete("guild_id");
				if (guild instanceof HTMLSelectElement) fillSelect(guild, guildsOf(target.value), "not set");
			}
			void offer();
		});
		void offer();
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
			element("h3", named(tool.name, 80)),
			element("p", named(tool.description ?? "", 1_000)),
			controls,
		);
	}

	return {
		content,
		async open() {
			const [found, state] = await Promise.all([get("/tools"), stateOf()]);
			bots = state.bots;
			const names = JSON.stringify(found.tools);
			if (names === JSON.stringify(tools)) return;
			tools = found.tools;
			fillSelect(select, tools);
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
