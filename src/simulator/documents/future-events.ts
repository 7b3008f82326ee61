// Discord only accepts scheduled events that have not begun. Those of an older document take place later.

import type { GuildDocument } from "../../guild-document/format/document.ts";

const weekMs = 7 * 24 * 60 * 60 * 1000;
/** So that an event has not begun when it is created. */
const marginMs = 60 * 60 * 1000;

/**
 * Returns a document in which events that began before `nowMs` are moved by whole weeks into the future, and a line of
 * text for each of them.
 */
export function withFutureEvents(
	document: GuildDocument,
	nowMs: number,
): { document: GuildDocument; notes: string[] } {
	const notes: string[] = [];
	const events = document.events?.map((event) => {
		const late = nowMs + marginMs - Date.parse(event.start);
		if (!(late > 0)) return event;
		const byMs = Math.ceil(late / weekMs) * weekMs;
		const later = (at: string) => new Date(Date.parse(at) + byMs).toISOString();
		const start = later(event.start);
		notes.push(
			`event ${event.name}: it began on ${event.start}, and now begins on ${start}`,
		);
		return { ...event, start, ...(event.end && { end: later(event.end) }) };
	});
	return { document: { ...document, ...(events && { events }) }, notes };
}
