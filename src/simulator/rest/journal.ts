// Two records of what came over REST: the journal of writes that were executed, and the requests that arrived.

/** A write that changed the world, or would have if it had not been so already. */
export interface JournalEntry {
	readonly seq: number;
	/** ISO 8601. */
	readonly at: string;
	/** The user id of who did it. */
	readonly actor: string;
	readonly method: string;
	/** The pattern, such as "POST /channels/:channel_id/messages". */
	readonly route: string;
	/** The path as it was asked for, without the API version. */
	readonly path: string;
	readonly body: unknown;
	/** The decoded X-Audit-Log-Reason. */
	readonly reason: string | undefined;
	readonly nonce?: string | number;
}

/** Every write that was executed, in order. */
export class Journal {
	readonly #entries: JournalEntry[] = [];

	/** All entries, or those of one route (`"POST /channels/:channel_id/messages"`). */
	entries(route?: string): readonly JournalEntry[] {
		return this.#entries.filter(
			(entry) => route === undefined || entry.route === route,
		);
	}

	/** Forgets what came so far. */
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

/** A REST request that arrived, whatever became of it. */
export interface RequestRecord {
	readonly at: string;
	readonly method: string;
	readonly path: string;
	/** Undefined for a route that is not simulated. */
	readonly route: string | undefined;
	/** The user id; undefined without a valid token. */
	readonly actor: string | undefined;
	/** The status answered; "hung up" when the connection was closed instead, "waiting" before either. */
	readonly status: number | "hung up" | "waiting";
	/** The kind of the fault that hit it. */
	readonly fault: string | undefined;
}

const kept = 10_000;

/** The latest requests, oldest first, and how many of all were invalid by Discord's count. */
export class RequestLog {
	#records: RequestRecord[] = [];
	#invalid = 0;

	/** The latest 10,000 requests, or those of one route. */
	list(route?: string): readonly RequestRecord[] {
		return this.#records
			.slice(-kept)
			.filter((record) => route === undefined || record.route === route);
	}

	/** How many were answered 401, 403 or 429 (other than a shared limit); Discord bans an IP at 10,000 in ten minutes. */
	get invalid(): number {
		return this.#invalid;
	}

	/** Notes an arrival. What it returns completes the record. */
	arrive(
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

	/** Forgets what came so far. */
	clear(): void {
		this.#records = [];
		this.#invalid = 0;
	}

	countInvalid(): void {
		this.#invalid += 1;
	}
}
