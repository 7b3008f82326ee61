// Kills of a life of the bot within the process of a test: from then on no request and no statement of that life gets
// through or returns, and another life begins with the same data.

import { StoreUnavailable } from "../../src/bot/store/unavailable.ts";

const never = new Promise<never>(() => {});

export type Trouble =
	/** The life ends after this many writes; 0: before its first operation. */
	| { kind: "kill"; writes: number }
	/** The database does not confirm the statement with this number. */
	| { kind: "outage"; statement: number; hasRun: boolean };

/** Counts the operations of one life, and ends it or fails at one of them. */
export class Kill {
	writes = 0;
	/** Whether each statement so far was a write. */
	readonly statements: boolean[] = [];
	/** Nothing is counted before. */
	isArmed = false;
	isDead = false;

	constructor(private readonly at?: Trouble | undefined) {}

	async statement<T>(isWrite: boolean, work: () => Promise<T>): Promise<T> {
		if (this.isArmed) this.statements.push(isWrite);
		if (this.at?.kind !== "outage" || !this.isArmed || this.statements.length !== this.at.statement)
			return this.operation(isWrite, work);
		if (this.at.hasRun) await this.operation(isWrite, work);
		throw new StoreUnavailable("a test's outage", this.at.hasRun);
	}

	async operation<T>(isWrite: boolean, work: () => Promise<T>): Promise<T> {
		const { isArmed } = this;
		const last = this.at?.kind === "kill" ? this.at.writes : undefined;
		if (isArmed && last === 0) this.isDead = true;
		if (this.isDead) return never;
		const result = await work();
		if (isArmed && isWrite && !this.isDead) this.isDead = ++this.writes === last;
		return this.isDead ? never : result;
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
			return kill.operation(request.method !== "GET", async () => {
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
