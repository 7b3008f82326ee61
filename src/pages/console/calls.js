// The list of tool calls, updated live, with details on demand.

import { element, setChildren, soon } from "../dom.js";
import { loadDetails } from "./call-details.js";
import { callerOf, callHeads, callRows, createCallFields, outcomeOf } from "./call-table.js";
import { shown, table } from "./parts.js";

/** @import { Call, State } from "./types.ts" */

/** Maximum number of calls that the page keeps. The gateway keeps as many. */
const maxCalls = 500;
/** Number of calls that are shown at first, and that "Show more" adds. */
const pageSize = 50;
/** Milliseconds for which changes are collected before the list is drawn. */
const drawMs = 100;
/** Milliseconds between two announcements of new calls to screen readers. */
const announceMs = 5_000;

export class CallList {
	/** @type {Call[]} Newest first. */
	#calls = [];
	/** @type {Map<string, Element[]>} The rows of each call that was drawn, by its id. */
	#drawn = new Map();
	/** Of guilds, by id. @type {Record<string, string>} */
	#names = {};
	/** By bot the id of its guild, if it has only one: its calls need not name that. @type {Map<string, string>} */
	#onlyGuilds = new Map();
	#limit = pageSize;
	#paused = false;
	#missed = 0;
	/** The number of the latest one; Infinity before the gateway has sent those before. */
	#last = Infinity;
	#unannounced = 0;
	#fields = createCallFields([
		{ id: "warn", name: "refused" },
		{ id: "bad", name: "failed" },
	]);
	#filters = element(
		"form.filters",
		{
			"aria-label": "Filter the calls",
			oninput: () => this.#showUpTo(pageSize),
			onsubmit: (/** @type {Event} */ event) => event.preventDefault(),
			// The browser resets the fields only after this event.
			onreset: () => setTimeout(() => this.#showUpTo(pageSize)),
		},
		...this.#fields.labels,
		element("button.small", { type: "reset" }, "All calls"),
	);
	#made = table("Calls, newest first", callHeads, [], "calls-table");
	#announcement = element("p.visually-hidden", { role: "status" });
	#count = element("p.quiet", { id: "call-count" });
	#pause = element("button.small", { "aria-pressed": "false", onclick: () => this.#togglePause() }, "Pause");
	#more = element("button", { onclick: () => this.#showUpTo(this.#limit + pageSize) }, "Show more");
	content = element(
		"div.calls",
		element("div.bar", element("h3", "Calls"), this.#count, this.#pause),
		this.#filters,
		this.#announcement,
		this.#made.table,
		this.#more,
	);

	/** @param {string} name */
	showBot(name) {
		const { bot } = this.#fields;
		bot.value = name;
		this.#showUpTo(pageSize);
		this.content.scrollIntoView();
		bot.focus();
	}

	/** @param {State} state */
	setState({ bots }) {
		this.#onlyGuilds.clear();
		for (const { name: bot, guilds, guildCount } of bots) {
			for (const { id, name } of guilds) this.#names[id] = name;
			if (guilds[0] && guildCount === 1) this.#onlyGuilds.set(bot, guilds[0].id);
		}
		this.#fields.setBots(bots);
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
		const { name } = outcomeOf(latest);
		this.#announcement.textContent = `${count} new ${count === 1 ? "call" : "calls"}. Latest: ${shown(latest.tool, 64)}, ${name}.`;
		this.#unannounced = 0;
	});

	/** @param {Call} call As the list shows it. */
	#listed(call) {
		const guild = call.guild ?? this.#onlyGuilds.get(call.instance ?? "") ?? null;
		return { ...call, guild, names: this.#names };
	}

	#matched() {
		const { bot, kind, search } = this.#fields;
		const wanted = search.value.trim().toLowerCase();
		return this.#calls.filter((call) => {
			const outcome = outcomeOf(call);
			if ((bot.value && bot.value !== call.instance) || (kind.value && kind.value !== outcome.kind)) return false;
			if (!wanted) return true;
			const { guild, names, ...one } = this.#listed(call);
			const texts = [one.id, one.tool, one.instance, guild, names[guild ?? ""], outcome.name, one.client, one.error];
			return `${texts.join("\n")}\n${callerOf({ ...one, names })}`.toLowerCase().includes(wanted);
		});
	}

	/** @param {number} matched */
	#drawCount(matched) {
		const count = this.#calls.length;
		this.#filters.hidden = this.#pause.hidden = count === 0;
		if (count === 0)
			return this.#count.replaceChildren(
				"No calls since the gateway's start. ",
				element("a", { href: "#connect" }, "Connect an assistant"),
			);
		const last = `last ${count} calls of all bots, newest first; History has those before.`;
		const shownCalls = matched < count ? `${matched} of the ${last}` : `The ${last}`;
		this.#count.textContent = this.#paused ? `Paused. ${this.#missed} new calls.` : shownCalls;
	}

	#draw() {
		const calls = this.#calls;
		const matched = this.#matched();
		// Rows that are not shown now keep what is open in them.
		const kept = new Set(calls.map(({ id }) => id));
		for (const id of this.#drawn.keys()) if (!kept.has(id)) this.#drawn.delete(id);
		const rows = matched.slice(0, this.#limit).map((call) => {
			const drawn = this.#drawn.get(call.id) ?? callRows(this.#listed(call), () => loadDetails(call));
			this.#drawn.set(call.id, drawn);
			return drawn;
		});
		setChildren(this.#made.body, rows.flat());
		this.#more.hidden = matched.length <= this.#limit;
		this.#drawCount(matched.length);
	}
}
