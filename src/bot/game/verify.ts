// Linking a Discord account to a game account: a person gets a code in the game and shows it to the bot. The plugin
// decides; the bot keeps nothing, and never logs a code.

import { escapeMarkdown } from "discord.js";
import type { Log } from "../../lib/log.ts";
import { createLimiter, type LimiterOptions } from "../commands/cooldown.ts";
import { oneLine } from "../discord/text.ts";
import { type GameClient, GameServerError } from "./client.ts";

/** So that codes cannot be guessed. */
const maxPerMinute = 5;
const minuteMs = 60_000;

export interface VerifyOptions {
	/** What a chat command begins with, for the usage. */
	command: string;
	/** Undefined while it is not configured. */
	game: GameClient | undefined;
	/** The variables that are not set. */
	missing: readonly string[];
	log: Log;
	/** Milliseconds of the monotonic clock. */
	now?: LimiterOptions["now"];
}

/** Answers a person who shows a code: with the text to reply. */
export type Verify = (chatId: string, code: string) => Promise<string>;

export function createVerify({
	command,
	game,
	missing,
	log,
	now,
}: VerifyOptions): Verify {
	const limiter = createLimiter({
		max: maxPerMinute,
		windowMs: minuteMs,
		...(now && { now }),
	});
	const inFlight = new Set<string>();

	return async (chatId, given) => {
		const code = given.trim().toUpperCase();
		if (code === "")
			return `Run /verify in the game to get a code, then write \`${command} verify <code>\` here.`;
		if (!game)
			return `Verification is not configured: ${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} not set.`;
		if (inFlight.has(chatId))
			return "Your last code is still being checked. One moment, please.";
		const { waitS } = limiter.take(chatId);
		if (waitS > 0)
			return `That was ${maxPerMinute} codes within a minute. Try again in ${waitS} s.`;
		inFlight.add(chatId);
		try {
			const answer = await game.verify(code, chatId);
			if (!answer.success)
				return (
					answer.error ?? "The game server refused the code without a reason."
				);
			return `Your account is linked to the game account ${shown(answer.account)}.`;
		} catch (error) {
			if (!(error instanceof GameServerError)) throw error;
			log.warn("could not verify a code", { reason: error.message });
			return `Could not reach the game server: ${error.message}`;
		} finally {
			inFlight.delete(chatId);
		}
	};
}

/** An account's name as it is, whatever it means in Markdown. */
function shown(account: string): string {
	const name = oneLine(account);
	return name.includes("`") ? escapeMarkdown(name) : `\`${name}\``;
}
