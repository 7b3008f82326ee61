// What the list of the latest calls and that of past calls share: outcomes, callers, rows, and the fields that choose calls.

import { element } from "../dom.js";
import { messageOf } from "./api.js";
import { fillSelect, labelled, named, row, shown, timeOf } from "./parts.js";

/**
 * A call of the gateway, or an entry of a bot's audit log.
 * @typedef {Pick<import("./types.ts").Call, "id" | "at" | "ms" | "instance" | "tool" | "guild" | "outcome" | "kind" | "key" | "person" | "client">
 * & { parts?: number, names: Record<string, string> }} ListedCall
 */

export const callHeads = ["Time", "Bot", "Tool", "Guild", "Outcome", "Took", "Asked by", "Details"];

/** As it is shown. The gateway says of what kind an outcome is. @param {{ outcome: string, kind?: string }} call */
export const outcomeOf = ({ outcome, kind = "open" }) => ({ name: shown(outcome.replaceAll("_", " "), 40), kind });

/** @param {Pick<ListedCall, "key" | "person" | "names">} call */
export function callerOf({ key, person, names }) {
	if (person !== null) return names[person] ? `${names[person]} (${person})` : `person ${person}`;
	// A key's id is its name and a part of its hash.
	if (key !== null && key !== "root") return key.replace(/^key:(.*?)(?::[^:]*)?$/, "key $1");
	return "the holder of the token";
}

/** "": the client of a bot's own session is the gateway. @param {Pick<ListedCall, "client">} call */
export const clientOf = ({ client }) => client?.replace("guildhall-gateway", "") ?? "";

/** @param {ListedCall} call @param {() => Element | Promise<Element>} describe Called when the details are opened. */
export function callRows(call, describe) {
	const { id, at, ms, instance, tool, guild, names, parts } = call;
	const { name, kind } = outcomeOf(call);
	const details = element("td", { role: "cell", colspan: callHeads.length, id: `details-${id}` });
	const second = element("tr.details", { role: "row", hidden: true }, details);
	const toggle = element(
		"button.small",
		{
			"aria-expanded": "false",
			"aria-controls": details.id,
			"aria-label": `Details of ${shown(tool, 64)}`,
			async onclick() {
				second.hidden = !second.hidden;
				toggle.ariaExpanded = String(!second.hidden);
				if (second.hidden) return;
				details.replaceChildren(await Promise.try(describe).catch(messageOf));
			},
		},
		"Details",
	);
	const client = clientOf(call);
	const cells = [
		timeOf(at),
		named(instance ?? (parts ? `${parts} calls` : ""), 64),
		element("code", named(tool, 100)),
		guild === null ? "" : named(names[guild] ?? guild, 40),
		element("span", { class: `state ${kind}` }, name),
		`${ms} ms`,
		element(
			"span",
			named(callerOf(call).replace(/ \(\d+\)$/, ""), 80),
			client && element("span.quiet", " by ", named(client, 40)),
		),
		toggle,
	];
	return [row(callHeads, cells, { class: kind }), second];
}

/** @param {readonly { id: string, name: string }[]} kinds */
export function createCallFields(kinds) {
	const bot = element("select");
	const kind = element("select");
	const search = element("input", { type: "search", maxlength: 200, placeholder: "tool, id, name, error …" });
	fillSelect(kind, kinds, "all calls");
	return {
		bot,
		kind,
		search,
		labels: [labelled("Bot", bot), labelled("Show", kind), labelled("Containing", search)],
		/** @param {readonly { name: string }[]} bots */
		setBots: (bots) => fillSelect(bot, bots, "all"),
	};
}
