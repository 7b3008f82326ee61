// The section "History": the calls that the bots keep, 90 days by default, and those that reached no bot, with search, a chart
// and export.

import { element } from "../dom.js";
import { post } from "./api.js";
import { describeCall, describeMissing } from "./call-details.js";
import { callHeads, callRows, createCallFields } from "./call-table.js";
import { createChart } from "./chart.js";
import { actionButton, createForm, fillSelect, labelled, say, shown, table } from "./parts.js";

/** @typedef {import("./call-details.js").CallDetails} PastCall */
/** @typedef {ReturnType<typeof import("./since.js").createVisit>} Visit */
/** @typedef {{ hour: number, calls: number, refused: number, failed: number }} Hour */

const hourMs = 3_600_000;
const pageSize = 50;
const exportPageSize = 200;
/** The bots' clocks may be ahead. */
const aheadMs = 300_000;

/** In days. */
const periods = [1, 7, 30, 90];
/** Of the file for spreadsheets. */
const columns =
	"at instance tool guild guild_name outcome ms client key person person_name effect answer arguments request".split(
		" ",
	);

/** @param {() => Promise<import("./types.ts").State>} stateOf @param {Visit} visit */
export function createHistory(stateOf, visit) {
	const { bot, kind, search, labels, setBots } = createCallFields([
		{ id: "changed", name: "calls that may change something" },
		{ id: "refused", name: "refused" },
		{ id: "failed", name: "failed" },
	]);
	const days = element("select");
	const summary = element("div", { role: "status" });
	const rows = table("Past calls, newest first", callHeads, [], "calls-table");
	const more = actionButton("button", "Show more", showMore);
	more.hidden = true;
	/** What is shown. @type {Record<string, unknown>} */
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

	function fillPeriods() {
		const items = periods.map((id) => ({ id: `${id}`, name: id === 1 ? "last 24 hours" : `last ${id} days` }));
		fillSelect(days, visit.since ? [...items, { id: "since", name: "since last visit" }] : items);
	}

	async function load() {
		const now = Date.now();
		// Whole hours, as the bots count.
		const from = days.value === "since" ? visit.since : Math.floor(now / hourMs - Number(days.value) * 24) * hourMs;
		query = {
			from,
			before: now + aheadMs,
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

	/** @param {{ hours: Hour[], unreached: number, unavailable: import("./call-details.js").Missing }} found */
	function describeFound({ hours, unreached, unavailable }) {
		const isEmpty = hours.length === 0;
		/** @param {string} outcome */
		const only = (outcome) => {
			kind.value = outcome;
			filters.requestSubmit();
		};
		summary.replaceChildren(
			element(
				"div.bar",
				...countLinks(hours, only),
				actionButton("button.small", "Export as CSV", () => exportAll(query)),
			),
			isEmpty ? "" : createChart(hours, Number(query.from), Date.now()),
			...describeMissing(unavailable),
			isEmpty ? element("p", "No bot has recorded such a call in this time.") : "",
			element(
				"p.quiet",
				`Counted: the bots' records, without approvals, and calls that reached no bot: ${unreached} (the gateway keeps the last 500).`,
			),
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
		/** Chooses what is shown when the section is opened. @param {string} outcome */
		show(outcome) {
			fillPeriods();
			days.value = visit.since ? "since" : "1";
			kind.value = outcome;
			bot.value = search.value = "";
		},
		async open() {
			fillPeriods();
			setBots((await stateOf()).bots);
			await load();
		},
	};
}

/** How many calls ended how, as links to these. @param {readonly Hour[]} hours @param {(kind: string) => void} show */
export function countLinks(hours, show) {
	/** @param {"calls" | "refused" | "failed"} name */
	const sum = (name) => hours.reduce((all, one) => all + one[name], 0);
	const [all, refused, failed] = [sum("calls"), sum("refused"), sum("failed")];
	/** @type {[state: string, count: number, name: string, kind: string][]} */
	const numbers = [
		["good", all - refused - failed, "done", ""],
		["warn", refused, "refused", "refused"],
		["bad", failed, "failed", "failed"],
	];
	const some = numbers.filter(([state, count]) => count > 0 || state === "good");
	return some.map(([state, count, name, kind]) =>
		element("a", { href: "#history", class: `state ${state}`, onclick: () => show(kind) }, `${count} ${name}`),
	);
}

/** @param {Record<string, unknown>} query @param {PastCall | undefined} last @param {number} limit */
const pageAfter = (query, last, limit) =>
	post("/history", { ...query, limit, ...(last && { before: last.at, beforeId: last.id }) });

/** @param {PastCall} call */
function rowsOf(call) {
	// An entry about an approval tells what it is for, and what happened.
	const about = call.tool === "approval" && JSON.parse(call.arguments);
	const tool = about ? `approval of ${about.tool}: ${about.event}` : call.tool;
	return callRows({ ...call, tool }, () => describeCall(call));
}

/** Without a limit: each page becomes a part of the file, which the browser need not keep in memory. @param {Record<string, unknown>} query */
async function exportAll(query) {
	const parts = [new Blob([csvLine(columns)])];
	const missing = new Set();
	/** @type {PastCall | undefined} */
	let last;
	let count = 0;
	for (let size = exportPageSize; size === exportPageSize; count += size) {
		const { calls, unavailable } = await pageAfter(query, last, exportPageSize);
		for (const { instance } of unavailable) missing.add(instance);
		parts.push(new Blob(calls.map((/** @type {PastCall} */ one) => csvLine(cellsOf(one)))));
		last = calls.at(-1);
		size = calls.length;
		say(`Exporting: ${count + size} calls so far.`);
	}
	const without = missing.size > 0 ? `, without ${[...missing].join(", ")}` : "";
	const url = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
	element("a", { href: url, download: `guildhall-calls${shown(without).replaceAll(/[^\w.]+/g, "-")}.csv` }).click();
	setTimeout(() => URL.revokeObjectURL(url), 60_000);
	say(`Exported ${count} calls${without}.`);
}

/** @param {PastCall} call */
function cellsOf(call) {
	const { at, names, guild, person } = call;
	const more = {
		at: new Date(at).toISOString(),
		guild_name: names[guild ?? ""],
		person_name: names[person ?? ""]?.replace(/^@/, ""),
	};
	return columns.map((name) => /** @type {Record<string, unknown>} */ ({ ...call, ...more })[name]);
}

// https://www.rfc-editor.org/rfc/rfc4180. Spreadsheets run what begins like a formula, so a quote precedes it:
// https://owasp.org/www-community/attacks/CSV_Injection
/** @param {readonly unknown[]} cells */
function csvLine(cells) {
	const quoted = cells.map((cell) => {
		const text = String(cell ?? "").replace(/^(?:\s*[=+\-@＝＋－＠]|\s)/, "'$&");
		return `"${text.replaceAll('"', '""')}"`;
	});
	return `${quoted.join(",")}\r\n`;
}
