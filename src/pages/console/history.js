// The section "History": the calls that the bots keep, 90 days by default, with search, a chart and export. Calls that reached
// no bot are only in the section "Live".

import { element } from "../dom.js";
import { post } from "./api.js";
import { describeCall } from "./call-details.js";
import { callHeads, callRows, createCallFields } from "./call-table.js";
import { createChart } from "./chart.js";
import { actionButton, createForm, fillSelect, labelled, named, shown, table } from "./parts.js";

/** @typedef {import("./call-details.js").CallDetails} PastCall */
/** @typedef {{ instance: string, hour: number, calls: number, refused: number, failed: number }} Hour */

const hourMs = 3_600_000;
const pageSize = 50;
const exportPageSize = 200;
const maxExported = 10_000;
/** The bots' clocks may be ahead. */
const aheadMs = 300_000;

/** In days. */
const periods = [1, 7, 30, 90];
/** Of the file for spreadsheets. @type {(keyof PastCall)[]} */
const columns = [
	"at",
	"instance",
	"tool",
	"guild",
	"outcome",
	"ms",
	"client",
	"key",
	"person",
	"effect",
	"answer",
	"arguments",
	"request",
];

/** @param {() => Promise<import("./api.js").State>} stateOf */
export function createHistory(stateOf) {
	const { bot, kind, search, labels, setBots } = createCallFields([
		{ id: "changed", name: "calls that may change something" },
		{ id: "refused", name: "refused" },
		{ id: "failed", name: "failed" },
	]);
	const days = element("select");
	fillSelect(
		days,
		periods.map((id) => ({ id, name: id === 1 ? "last 24 hours" : `last ${id} days` })),
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
		"form.filters",
		{ "aria-label": "Search the calls", onchange: () => filters.requestSubmit() },
		{ label: "Search", submit: load },
		labelled("Period", days),
		...labels,
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
			createChart(hours, Number(query.from), Number(query.before)),
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
			setBots((await stateOf()).bots);
			await load();
		},
	};
}

/** @param {Record<string, unknown>} query @param {PastCall | undefined} last @param {number} limit */
const pageAfter = (query, last, limit) =>
	post("/history", { ...query, limit, ...(last && { before: last.at, beforeId: last.id }) });

/** @param {PastCall} call */
function rowsOf(call) {
	const tool = call.tool === "approval" ? approvalOf(call) : call.tool;
	return callRows({ ...call, tool }, () => describeCall(call));
}

/** An entry about an approval: what it is for, and what happened. @param {PastCall} call */
function approvalOf(call) {
	const { tool, event } = JSON.parse(call.arguments);
	return `approval of ${tool}: ${event}`;
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
	const lines = calls.map((one) =>
		columns.map((field) => (field === "at" ? new Date(one.at).toISOString() : one[field])),
	);
	const text = [columns, ...lines].map((line) => line.map(csvField).join(",")).join("\r\n");
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
