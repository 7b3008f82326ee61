// Writes what happens in a simulator to the event log.

import type { RequestRecord } from "../rest/journal.ts";
import type { EventType, WorldEvent } from "../world/state/events.ts";
import type { Controllable } from "./controllable.ts";
import type { EventLog } from "./event-log.ts";
import { summarizeInteraction } from "./views.ts";

const leftOut: ReadonlySet<EventType> = new Set(["THREAD_LIST_SYNC", "INTERACTION_CREATE"]);

const watcher = { id: "0", seesContent: true };

/** Adds all further events to `log`, in the format that src/simulator/README.md describes. */
export function watch(simulator: Controllable, log: EventLog): void {
	const { world, journal, requests, interactions, sockets } = simulator;
	world.state.subscribe((event) => {
		if (!leftOut.has(event.type)) log.add("discord", describe(event));
	});
	journal.added.add((entry) => log.add("journal", entry));
	requests.ended.add((record) => {
		if (isUnusual(record)) log.add("request", record);
	});
	interactions.changed.add((one) => log.add("interaction", summarizeInteraction(interactions, one)));
	sockets.changed.add((connected) => log.add("bots", { connected }));
}

function isUnusual({ status, fault }: RequestRecord): boolean {
	return fault !== undefined || typeof status === "string" || Number(status) >= 400;
}

function describe(event: WorldEvent) {
	const { type, guildId } = event;
	const data: object = event.data(watcher);
	// The whole guild could be large; readers get it from GET /simulator/guild.
	const { id, name } = data as { id?: string; name?: string };
	return {
		type,
		guild_id: guildId,
		channel_id: "channel_id" in data ? data.channel_id : undefined,
		data: type === "GUILD_CREATE" ? { id, name } : data,
	};
}
