// The list of tool calls, updated live, with details on demand.

import { element, setChildren } from "../dom.js";
import { ApiError, get } from "./api.js";
import { callerOf, createFilters, outcomeOf } from "./filters.js";
import { facts, named, row, shown, shownLines, table, timeOf } from "./parts.js";

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

const heads = ["Time", "Bot", "Tool", "Guild", "Outcome", "Took", "Asked by", "Details"];

/**
 * Creates the list of calls. The functions of the result take the gateway's events.
 * @param {boolean} seesAll Whether this person sees all calls: then a gap in their numbers means that some were not sent.
 */
export function createCalls(seesAll) {
	/** @type {Call[]} Newest first. */
	let calls = [];
	/** @type {Map<string, { rows: Element[] }>} */
	const drawn = new Map();
	/** @type {Guilds} */
	const guilds = { names: new Map(), only: new Map() };
	let limit = pageSize;
	let paused = false;
	let missed = 0;
	/** Number of calls that the gateway did not send, because there were too many at once. */
	let skipped = 0;
	let unannounced = 0;
	let drawing = false;
	let announcing = false;

	const filters = createFilters(() => {
		limit = pageSize;
		draw();
	});
	const made = table("Calls, newest first", heads, [], "calls-table");
	const announcement = element("p", {
		class: "visually-hidden",
		role: "status",
	});
	const count = element("p", { class: "quiet", id: "call-count" });
	const pause = element(
		"button",
		{
			type: "button",
			class: "small",
			"aria-pressed": "false",
			onclick: togglePause,
		},
		"Pause",
	);
	const more = element(
		"button",
		{
			type: "button",
			onclick() {
				limit += pageSize;
				draw();
			},
		},
		"Show more",
	);
	const content = element(
		"div",
		{ class: "calls" },
		element("div", { class: "bar" }, element("h3", {}, "Calls"), count, pause),
		filters.content,
		announcement,
		made.table,
		more,
	);

	function togglePause() {
		paused = !paused;
		missed = 0;
		pause.setAttribute("aria-pressed", String(paused));
		pause.textContent = paused ? "Continue" : "Pause";
		draw();
	}

	/** Schedules drawing, once for all changes within `drawMs`. */
	function drawSoon() {
		if (drawing) return;
		drawing = true;
		setTimeout(() => {
			drawing = false;
			if (paused) drawCount(0);
			else draw();
		}, drawMs);
	}

	function announceSoon() {
		if (announcing || paused) return;
		announcing = true;
		setTimeout(() => {
			announcing = false;
			const [latest] = calls;
			if (paused || !latest || unannounced === 0) return;
			const { name } = outcomeOf(latest.outcome) ?? { name: "" };
			announcement.textContent = `${unannounced} new ${unannounced === 1 ? "call" : "calls"}. Latest: ${shown(latest.tool, 64)}, ${name}.`;
			unannounced = 0;
		}, announceMs);
	}

	/** @param {number} matched */
	function drawCount(matched) {
		const total = `${calls.length} calls, newest first.`;
		const match = filters.isSet() ? `${matched} of ${total}` : total;
		const gap = skipped > 0 ? ` ${skipped} more arrived too fast to be shown.` : "";
		count.textContent = paused ? `Paused. ${missed} new calls.` : match + gap;
	}

	function draw() {
		filters.setCalls(calls);
		const matched = calls.filter(filters.matches);
		const known = new Set(calls.map(({ id }) => id));
		for (const id of drawn.keys()) if (!known.has(id)) drawn.delete(id);
		const rows = matched.slice(0, limit).flatMap((call) => {
			const there = drawn.get(call.id) ?? createCallRows(call, guilds);
			drawn.set(call.id, there);
			return there.rows;
		});
		setChildren(made.body, rows);
		more.hidden = matched.length <= limit;
		drawCount(matched.length);
	}

	return {
		content,
		/** @param {string} name */
		showBot(name) {
			filters.setBot(name);
			content.scrollIntoView();
			filters.focus();
		},
		/** @param {State} state */
		setState(state) {
			guilds.only.clear();
			for (const bot of state.bots) {
				for (const { id, name } of bot.guilds) guilds.names.set(id, name);
				const [only] = bot.guilds;
				if (only && bot.guildCount === 1) guilds.only.set(bot.name, only.id);
			}
			filters.setBots(state.bots.map(({ name }) => name));
		},
		/** @param {Call[]} all */
		setCalls(all) {
			calls = all.toReversed().slice(0, maxCalls);
			unannounced = 0;
			skipped = 0;
			drawSoon();
		},
		/** @param {Call} call */
		addCall(call) {
			const [latest] = calls;
			if (seesAll && latest) skipped += Math.max(0, call.seq - latest.seq - 1);
			calls.unshift(call);
			if (calls.length > maxCalls) calls.pop();
			if (paused) missed++;
			else unannounced++;
			drawSoon();
			announceSoon();
		},
	};
}

/**
 * Returns the rows of a call: the call itself, and a second row for its details, which are requested when they are
 * opened.
 * @param {Call} call
 * @param {Guilds} guilds
 */
function createCallRows(call, guilds) {
	const { name, kind } = outcomeOf(call.outcome) ?? { name: "", kind: "warn" };
	const details = element("td", {
		role: "cell",
		colspan: heads.length,
		id: `details-${call.seq}`,
	});
	const second = element("tr", { role: "row", class: "details", hidden: true }, details);
	const toggle = element(
		"button",
		{
			type: "button",
			class: "small",
			"aria-expanded": "false",
			"aria-controls": details.id,
			"aria-label": `Details of ${shown(call.tool, 64)}`,
			async onclick() {
				const isOpen = toggle.getAttribute("aria-expanded") === "true";
				toggle.setAttribute("aria-expanded", String(!isOpen));
				second.hidden = isOpen;
				if (!isOpen) details.replaceChildren(await describeCall(call, guilds.names));
			},
		},
		"Details",
	);
	const guild = call.guild ?? guilds.only.get(call.instance ?? "") ?? null;
	const client = call.client && element("span", { class: "quiet" }, " by ", named(call.client, 40));
	const first = row(
		heads,
		[
			timeOf(call.at),
			named(call.instance ?? "", 64),
			element("code", {}, named(call.tool, 64)),
			guild === null ? "" : named(guilds.names.get(guild) ?? guild, 40),
			element("span", { class: `state ${kind}` }, name),
			`${call.ms} ms`,
			element("span", {}, named(callerOf(call), 80), client ?? undefined),
			toggle,
		],
		{ class: kind },
	);
	return { rows: [first, second] };
}

/**
 * @param {Call} call
 * @param {ReadonlyMap<string, string>} guildNames
 */
async function describeCall(call, guildNames) {
	/** @type {{ details: any, reason: null | string }} */
	let found;
	try {
		found = await get(`/calls/${encodeURIComponent(call.id)}`);
	} catch (error) {
		if (!(error instanceof ApiError)) throw error;
		found = { details: null, reason: error.message };
	}
	const { details, reason } = found;
	const guild = call.guild;
	const list = facts([
		["Request", element("code", {}, shown(call.id, 64))],
		["At", timeOf(call.at)],
		guild !== null && ["Guild", element("span", {}, named(guildNames.get(guild) ?? "unknown"), " ", shown(guild, 20))],
		call.person !== null && ["In the name of", shown(call.person, 20)],
		details && ["At the bot", `${shown(details.outcome, 40)} after ${details.milliseconds} ms`],
	]);
	const text = details ? JSON.stringify(details.arguments, null, 2) : "";
	return element(
		"div",
		{},
		list,
		details
			? element("pre", { tabindex: 0, "aria-label": "Arguments" }, shownLines(text, 20_000))
			: element("p", {}, shown(reason ?? "The bot has no details of this call.", 300)),
	);
}
