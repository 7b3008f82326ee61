// Rate limits: a bucket for each route, actor and major parameter, and a global one for each actor.
// https://discord.com/developers/docs/topics/rate-limits
//
// A gap: Discord's IP ban after too many invalid requests does not happen: they are only counted.

import { rateLimited } from "./errors.ts";

interface Limit {
	requests: number;
	perMs: number;
}

export interface RateLimits {
	global: Limit;
	each: Limit;
	routes?: Readonly<Record<string, Limit>>;
	/** The limit of changes of a channel's name, and of its topic, of which the rate limit headers say nothing. */
	renames?: Limit;
}

/** A guess (rate-limits): Discord publishes only the global limit, no limits per route. */
export const realisticLimits: RateLimits = {
	global: { requests: 50, perMs: 1000 },
	each: { requests: 10, perMs: 10_000 },
	// https://github.com/discord/discord-api-docs/issues/2190
	renames: { requests: 2, perMs: 600_000 },
	routes: {
		"POST /channels/:channel_id/messages": { requests: 5, perMs: 5000 },
		"PATCH /channels/:channel_id/messages/:message_id": { requests: 5, perMs: 5000 },
		"DELETE /channels/:channel_id/messages/:message_id": { requests: 5, perMs: 1000 },
		"POST /channels/:channel_id/messages/bulk-delete": { requests: 1, perMs: 3000 },
		"GET /channels/:channel_id/messages": { requests: 5, perMs: 5000 },
		"POST /webhooks/:application_id/:interaction_token": { requests: 5, perMs: 2000 },
		"POST /webhooks/:webhook_id/:webhook_token": { requests: 5, perMs: 2000 },
		"PUT /channels/:channel_id/messages/:message_id/reactions/:emoji/@me": { requests: 1, perMs: 250 },
		"GET /users/@me": { requests: 30, perMs: 30_000 },
	},
};

export const generousLimits: RateLimits = {
	global: { requests: 100_000, perMs: 1000 },
	each: { requests: 10_000, perMs: 1000 },
};

interface Bucket {
	used: number;
	resetAt: number;
}

export class RateLimiter {
	readonly #buckets = new Map<string, Bucket>();

	constructor(
		private readonly limits: RateLimits,
		private readonly now: () => number = Date.now,
	) {}

	/** Throws a 429 if there were too many edits of the name or the topic, which are counted apart. */
	takeRename(channelId: string, body: unknown): void {
		const limit = this.limits.renames;
		if (!limit) return;
		const buckets = ["name", "topic"]
			.filter((key) => Object(body)[key] !== undefined)
			.map((key) => this.#bucket(`${channelId} ${key}`, limit));
		const full = buckets.filter(({ used }) => used >= limit.requests);
		if (full.length > 0) {
			const resetAt = Math.max(...full.map((bucket) => bucket.resetAt));
			throw rateLimited(resetAt - this.now(), { global: false, scope: "user" });
		}
		for (const bucket of buckets) bucket.used += 1;
	}

	/** Returns the rate limit headers for the response; throws a 429 if a limit is exceeded. */
	take(request: { actor: string; route: string; major: string; exempt: boolean }): Record<string, string> {
		if (this.#buckets.size >= 10_000)
			for (const [key, { resetAt }] of this.#buckets) if (resetAt <= this.now()) this.#buckets.delete(key);
		const global = this.#bucket(`${request.actor} *`, this.limits.global);
		if (!request.exempt && global.used >= this.limits.global.requests)
			throw rateLimited(global.resetAt - this.now(), { global: true, scope: "global" });

		const limit = this.limits.routes?.[request.route] ?? this.limits.each;
		const bucket = this.#bucket(`${request.actor} ${request.route} ${request.major}`, limit);
		const full = bucket.used >= limit.requests;
		if (!full) {
			bucket.used += 1;
			if (!request.exempt) global.used += 1;
		}
		const afterMs = Math.max(0, bucket.resetAt - this.now());
		const headers = {
			"x-ratelimit-limit": String(limit.requests),
			"x-ratelimit-remaining": String(limit.requests - bucket.used),
			"x-ratelimit-reset": String(bucket.resetAt / 1000),
			"x-ratelimit-reset-after": String(afterMs / 1000),
			"x-ratelimit-bucket": Bun.hash(request.route).toString(16),
		};
		if (full) throw rateLimited(afterMs, { global: false, scope: "user" }, headers);
		return headers;
	}

	#bucket(key: string, limit: Limit): Bucket {
		const known = this.#buckets.get(key);
		if (known && known.resetAt > this.now()) return known;
		const fresh = { used: 0, resetAt: this.now() + limit.perMs };
		this.#buckets.set(key, fresh);
		return fresh;
	}
}
