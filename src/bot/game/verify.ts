// Links Discord accounts to game accounts by codes that people get in the game. The plugin decides and keeps the link.
// The bot stores nothing and never logs a code.

import { escapeMarkdown } from "discord.js";
import { oneLine } from "../../discord/text.ts";
import type { Log } from "../../lib/log.ts";
import type { WindowOptions } from "../../lib/sliding-window.ts";
import { Limiter } from "../commands/cooldown.ts";
import { type GameClient, GameServerError } from "./client.ts";

/** Per user, so that nobody can find a valid code by guessing. */
const maxPerMinute = 5;
const minuteMs = 60_000;

export interface VerifyOptions {
	/** Prefix of the bot's chat commands, shown in usage messages. */
	command: string;
	/** Client of the game server's HTTP API; undefined if the game server is not configured. */
	game: GameClient | undefined;
	/** Names of the required environment variables that are not set. */
	missing: readonly string[];
	log: Log;
	/** Returns the time of a monotonic clock in milliseconds. */
	now?: WindowOptions["now"];
}

/** Redeems a code from the game for the Discord user `chatId`. Resolves with the reply to the user. */
export type Verify = (chatId: string, code: string) => Promise<string>;

export function createVerify({ command, game, missing, log, now }: VerifyOptions): Verify {
	const limiter = new Limiter({ max: maxPerMinute, windowMs: minuteMs, ...(now && { now }) });
	const inFlight = new Set<string>();

	return async (chatId, text) => {
		const code = text.trim().toUpperCase();
		if (code === "") return `Run /verify in the game to get a code, then write \`${command} verify <code>\` here.`;
		if (!game)
			return `Verification is not configured: ${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} not set.`;
		if (inFlight.has(chatId)) return "Your last code is still being checked. Please wait a moment.";
		const { waitS } = limiter.take(chatId);
		if (waitS > 0) return `That was ${maxPerMinute} codes within a minute. Try again in ${waitS} s.`;
		inFlight.add(chatId);
		try {
			const result = await game.verify(code, chatId);
			if (!result.success) return result.error ?? "The game server refused the code without a reason.";
			return `Your account is linked to the game account ${formatAccount(result.account)}.`;
		} catch (error) {
			if (!(error instanceof GameServerError)) throw error;
			log.warn("could not check a verification code with the game server", { reason: error.message });
			return `Could not reach the game server: ${error.message}`;
		} finally {
			inFlight.delete(chatId);
		}
	};
}

/** Formats the name of a game account so that Discord shows it literally, without interpreting Markdown. */
function formatAccount(account: string): string {
	const name = oneLine(account);
	return name.includes("`") ? escapeMarkdown(name) : `\`${name}\``;
}
