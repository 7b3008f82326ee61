// `verify`: links a game account by a code from the game. As a slash command, its reply is ephemeral.

import type { Command } from "../commands/commands.ts";
import { Limiter } from "../commands/cooldown.ts";
import type { Verify } from "./verify.ts";

/** Name of the slash command. If the configuration turns it off, the bot deletes it from Discord by this name. */
export const verifySlashName = "verify";

export function verifyCommand(verify: Verify, prefix: string, hasSlash: boolean): Command {
	return {
		name: "verify",
		usage: "<code>",
		// A cooldown of its own, so that codes do not use up that of other commands. `verify` itself is stricter.
		limiter: new Limiter({ max: 10, windowMs: 10_000 }),
		secret: true,
		isVerbatim: true,
		...(hasSlash && {
			slash: {
				name: verifySlashName,
				option: "code",
				run: (userId, rest, locale) => verify(userId, rest, `/${verifySlashName} <code>`, locale),
			},
		}),
		run: ({ guild, member }, rest) => verify(member.id, rest, `${prefix} verify <code>`, guild.preferredLocale),
	};
}
