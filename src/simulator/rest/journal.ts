// The journal of executed writes, and the log of all REST requests.

/** A request that changed something. */
interface JournalEntry {
	readonly seq: number;
	/** When it was executed, in ISO 8601. */
	readonly at: string;
	/** The id of the user who sent the request. */
	readonly actor: string;
	readonly method: string;
	/** The route's pattern, such as "POST /channels/:channel_id/messages". */
	readonly route: string;
	/** The requested path without the API version. */
	readonly path: string;
	readonly body: unknown;
	/** The decoded X-Audit-Log-Reason. */
	readonly reason: string | undefined;
	readonly nonce?: string | number;
}

/** The requests that changed something, in order. */
export class Journal {
	readonly #entries: JournalEntry[] = [];

	/** All entries, or those of one route (`"POST /channels/:channel_id/messages"`). */
	entries(route?: string): readonly JournalEntry[] {
		return this.#entries.filter(
			(entry) => route === undefined || entry.route === route,
		);
	}

	clear(): void {
		this.#entries.length = 0;
	}

	record(entry: Omit<JournalEntry, "seq" | "at">): void {
		this.#entries.push({
			seq: this.#entries.length + 1,
			at: new Date().toISOString(),
			...entry,
		});
	}
}

/** A REST request with its outcome. */
interface RequestRecord {
	readonly at: string;
	readonly method: string;
	readonly path: string;
	/** The route's pattern; undefined if the route is not simulated. */
	readonly route: string | undefined;
	/** The id of the user who sent the request; undefined without a valid token. */
	readonly actor: string | undefined;
	/** The response's status; "hung up" if the connection was closed, "waiting" before that. */
	readonly status: number | "hung up" | "waiting";
	/** The kind of the fault that applied. */
	readonly fault: string | undefined;
}

const kept = 10_000;

/** The latest requests, oldest first, and the count of invalid ones. */
export class RequestLog {
	#records: RequestRecord[] = [];
	#invalid = 0;

	/** The latest 10,000 requests, or those of one route. */
	list(route?: string): readonly RequestRecord[] {
		return this.#records
			.slice(-kept)
			.filter((record) => route === undefined || record.route === route);
	}

	/** Responses with 401, 403 or 429 (without shared limits). Discord bans an IP with 10,000 in ten minutes. */
	get invalid(): number {
		return this.#invalid;
	}

	/** Adds a request. Returns a function that completes its record. */
	add(
		request: Pick<RequestRecord, "method" | "path">,
	): (known: Partial<RequestRecord>) => void {
		const record: RequestRecord = {
			at: new Date().toISOString(),
			route: undefined,
			actor: undefined,
			status: "waiting",
			fault: undefined,
			...request,
		};
		this.#records.push(record);
		if (this.#records.length > 2 * kept)
			this.#records = this.#records.slice(-kept);
		return (known) => Object.assign(record, known);
	}

	clear(): void {
		this.#records = [];
		this.#invalid = 0;
	}

	countInvalid(): void {
		this.#invalid += 1;
	}
}
