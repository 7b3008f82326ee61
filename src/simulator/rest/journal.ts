// The journal of executed writes, and the log of all REST requests.

import { Subscribers } from "../world/state/events.ts";
import type { InjectedFault } from "./faults.ts";

interface JournalEntry {
	seq: number;
	at: string;
	actor: string;
	method: string;
	/** Method and path pattern of the route, such as "POST /channels/:channel_id/messages". */
	route: string;
	path: string;
	body: unknown;
	reason: string | undefined;
}

export class Journal {
	readonly #entries: JournalEntry[] = [];
	readonly added = new Subscribers<JournalEntry>();

	entries(route?: string): readonly JournalEntry[] {
		return this.#entries.filter((entry) => route === undefined || entry.route === route);
	}

	clear(): void {
		this.#entries.length = 0;
	}

	record(entry: Omit<JournalEntry, "seq" | "at">): void {
		const added = { seq: this.#entries.length + 1, at: new Date().toISOString(), ...entry };
		this.#entries.push(added);
		this.added.notify(added);
	}
}

export interface RequestRecord {
	at: string;
	method: string;
	path: string;
	/** Method and path pattern of the route; undefined if the simulator does not implement the route. */
	route: string | undefined;
	/** The id of the user, bot or webhook that sent the request; undefined if the request had no valid token. */
	actor: string | undefined;
	/** "waiting" before the response, "hung up" if the connection was closed without one. */
	status: number | "hung up" | "waiting";
	fault: InjectedFault["kind"] | undefined;
}

const kept = 10_000;

/** With the number of requests that Discord counts as invalid. */
export class RequestLog {
	#records: RequestRecord[] = [];
	/** Notified of every request after its response was sent, or after its connection was closed without one. */
	readonly ended = new Subscribers<RequestRecord>();
	/** 401, 403 and 429 (except scope "shared"): after 10,000 in ten minutes, Discord bans the IP address. */
	invalid = 0;

	/** The latest 10,000, oldest first; with `route` only those of this route. */
	list(route?: string): readonly RequestRecord[] {
		return this.#records.slice(-kept).filter((record) => route === undefined || record.route === route);
	}

	/** Of the latest requests, those for which there is no route, with their number. */
	unknownRoutes() {
		const unknown = this.list().filter(({ route, status }) => route === undefined && status === 501);
		return [...Map.groupBy(unknown, ({ method, path }) => `${method} ${path}`).values()].flatMap(
			([first, ...others]) => (first ? { method: first.method, path: first.path, count: 1 + others.length } : []),
		);
	}

	/** The router adds to the record what it finds out, until it ends. */
	add(request: Pick<RequestRecord, "method" | "path">): RequestRecord {
		const record: RequestRecord = {
			at: new Date().toISOString(),
			route: undefined,
			actor: undefined,
			status: "waiting",
			fault: undefined,
			...request,
		};
		this.#records.push(record);
		if (this.#records.length > 2 * kept) this.#records = this.#records.slice(-kept);
		return record;
	}

	/** `isShared` is whether a rate limit of all clients was exceeded, which does not count as invalid. */
	end(record: RequestRecord, status: number | "hung up", isShared = false): void {
		record.status = status;
		if (status === 401 || status === 403 || (status === 429 && !isShared)) this.invalid += 1;
		this.ended.notify(record);
	}

	clear(): void {
		this.#records = [];
		this.invalid = 0;
	}
}
