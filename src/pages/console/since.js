// What happened since the last visit: calls and decisions, from the bots' stores, and bots that are in another state than before.

import { element, soon } from "../dom.js";
import { messageOf, post } from "./api.js";
import { describeMissing } from "./call-details.js";
import { countLinks } from "./history.js";
import { named, shown, timeOf } from "./parts.js";

/** Who is away for less has not left. */
const awayMs = 300_000;
const dayMs = 86_400_000;
const refreshMs = 5_000;
/** After its start, the gateway finds bots that were online before. */
const startMs = 30_000;

/** Keeps in the browser when the page was last left. @param {string} who */
export function createVisit(who) {
	const key = `visit:${who}`;
	const { since = 0, seen = 0 } = JSON.parse(localStorage.getItem(key) ?? "{}");
	/** `since`: when the visit before this one ended; 0 in a browser that was not here before. */
	const visit = { since: Number(since), seen: Number(seen) };
	function look(isHere = !document.hidden) {
		if (isHere && Date.now() - visit.seen > awayMs) visit.since = visit.seen;
		visit.seen = Date.now();
		localStorage.setItem(key, JSON.stringify(visit));
	}
	look(true);
	document.addEventListener("visibilitychange", () => look());
	return visit;
}

/** @param {ReturnType<typeof createVisit>} visit @param {(kind: string) => void} showHistory Before its link is followed. */
export function createSince(visit, showHistory) {
	const title = element("h3");
	const calls = element("div");
	const changes = element("div");
	let from = 0;

	async function refresh() {
		from = visit.since || Date.now() - dayMs;
		const range = { from, before: Date.now() + awayMs };
		const [found, failures, approvals] = await Promise.all([
			post("/history", { ...range, limit: 0, hours: true }),
			post("/history", { ...range, limit: 3, kind: "failed" }),
			post("/history", { ...range, limit: 200, kind: "approval" }),
		]);
		/** @type {string[]} */
		const events = approvals.calls.map((/** @type {any} */ one) => JSON.parse(one.arguments).event);
		const decided = Map.groupBy(events, (event) => event);
		const decisions = ["approved", "denied", "expired", "withdrawn"].flatMap((name) =>
			decided.has(name) ? `${decided.get(name)?.length} ${name}` : [],
		);
		title.replaceChildren(...(visit.since ? ["Since your last visit, ", timeOf(from)] : ["In the last 24 hours"]));
		calls.replaceChildren(
			element("p.buttons", "Calls:", ...countLinks(found.hours, showHistory)),
			...failures.calls.map((/** @type {any} */ { at, instance, tool, answer }) =>
				element("p", timeOf(at), " ", named(`${instance}: ${tool} failed. ${answer ?? ""}`, 200)),
			),
			decisions.length > 0 ? element("p", `Approvals: ${decisions.join(", ")}.`) : "",
			...describeMissing(found.unavailable),
		);
	}

	const content = element("section.panel", { "aria-label": "What happened" }, title, calls, changes);
	return {
		content,
		refresh,
		/** After new calls. Not while a link has the focus, which it would lose. */
		refreshSoon: soon(refreshMs, () => {
			if (content.isConnected && !calls.contains(document.activeElement)) void refresh().catch(messageOf);
		}),
		/** @param {import("./types.ts").State} state */
		setState({ gateway: { startedAt }, bots }) {
			const changed = bots.filter(
				({ state, since }) => since > from && (state !== "online" || since > startedAt + startMs),
			);
			const lines = changed.map(({ name, state, since }) => {
				const now = state === "online" ? "online again" : shown(state, 20);
				return element("p", named(name, 64), `: ${now} since `, timeOf(since));
			});
			if (startedAt > from)
				lines.push(element("p.quiet", "The gateway started at ", timeOf(startedAt), "; bots before that: not known."));
			changes.replaceChildren(...lines);
		},
	};
}
