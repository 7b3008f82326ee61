// Giving roles that no single call has asked for: one write at a time, with room left in Discord's rate limits for those
// who wait for an answer, and longer and longer waits while Discord does not take them.

import { setTimeout as sleep } from "node:timers/promises";
import { DiscordAPIError, type Guild, RESTJSONErrorCodes } from "discord.js";
import { doubledMs } from "../../lib/back-off.ts";
import type { FeatureOptions } from "../commands/feature.ts";
import type { Connection } from "../discord/connection/connection.ts";
import {
	type Allowance,
	notingAllowance,
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
} from "../discord/rest/rest.ts";
import { cannotGiveRoles, roleFault } from "../discord/role-hierarchy.ts";
import { oneLine } from "../discord/text.ts";
import { hasRestriction } from "../store/chargebacks.ts";

/** What came of a write. */
export type Written =
	| "done"
	/** They are not in the guild any more. */
	| "gone"
	/** It was certainly not done; where Discord has refused it, others may still be done. */
	| { notDone: string; refused: boolean }
	/** It was sent, and may have been done. */
	| { inDoubt: string };

/** What part of a rate limit is left to others. */
const sparedShare = 0.25;
/** Waits after failures: doubled each time, up to the second number. */
const backOffMs = [1_000, 300_000] as const;

export class RoleWriter {
	readonly #closing: AbortSignal;
	readonly #backOffMs: readonly [number, number];
	/** When the next write may be sent, by the monotonic clock. */
	#freeAt = 0;
	#failures = 0;

	constructor(
		closing: AbortSignal,
		waits: readonly [number, number] = backOffMs,
	) {
		this.#closing = closing;
		this.#backOffMs = waits;
	}

	/** Resolves when the next write may be sent; with false when the bot ends before. */
	async ready(): Promise<boolean> {
		for (;;) {
			if (this.#closing.aborted) return false;
			const ms = this.#freeAt - performance.now();
			if (ms <= 0) return true;
			// Rejects when the bot ends, and for nothing else.
			await sleep(ms, undefined, { signal: this.#closing }).catch(() => {});
		}
	}

	/** Rejects with what is no failure of Discord's. */
	async write(send: () => Promise<unknown>): Promise<Written> {
		try {
			await notingAllowance((left) => this.#leaveRoom(left), send);
			this.#failures = 0;
			return "done";
		} catch (error) {
			return this.#meaning(error);
		}
	}

	#meaning(error: unknown): Written {
		if (error instanceof PlatformBusy) {
			this.#hold(Math.min(error.retryAfterMs, this.#backOffMs[1]));
			return { notDone: "Discord asks the bot to wait", refused: false };
		}
		if (error instanceof DiscordAPIError) {
			const { UnknownMember, UnknownUser } = RESTJSONErrorCodes;
			if (error.code === UnknownMember || error.code === UnknownUser)
				return "gone";
			this.holdBack();
			const notDone = `Discord refuses: ${oneLine(error.message)}`;
			return { notDone, refused: true };
		}
		if (!(error instanceof PlatformTimeout || error instanceof PlatformFailure))
			throw error;
		this.holdBack();
		const reason = `Discord did not answer: ${error.message}`;
		return error.outcome === "unknown"
			? { inDoubt: reason }
			: { notDone: reason, refused: false };
	}

	/** Something failed that will fail again at once. */
	holdBack(): void {
		this.#hold(doubledMs(this.#failures, this.#backOffMs));
		this.#failures += 1;
	}

	#leaveRoom({ limit, remaining, resetAfterMs }: Allowance): void {
		if (remaining <= Math.floor(limit * sparedShare)) this.#hold(resetAfterMs);
	}

	#hold(ms: number): void {
		this.#freeAt = Math.max(this.#freeAt, performance.now() + ms);
	}
}

/** The guild that has this role, if it is there. */
export function guildWithRole(
	{ state, guilds }: Connection,
	roleId: string,
): Guild | undefined {
	if (!state.connected) return undefined;
	return guilds.find(
		({ available, roles }) => available && roles.cache.has(roleId),
	);
}

/** Why the bot cannot give or take one of these roles of the guild; undefined where it can. */
export function rolesFault(
	guild: Guild,
	ids: readonly string[],
): string | undefined {
	const faults = ids.map((id) => {
		const role = guild.roles.cache.get(id);
		return role
			? roleFault(guild, role)
			: `there is no role ${id} in the guild ${guild.id}`;
	});
	return cannotGiveRoles(guild) ?? faults.find((fault) => fault !== undefined);
}

/**
 * Whether a member is set apart by a chargeback: whoever is keeps the roles that they have now. Rejects with
 * StoreUnavailable where that cannot be known.
 */
export type IsRestricted = (
	id: string,
	roles: readonly string[],
) => Promise<boolean>;

export function createIsRestricted({
	config: {
		toml: { features, game },
	},
	store,
}: Pick<FeatureOptions, "config" | "store">): IsRestricted {
	const { restricted_role, chargeback } = game ?? {};
	return async (id, roles) => {
		if (!features.game) return false;
		if (restricted_role !== undefined && roles.includes(restricted_role))
			return true;
		return chargeback ? hasRestriction(store.sql, id) : false;
	};
}
