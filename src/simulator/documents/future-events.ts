// Discord only accepts scheduled events that have not begun. Those of an older document take place later.

import type { GuildDocument } from "../../guild-document/format/document.ts";

const weekMs = 7 * 24 * 60 * 60 * 1000;
/** Minimum time from now to the start of an event, so that the event has not begun when the simulator creates it. */
const marginMs = 60 * 60 * 1000;

/** Moves events that begin before `nowMs` + `marginMs` by whole weeks, with a line of text for each. */
export function withFutureEvents(document: GuildDocument, nowMs: number): { document: GuildDocument; notes: string[] } {
	const notes: string[] = [];
	const events = document.events?.map((event) => {
		const { start: at = "" } = event;
		const late = nowMs + marginMs - Date.parse(at);
		if (!(late > 0)) return event;
		const byMs = Math.ceil(late / weekMs) * weekMs;
		const later = (at: string) => new Date(Date.parse(at) + byMs).toISOString();
		const start = later(at);
		notes.push(`event ${event.name}: it began on ${at}, and now begins on ${start}`);
		return { ...event, start, ...(event.end && { end: later(event.end) }) };
	});
	return { document: { ...document, ...(events && { events }) }, notes };
}
