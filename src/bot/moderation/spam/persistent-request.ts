// Retries a request that can be repeated without harm, such as the deletion of a message, until Discord accepts or
// refuses it.

import { setTimeout as sleep } from "node:timers/promises";
import { DiscordAPIError, type Guild } from "discord.js";
import type { Connection } from "../../../discord/connection/connection.ts";
import { withTitles } from "../../../discord/permissions.ts";
import { saidProblem } from "../../../discord/rest/errors.ts";
import { PlatformBusy } from "../../../discord/rest/rest.ts";
import { backOffMs } from "../../../lib/back-off.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { type Said, said } from "../../../texts/texts.ts";

const maxAttempts = 8;
const defaultBackOffMs = [250, 15_000] as const;

/** Thrown by a request that cannot succeed, to stop retries. */
export class Impossible extends SaidError {}

export interface PersistentOptions {
	/** A running request is not cancelled. */
	closing: AbortSignal;
	backOffMs?: readonly [number, number] | undefined;
}

/** "done": also if there was nothing to do. "stopped": the bot is shutting down, and the outcome is unknown. */
export type RequestEnd = "done" | "stopped" | { failure: Said };

/** `gone`: Discord's error codes which mean that there is nothing to do. Never rejects. */
export async function persistently(
	send: () => Promise<unknown>,
	gone: readonly number[],
	{ closing, backOffMs: range = defaultBackOffMs }: PersistentOptions,
): Promise<RequestEnd> {
	let failures = 0;
	for (;;) {
		if (closing.aborted) return "stopped";
		try {
			await send();
			return "done";
		} catch (error) {
			if (error instanceof DiscordAPIError && gone.includes(Number(error.code))) return "done";
			const isRefused = error instanceof DiscordAPIError && error.status < 500;
			if (isRefused || error instanceof Impossible) return { failure: reasonOf(error) };
			if (!(error instanceof PlatformBusy)) failures += 1;
			if (failures >= maxAttempts) return { failure: reasonOf(error) };
			const waitMs = error instanceof PlatformBusy ? error.retryAfterMs : backOffMs(failures - 1, range);
			await sleep(waitMs, undefined, { signal: closing }).catch(() => {});
		}
	}
}

function reasonOf(error: unknown): Said {
	return error instanceof Impossible ? withTitles(error.said) : (saidProblem(error) ?? said("why.internal"));
}

/** Throws an error after which the request is retried, if the guild is unavailable. */
export function requireGuild(connection: Connection, guildId: string): Guild {
	const guild = connection.discord.guilds.cache.get(guildId);
	if (guild?.available) return guild;
	throw new SaidError(said("why.unavailable"));
}
