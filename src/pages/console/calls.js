// The list of tool calls, updated live, with details on demand.

import { element, setChildren, soon } from "../dom.js";
import { ApiError, get } from "./api.js";
import { describeCall } from "./call-details.js";
import { callerOf, createFilters, outcomeOf } from "./filters.js";
import { facts, named, row, shown, table, timeOf } from "./parts.js";

/** @typedef {import("./api.js").State} State */
/** @typedef {import("./api.js").Call} Call */
/**
 * Names of guilds by id, and by bot the id of its guild, if it has only one: its calls need not name that.
 *
 * @typedef {{ names: Map<string, string>, only: Map<string, string> }} Guilds
 */

/** Maximum number of calls that the page keeps. The gateway keeps as many. */
const maxCalls = 500;
/** Number of calls that are shown at first, and that "Show more" adds. */
const pageSize = 50;
/** Milliseconds for which changes are collected before the list is drawn. */
const drawMs = 100;
/** Milliseconds between two announcements of new calls to screen readers. */
const announceMs = 5_000;

export const callHeads = ["Time", "Bot", "Tool", "Guild", "Outcome", "Took", "Asked by", "Details"];

/** The list of calls. It takes the gateway's events. */
export class CallList {
	/** @type {Call[]} Newest first. */
	#calls = [];
	/** @type {Map<string, Element[]>} The rows of each call that was drawn, by its id. */
	#drawn = new Map();
	/** @type {Guilds} */
	#guilds = { names: new Map(), only: new Map() };
	#limit = pageSize;
	#paused = false;
	#missed = 0;
	/** The number of the latest one; Infinity before the gateway has sent those before. */
	#last = Infinity;
	#unannounced = 0;
	#filters = createFilters(() => this.#showUpTo(pageSize));
	#made = table("Calls, newest first", callHeads, [], "calls-table");
	#announcement = element("p.visually-hidden", { role: "status" });
	#count = element("p.quiet", { id: "call-count" });
	#pause = element("button.small", { "aria-pressed": "false", onclick: () => this.#togglePause() }, "Pause");
	#more = element("button", { onclick: () => this.#showUpTo(this.#limit + pageSize) }, "Show more");
	content = element(
		"div.calls",
		element("div.bar", element("h3", "Calls"), this.#count, this.#pause),
		this.#filters.content,
		this.#announcement,
		this.#made.table,
		this.#more,
	);

	/** @param {string} name */
	showBot(name) {
		this.#filters.setBot(name);
		this.content.scrollIntoView();
		this.#filters.focus();
	}

	/** @param {State} state */
	setState({ bots }) {
		const { names, only } = this.#guilds;
		only.clear();
		for (const { name: bot, guilds, guildCount } of bots) {
			for (const { id, name } of guilds) names.set(id, name);
			if (guilds[0] && guildCount === 1) only.set(bot, guilds[0].id);
		}
		this.#filters.setBots(bots.map(({ name }) => name));
	}

	/** @param {Call[]} calls Those after the ones before, or all again. */
	addCalls(calls) {
		const count = calls.filter(({ seq }) => seq > this.#last).length;
		const before = count === calls.length ? this.#calls : [];
		this.#last = calls.at(-1)?.seq ?? -1;
		this.#calls = [...calls.toReversed(), ...before].slice(0, maxCalls);
		if (this.#paused) this.#missed += count;
		else this.#unannounced += count;
		this.#drawSoon();
		this.#announceSoon();
	}

	#togglePause() {
		this.#paused = !this.#paused;
		this.#missed = 0;
		this.#pause.setAttribute("aria-pressed", String(this.#paused));
		this.#pause.textContent = this.#paused ? "Continue" : "Pause";
		this.#draw();
	}

	/** @param {number} limit */
	#showUpTo(limit) {
		this.#limit = limit;
		this.#draw();
	}

	#drawSoon = soon(drawMs, () => {
		if (this.#paused) this.#drawCount(0);
		else this.#draw();
	});

	#announceSoon = soon(announceMs, () => {
		const [latest] = this.#calls;
		const count = this.#unannounced;
		if (this.#paused || !latest || count === 0) return;
		const { name } = outcomeOf(latest.outcome);
		this.#announcement.textContent = `${count} new ${count === 1 ? "call" : "calls"}. Latest: ${shown(latest.tool, 64)}, ${name}.`;
		this.#unannounced = 0;
	});

	/** @param {number} matched */
	#drawCount(matched) {
		const count = this.#calls.length;
		const last = `last ${count} calls of all bots, newest first; History has those before.`;
		const shownCalls = this.#filters.isSet() ? `${matched} of the ${last}` : `The ${last}`;
		const match = count === 0 ? "No calls yet. Connect shows how to connect an assistant." : shownCalls;
		this.#count.textContent = this.#paused ? `Paused. ${this.#missed} new calls.` : match;
	}

	#draw() {
		const calls = this.#calls;
		this.#filters.setCalls(calls);
		const matched = calls.filter(this.#filters.matches);
		// Rows that are not shown now keep what is open in them.
		const kept = new Set(calls.map(({ id }) => id));
		for (const id of this.#drawn.keys()) if (!kept.has(id)) this.#drawn.delete(id);
		const rows = matched.slice(0, this.#limit).map((call) => {
			const drawn = this.#drawn.get(call.id) ?? createCallRows(call, this.#guilds);
			this.#drawn.set(call.id, drawn);
			return drawn;
		});
		setChildren(this.#made.body, rows.flat());
		this.#more.hidden = matched.length <= this.#limit;
		this.#drawCount(matched.length);
	}
}

/** @param {Call} call @param {Guilds} guilds */
function createCallRows(call, guilds) {
	const { name, kind } = outcomeOf(call.outcome);
	const guild = call.guild ?? guilds.only.get(call.instance ?? "") ?? null;
	const client = call.client && element("span.quiet", " by ", named(call.client, 40));
	return callRows(
		{ id: String(call.seq), tool: call.tool, kind },
		[
			timeOf(call.at),
			named(call.instance ?? "", 64),
			element("code", named(call.tool, 64)),
			guild === null ? "" : named(guilds.names.get(guild) ?? guild, 40),
			element("span", { class: `state ${kind}` }, name),
			`${call.ms} ms`,
			element("span", named(callerOf(call), 80), client ?? undefined),
		],
		() => load(call),
	);
}

/**
 * Returns the rows of a call: the call itself, and a second row for its details.
 * @param {{ id: string, tool: string, kind: string }} call
 * @param {readonly (Node | string)[]} cells All but the last.
 * @param {() => Element | Promise<Element>} describe Called when the details are opened.
 */
export function callRows({ id, tool, kind }, cells, describe) {
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
				if (!second.hidden) details.replaceChildren(await describe());
			},
		},
		"Details",
	);
	return [row(callHeads, [...cells, toggle], { class: kind }), second];
}

/** @param {Call} call */
async function load(call) {
	try {
		const { details, reason } = await get(`/calls/${encodeURIComponent(call.id)}`);
		if (details) return describeCall(details, call);
		return describeUnknown(call, reason);
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		return describeUnknown(call, error.message);
	}
}

/**
 * What is known of a call of which no bot tells more.
 * @param {Call} call
 * @param {string} reason
 */
function describeUnknown(call, reason) {
	const list = facts([
		["Request", element("code", shown(call.id, 64))],
		["At", timeOf(call.at)],
		call.guild !== null && ["Guild", shown(call.guild, 20)],
	]);
	return element("div", list, element("p", shown(reason, 300)));
}
