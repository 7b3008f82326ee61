// Signing in to the gateway's console with Discord. Discord redirects the person to the same callback as for clients; the
// console then begins a session of its own.

import type { DiscordPerson } from "../people/discord.ts";
import { guildsOf } from "../people/rights.ts";
import { beginSignIn, type OAuthContext } from "./context.ts";

export type ConsoleSignIn = ReturnType<typeof createConsoleSignIn>;

export function createConsoleSignIn(context: OAuthContext) {
	const { attempts, browsers } = context;
	return {
		/** The URL at Discord, and the cookie that ties it to the browser. Rejects with an OAuthError if too many begin. */
		begin: (request: Request, address: string) => beginSignIn(context, request, address),
		/** Only once; undefined without a sign-in. Rejects with an OAuthError if no guild allows the person to sign in. */
		async finish(request: Request): Promise<DiscordPerson | undefined> {
			const browser = browsers.secretOf(request);
			const person = browser && (await attempts.visitor(browser));
			if (!browser || !person) return undefined;
			await guildsOf(person, context, "refused a sign-in to the console: no guild allows it");
			// The console now has its own session. Without this, the browser could begin another one without Discord.
			await attempts.leave(browser);
			return person;
		},
	};
}
