// `verify`: a code from the game. It is also a slash command: its answer is seen by nobody else.

import type { Command } from "../commands/commands.ts";
import { createLimiter } from "../commands/cooldown.ts";
import type { Verify } from "./verify.ts";

export function verifyCommand(verify: Verify): Command {
	return {
		name: "verify",
		usage: "<code>",
		description:
			"links your game account with a code that /verify in the game gives you",
		// Codes are limited more strictly, and apart from what else people ask.
		limiter: createLimiter({ max: 10, windowMs: 10_000 }),
		secret: true,
		slash: { name: "verify", run: verify },
		run: ({ member }, rest) => verify(member.id, rest),
	};
}
