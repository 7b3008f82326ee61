// `verify`: links a game account by a code from the game. As a slash command, its reply is ephemeral.

import type { Command } from "../commands/commands.ts";
import { Limiter } from "../commands/cooldown.ts";
import type { Verify } from "./verify.ts";

export function verifyCommand(verify: Verify): Command {
	return {
		name: "verify",
		usage: "<code>",
		description:
			"links your game account with a code that /verify in the game gives you",
		// A cooldown of its own, so that codes do not use up that of other commands. `verify` itself is stricter.
		limiter: new Limiter({ max: 10, windowMs: 10_000 }),
		secret: true,
		slash: { name: "verify", run: verify },
		run: ({ member }, rest) => verify(member.id, rest),
	};
}
