// The section "History": the calls that the bots keep, 90 days by default, with search, a chart and export. Calls that reached
// no bot are only in the section "Live".

import { element } from "../dom.js";
import { post } from "./api.js";
import { botOutcome, callerName, describeCall } from "./call-details.js";
import { callHeads, callRows } from "./calls.js";
import { createChart } from "./chart.js";
import { actionButton, createForm, fillSelect, labelled, named, shown, table, timeOf } from "./parts.js";

/** @typedef {import("./call-details.js").CallDetails & { instance: string }} PastCall */
/** @typedef {{ instance: string, hour: number, calls: number, refused: number, failed: number }} Hour */

const hourMs = 3_600_000;
const pageSize = 50;
const exportPageSize = 200;
const maxExported = 10_000;
/** The bots' clocks may be ahead. */
const aheadMs = 300_000;

/** By days: the name, and the hours of a bar of the chart. */
const periods = new Map([
	["1", { name: "last 24 hours", step: 1 }],
	["7", { name: "last 7 days", step: 1 }],
	["30", { name: "last 30 days", step: 6 }],
	["90", { name: "last 90 days", step: 24 }],
]);
const kinds = [
	{ id: "", name: "all calls" },
	{ id: "changed", name: "calls that may change something" },
	{ id: "refused", name: "refused" },
	{ id: "failed", name: "failed" },
];

/** @param {() => Promise<import("./api.js").State>} stateOf */
export function createHistory(stateOf) {
	const bot = element("select", { onchange: load });
	const kind = element("select", { onchange: load });
	const days = element("select", { onchange: load });
	const search = element("input", { type: "search", maxlength: 200, placeholder: "tool, id, name, error …" });
	fillSelect(kind, kinds);
	fillSelect(
		days,
		[...periods].map(([id, { name }]) => ({ id, name })),
	);
	const summary = element("div", { role: "status" });
	const rows = table("Past calls, newest first", callHeads, [], "calls-table");
	const more = actionButton("button", "Show more", showMore);
	more.hidden = true;
	/** What is shown, so that more of the same follows. @type {Record<string, unknown>} */
	let query = {};
	/** @type {PastCall | undefined} */
	let last;
	const filters = createForm(
		"form",
		{ "aria-label": "Search the calls" },
		{ label: "Search", submit: load },
		element(
			"div.filters",
			labelled("Period", days),
			labelled("Bot", bot),
			labelled("Show", kind),
			labelled("Containing", search),
		),
	);

	async function load() {
		const before = Date.now() + aheadMs;
		query = {
			from: before - Number(days.value) * 24 * hourMs,
			before,
			...(bot.value && { instance: bot.value }),
			...(kind.value && { kind: kind.value }),
			...(search.value.trim() && { search: search.value.trim() }),
		};
		const asked = query;
		const found = await post("/history", { ...query, limit: pageSize, hours: true });
		if (asked !== query) return;
		rows.body.replaceChildren();
		describeFound(found);
		append(found.calls);
	}

	/** @param {{ hours: Hour[], unavailable: { instance: string, reason: string }[] }} found */
	function describeFound({ hours, unavailable }) {
		/** @param {"calls" | "refused" | "failed"} name */
		const sum = (name) => hours.reduce((all, one) => all + one[name], 0);
		const [all, refused, failed] = [sum("calls"), sum("refused"), sum("failed")];
		const { step = 1 } = periods.get(days.value) ?? {};
		const numbers = /** @type {const} */ ([
			["good", all - refused - failed, "done"],
			["warn", refused, "refused"],
			["bad", failed, "failed"],
		]);
		summary.replaceChildren(
			element(
				"div.bar",
				...numbers.map(([name, count, what]) => element("span", { class: `state ${name}` }, `${count} ${what}`)),
				actionButton("button.small", "Export as CSV", () => exportAll(query)),
			),
			createChart(hours, Number(query.from), Number(query.before), step),
			...unavailable.map(({ instance, reason }) =>
				element("p.problem", "Without ", named(instance, 64), `: ${shown(reason, 300)}`),
			),
			...(all === 0 ? [element("p", "No bot has recorded such a call in this time.")] : []),
		);
	}

	/** @param {PastCall[]} calls */
	function append(calls) {
		last = calls.at(-1);
		more.hidden = calls.length < pageSize;
		rows.body.append(...calls.flatMap(rowsOf));
	}

	async function showMore() {
		append((await pageAfter(query, last, pageSize)).calls);
	}

	return {
		content: element("div.calls", filters, summary, rows.table, more),
		async open() {
			const { bots } = await stateOf();
			fillSelect(
				bot,
				bots.map(({ name }) => ({ id: name, name })),
				"all",
			);
			await load();
		},
	};
}

/** @param {Record<string, unknown>} query @param {PastCall | undefined} last @param {number} limit */
const pageAfter = (query, last, limit) =>
	post("/history", { ...query, limit, ...(last && { before: last.at, beforeId: last.id }) });

/** @param {PastCall} call */
function rowsOf(call) {
	const { id, at, instance, tool, guild, outcome, milliseconds, names } = call;
	const { name, kind } = botOutcome(outcome);
	return callRows(
		{ id, tool, kind },
		[
			timeOf(at),
			named(instance, 64),
			element("code", named(tool === "approval" ? approvalOf(call) : tool, 100)),
			guild === null ? "" : named(names[guild] ?? guild, 40),
			element("span", { class: `state ${kind}` }, name),
			`${milliseconds} ms`,
			named(callerName(call), 80),
		],
		() => describeCall(call),
	);
}

/** An entry about an approval: what it is for, and what happened. @param {PastCall} call */
function approvalOf(call) {
	const { tool, event } = JSON.parse(call.arguments);
	return `${tool}: approval ${event}`;
}

/** @param {Record<string, unknown>} query */
async function exportAll(query) {
	/** @type {PastCall[]} */
	const calls = [];
	for (let size = exportPageSize; size === exportPageSize && calls.length < maxExported; ) {
		const page = (await pageAfter(query, calls.at(-1), exportPageSize)).calls;
		calls.push(...page);
		size = page.length;
	}
	const heads = [
		"time",
		"bot",
		"tool",
		"guild",
		"outcome",
		"ms",
		"client",
		"key",
		"person",
		"effect",
		"error",
		"arguments",
		"request",
	];
	const lines = calls.map((one) => [
		...[new Date(one.at).toISOString(), one.instance, one.tool, one.guild, one.outcome, one.milliseconds, one.client],
		...[one.key, one.person, one.effect, one.answer, one.arguments, one.request],
	]);
	const text = [heads, ...lines].map((line) => line.map(csvField).join(",")).join("\r\n");
	const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
	element("a", { href: url, download: "guildhall-calls.csv" }).click();
	setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/**
 * https://www.rfc-editor.org/rfc/rfc4180. Spreadsheets run what begins like a formula, so a quote precedes it.
 * @param {unknown} value
 */
function csvField(value) {
	const text = String(value ?? "").replace(/^[=+\-@\t\r]/, "'$&");
	return `"${text.replaceAll('"', '""')}"`;
}
