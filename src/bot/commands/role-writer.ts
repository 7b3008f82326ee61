// Role changes of features: one write at a time, which leaves a share of Discord's rate limit to tools and commands, and
// backs off after failures.

import { DiscordAPIError, type Guild, RESTJSONErrorCodes } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import {
	inBackground,
	observeRateLimit,
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
	type RateLimitState,
} from "../../discord/rest/rest.ts";
import { cannotGiveRoles, roleProblem } from "../../discord/role-hierarchy.ts";
import { oneLine } from "../../discord/text.ts";
import { doubledMs } from "../../lib/back-off.ts";
import { sleep } from "../../lib/wait.ts";
import { selectRestricted } from "../store/tables/chargebacks.ts";
import type { FeatureOptions } from "./feature.ts";

/** "gone": no longer a member. */
type WriteResult = "done" | "gone" | WriteFailure;

/** `isRefused`: requests about other members may succeed. */
export type WriteFailure = { notDone: string; isRefused: boolean } | { outcomeUnknown: string };

const reservedShare = 0.25;
const defaultBackOffMs = [1_000, 300_000] as const;

/** Leaves a share of Discord's rate limit to tools and commands. */
export class RateShare {
	#freeAt = -Infinity;

	/** Waits until it may be used. False if that would take longer than `maxMs`, or if the bot shuts down first. */
	async ready(closing: AbortSignal, maxMs = Infinity): Promise<boolean> {
		const until = performance.now() + maxMs;
		for (;;) {
			if (closing.aborted || this.#freeAt > until) return false;
			const waitMs = this.#freeAt - performance.now();
			if (waitMs <= 0) return true;
			// Rejects only when the bot closes.
			await sleep(waitMs, closing).catch(() => {});
		}
	}

	note({ limit, remaining, resetAfterMs }: RateLimitState): void {
		if (remaining <= Math.floor(limit * reservedShare)) this.pause(resetAfterMs);
	}

	pause(ms: number): void {
		this.#freeAt = Math.max(this.#freeAt, performance.now() + ms);
	}
}

export class RoleWriter {
	readonly #closing: AbortSignal;
	readonly #backOffMs: readonly [number, number];
	readonly #share = new RateShare();
	#failures = 0;

	constructor(closing: AbortSignal, backOffMs: readonly [number, number] = defaultBackOffMs) {
		this.#closing = closing;
		this.#backOffMs = backOffMs;
	}

	/** False if the bot shuts down first. */
	ready(): Promise<boolean> {
		return this.#share.ready(this.#closing);
	}

	/** Rejects only on internal errors. */
	async write(send: () => Promise<unknown>): Promise<WriteResult> {
		try {
			await observeRateLimit(
				(state) => this.#share.note(state),
				() => inBackground(send),
			);
			this.#failures = 0;
			return "done";
		} catch (error) {
			return this.#resultOf(error);
		}
	}

	#resultOf(error: unknown): WriteResult {
		if (error instanceof PlatformBusy) {
			this.#share.pause(Math.min(error.retryAfterMs, this.#backOffMs[1]));
			return { notDone: "rate limited by Discord", isRefused: false };
		}
		const { UnknownMember, UnknownUser } = RESTJSONErrorCodes;
		const code = error instanceof DiscordAPIError ? error.code : undefined;
		if (code === UnknownMember || code === UnknownUser) return "gone";
		this.#share.pause(doubledMs(this.#failures++, this.#backOffMs));
		if (error instanceof DiscordAPIError) {
			const notDone = `refused by Discord: ${oneLine(error.message)}`;
			return { notDone, isRefused: true };
		}
		if (!(error instanceof PlatformTimeout || error instanceof PlatformFailure)) throw error;
		const reason = `no answer from Discord: ${error.message}`;
		return error.outcome === "unknown" ? { outcomeUnknown: reason } : { notDone: reason, isRefused: false };
	}
}

export function failureReason(failure: WriteFailure): string {
	return "notDone" in failure ? failure.notDone : failure.outcomeUnknown;
}

/** Undefined while the guild is not connected. */
export function connectedGuild(connection: Connection, guildId: string): Guild | undefined {
	const guild = connection.guild(guildId);
	return guild?.available && (connection.state.connected || connection.isConnected(guild)) ? guild : undefined;
}

/** The guild, if the bot can give all of `ids` there. Otherwise `warn` gets the reason while the guild is connected. */
export function guildForRoles(
	connection: Connection,
	guildId: string,
	ids: readonly string[],
	warn: (reason: string) => void,
): Guild | undefined {
	const guild = connectedGuild(connection, guildId);
	const problem = guild && findRoleProblem(guild, ids);
	if (problem !== undefined) warn(problem);
	return problem === undefined ? guild : undefined;
}

function findRoleProblem(guild: Guild, ids: readonly string[]): string | undefined {
	const problems = ids.map((id) => {
		const role = guild.roles.cache.get(id);
		return role ? roleProblem(guild, role) : `there is no role ${id} in the guild ${guild.id}`;
	});
	return cannotGiveRoles(guild) ?? problems.find((problem) => problem !== undefined);
}

/** By a chargeback: roles must then not be changed. Rejects with StoreUnavailable. */
export type IsRestricted = (guildId: string, id: string, roles: readonly string[]) => Promise<boolean>;

export function createIsRestricted({
	config,
	settings,
	store,
}: Pick<FeatureOptions, "config" | "settings" | "store">): IsRestricted {
	return async (guildId, id, roles) => {
		if (!config.toml.features.game) return false;
		await settings.ready();
		const { "game.restricted_role": restricted, "game.chargeback": chargeback } = settings.of(guildId);
		if (restricted !== undefined && roles.includes(restricted)) return true;
		return chargeback && (await selectRestricted(store.sql, guildId)).has(id);
	};
}
