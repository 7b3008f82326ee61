// The simulator's event stream, for pages and programs that watch it.

import { type EventStream, eventText, openEventStream } from "../../lib/event-stream.ts";
import type { EventType, WorldEvent } from "../world/state/events.ts";
import type { Controllable } from "./controllable.ts";
import { summarizeInteraction } from "./views.ts";

const maxWaitingBytes = 4_000_000;
const longestString = 4_000;
const maxReaders = 64;

const headers = {
	"Content-Type": "text/event-stream",
	"Cache-Control": "no-store",
	"X-Content-Type-Options": "nosniff",
};

/** Sends what happens to all readers. One that is too slow is disconnected: it connects again, and reads the state again. */
export class EventLog {
	readonly #streams = new Set<EventStream>();

	watch(simulator: Controllable): this {
		const { world, journal, requests, interactions, sockets } = simulator;
		world.state.subscribe((event) => {
			if (!leftOut.has(event.type)) this.add("discord", describe(event));
		});
		journal.added.add((entry) => this.add("journal", entry));
		requests.ended.add((record) => {
			if (record.fault !== undefined || typeof record.status === "string" || record.status >= 400)
				this.add("request", record);
		});
		interactions.changed.add((one) => this.add("interaction", summarizeInteraction(simulator, one)));
		sockets.changed.add((connected) => this.add("bots", { connected }));
		return this;
	}

	/** `data` is sent as JSON; strings longer than 4,000 characters are cut. */
	add(event: string, data: unknown): void {
		const text = eventText(event, data, cut);
		for (const stream of [...this.#streams])
			if (stream.isReady) stream.send(text);
			else stream.drop();
	}

	/** The events from now on; first "hello". */
	open(): Response {
		if (this.#streams.size >= maxReaders) return new Response(`at most ${maxReaders} readers\n`, { status: 503 });
		const stream = openEventStream(headers, maxWaitingBytes, () => this.#streams.delete(stream));
		this.#streams.add(stream);
		stream.send(eventText("hello", {}));
		return stream.response;
	}
}

function cut(_key: string, value: unknown): unknown {
	return typeof value === "string" && value.length > longestString ? `${value.slice(0, longestString)}…` : value;
}

const leftOut: ReadonlySet<EventType> = new Set(["THREAD_LIST_SYNC", "INTERACTION_CREATE"]);

const watcher = { id: "0", seesContent: true };

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
