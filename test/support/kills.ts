// Kills of a life of the bot within the process of a test: from then on no request and no statement of that life gets
// through or returns, and another life begins with the same data.

import { StoreUnavailable } from "../../src/bot/store/unavailable.ts";

const never = new Promise<never>(() => {});

/** What happens at which operation of a life, before or after it. */
export interface Trouble {
	/** "outage": the operation is a statement, and the database confirms nothing. */
	kind: "kill" | "outage";
	operation: number;
	after: boolean;
}

/** Counts the operations of one life, and ends it or fails at one of them. */
export class Kill {
	count = 0;
	statements = 0;
	/** Nothing is counted before. */
	isArmed = false;
	isDead = false;

	constructor(private readonly at?: Trouble | undefined) {}

	async statement<T>(work: () => Promise<T>): Promise<T> {
		const { kind, operation, after } = this.at ?? {};
		const count = this.isArmed ? ++this.statements : 0;
		if (kind !== "outage" || count !== operation) return this.operation(work);
		if (after) await this.operation(work);
		throw new StoreUnavailable("a test's outage", after);
	}

	async operation<T>(work: () => Promise<T>): Promise<T> {
		if (this.isDead) return never;
		const count = this.isArmed ? ++this.count : 0;
		const isIt = this.at?.kind === "kill" && count === this.at.operation;
		if (isIt && !this.at?.after) return this.die();
		const result = await work();
		if (isIt) return this.die();
		return this.isDead ? never : result;
	}

	die(): Promise<never> {
		this.isDead = true;
		return never;
	}
}

/**
 * Passes requests on to `target`, each an operation of this life. Responds 502 if the target is gone: a life may still ask
 * when its world has ended.
 */
export function proxy(kill: Kill, target: () => string) {
	return Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		idleTimeout: 0,
		async fetch(request) {
			const body = await request.arrayBuffer();
			const { pathname, search } = new URL(request.url);
			const headers = new Headers(request.headers);
			headers.delete("host");
			return kill.operation(async () => {
				try {
					const response = await fetch(target() + pathname + search, {
						method: request.method,
						headers,
						body: body.byteLength > 0 ? body : null,
						decompress: false,
					});
					return new Response(await response.arrayBuffer(), response);
				} catch (error) {
					return new Response(String(error), { status: 502 });
				}
			});
		},
	});
}
