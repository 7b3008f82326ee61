// Links Discord accounts to game accounts by codes that people get in the game. The plugin decides and keeps the link.
// The bot stores nothing and never logs a code.

import { escapeMarkdown } from "discord.js";
import { oneLine } from "../../discord/text.ts";
import type { Log } from "../../lib/log.ts";
import type { WindowOptions } from "../../lib/sliding-window.ts";
import { sayIn } from "../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../commands/answer.ts";
import type { Command } from "../commands/commands.ts";
import { Limiter } from "../commands/cooldown.ts";
import type { MenuHandler } from "../commands/feature.ts";
import { sendablePieces } from "../messages/split-message.ts";
import { type GameClient, GameServerError } from "./client.ts";

/** Per user, so that nobody can find a valid code by guessing. */
const maxPerMinute = 5;
const minuteMs = 60_000;

interface VerifyOptions {
	game: GameClient | undefined;
	missing: readonly string[];
	log: Log;
	now?: WindowOptions["now"];
}

/** `usage`: what the user has to write. Resolves with the reply to the user. */
type Verify = (chatId: string, code: string, usage: string, locale: string) => Promise<string>;

export function createVerify({ game, missing, log, now }: VerifyOptions): Verify {
	const limiter = new Limiter({ max: maxPerMinute, windowMs: minuteMs, ...(now && { now }) });
	const inFlight = new Set<string>();

	return async (chatId, text, usage, locale) => {
		const say = sayIn(locale);
		const code = text.trim().toUpperCase();
		if (code === "") return say("verify.usage", { usage: `\`${usage}\`` });
		if (!game) return say("verify.off", { settings: missing.join(", ") });
		if (inFlight.has(chatId)) return say("verify.busy");
		const { waitS } = limiter.take(chatId);
		if (waitS > 0) return say("verify.rate-limited", { max: maxPerMinute, count: waitS });
		inFlight.add(chatId);
		try {
			const result = await game.verify(code, chatId);
			if (!result.success) return result.error ?? say("verify.refused");
			return say("verify.done", { account: formatAccount(result.account) });
		} catch (error) {
			if (!(error instanceof GameServerError)) throw error;
			log.warn("could not check a verification code with the game server", { reason: error.message });
			return say("verify.unreachable", { why: error.said });
		} finally {
			inFlight.delete(chatId);
		}
	};
}

/** Name of the slash command. If the configuration turns it off, the bot deletes it from Discord by this name. */
export const verifySlashName = "verify";

/** As a slash command, its reply is ephemeral. */
export function verifyCommands(verify: Verify, prefix: string, hasSlash: boolean) {
	// A cooldown of its own, so that codes do not use up that of other commands. `verify` itself is stricter.
	const limiter = new Limiter({ max: 10, windowMs: 10_000 });
	const command: Command = {
		name: "verify",
		usage: "<code>",
		limiter,
		secret: true,
		isVerbatim: true,
		run: ({ guild, member }, rest) => verify(member.id, rest, `${prefix} verify <code>`, guild.preferredLocale),
	};
	const menu: MenuHandler = {
		type: "slash",
		name: verifySlashName,
		inDms: true,
		options: [{ name: "code", kind: "text" }],
		async run(interaction) {
			const { guildId, user, locale, options } = interaction;
			await deferPrivately(interaction);
			limiter.require(`${guildId ?? ""} ${user.id}`);
			const code = options.getString("code") ?? "";
			const text = await verify(user.id, code, `/${verifySlashName} <code>`, locale);
			await answerPrivately(interaction, text, sendablePieces(text));
		},
	};
	return { commands: [command], menus: hasSlash ? [menu] : [] };
}

function formatAccount(account: string): string {
	const name = oneLine(account);
	return name.includes("`") ? escapeMarkdown(name) : `\`${name}\``;
}
