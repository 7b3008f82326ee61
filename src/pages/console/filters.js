// Filters of the list of calls: by bot, tool, outcome and caller.

import { element } from "../dom.js";
import { fillSelect, shown } from "./parts.js";

/** @typedef {import("./api.js").Call} Call */

/** The label of each outcome, and whether it is a failure. */
const outcomes = new Map(
	Object.entries({
		ok: { name: "ok", kind: "good" },
		tool_error: { name: "refused", kind: "warn" },
		rpc_error: { name: "wrong arguments", kind: "warn" },
		failed: { name: "failed", kind: "bad" },
		http_error: { name: "bot failed", kind: "bad" },
		offline: { name: "bot offline", kind: "bad" },
		no_answer: { name: "no answer", kind: "bad" },
		outcome_unknown: { name: "outcome unknown", kind: "bad" },
		overloaded: { name: "bot busy", kind: "bad" },
		not_routed: { name: "no such bot", kind: "warn" },
		invalid: { name: "invalid call", kind: "warn" },
		given_up: { name: "given up by the client", kind: "warn" },
	}),
);

/** @param {string} outcome */
export const outcomeOf = (outcome) => outcomes.get(outcome) ?? { name: shown(outcome, 40), kind: "warn" };

/** @param {Call} call */
export function callerOf({ by, key, person }) {
	if (by === "key") return `key ${shown(key ?? "", 64)}`;
	if (by === "person") return `person ${shown(person ?? "", 20)}`;
	return "token";
}

/** @param {() => void} onChange */
export function createFilters(onChange) {
	const bot = createFilter("Bot", changed);
	const tool = createFilter("Tool", changed);
	const outcome = createFilter("Outcome", changed);
	const caller = createFilter("Asked by", changed);
	const all = [bot, tool, outcome, caller];
	const kinds = [...outcomes].map(([id, { name }]) => ({ id, name }));
	outcome.set([
		{ id: "bad", name: "all that failed" },
		{ id: "warn", name: "all that were refused" },
		...kinds.map(({ id, name }) => ({ id, name: `only: ${name}` })),
	]);
	const reset = element("button.small", { type: "reset", hidden: true }, "All calls");
	const isSet = () => all.some(({ select }) => select.value !== "");

	function changed() {
		// The hidden button would lose the focus.
		if (document.activeElement === reset) bot.select.focus();
		reset.hidden = !isSet();
		onChange();
	}

	const content = element(
		"form.filters",
		{
			"aria-label": "Filter the calls",
			/** @param {Event} event */
			onsubmit: (event) => event.preventDefault(),
			// The browser resets the fields only after this event.
			onreset: () => setTimeout(changed),
		},
		...all.map(({ label }) => label),
		reset,
	);
	return {
		content,
		isSet,
		focus: () => bot.select.focus(),
		/** @param {string} name */
		setBot(name) {
			bot.select.value = name;
			changed();
		},
		/** @param {string[]} names */
		setBots(names) {
			bot.setNames(names);
		},
		/** @param {readonly Call[]} calls */
		setCalls(calls) {
			tool.setNames([...new Set(calls.map((call) => call.tool))].sort());
			caller.setNames([...new Set(calls.map(callerOf))].sort());
		},
		/** @param {Call} call */
		matches(call) {
			const { kind } = outcomeOf(call.outcome);
			return (
				isOr(bot, call.instance) &&
				isOr(tool, call.tool) &&
				isOr(caller, callerOf(call)) &&
				(isOr(outcome, call.outcome) || outcome.select.value === kind)
			);
		},
	};
}

/** @param {{ select: HTMLSelectElement }} filter @param {unknown} value */
const isOr = ({ select }, value) => select.value === "" || select.value === value;

/** @param {string} name @param {() => void} onChange */
function createFilter(name, onChange) {
	const select = element("select", { onchange: onChange }, element("option", { value: "" }, "all"));
	let before = "";
	/**
	 * Sets the choices. The chosen one stays, even if it is no longer among them.
	 * @param {readonly { id: string, name: string }[]} choices
	 */
	function set(choices) {
		const { value: id } = select;
		const isKnown = id === "" || choices.some((one) => one.id === id);
		const all = isKnown ? choices : [...choices, { id, name: id }];
		const now = JSON.stringify(all);
		if (now === before) return;
		before = now;
		fillSelect(select, all, "all");
	}
	return {
		select,
		label: element("label", element("span", name), select),
		set,
		/** @param {readonly string[]} names */
		setNames: (names) => set(names.map((one) => ({ id: one, name: one }))),
	};
}
