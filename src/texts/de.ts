// German, as Discord's own client writes it: informal, "Server", "Nachricht", "Timeout", "Bann".

import type { en } from "./en.ts";
import type { Translation } from "./message.ts";

export const de = {
	"count.messages": { one: "{count} Nachricht", other: "{count} Nachrichten" },
	"count.people": { one: "{count} Person", other: "{count} Personen" },
	"error.internal": "Interner Fehler. Einzelheiten stehen im Log des Bots.",
	"error.failed": "Das ist fehlgeschlagen. Das Log des Bots kennt vielleicht die Ursache.",

	// Commands: names and descriptions

	// Commands: answers

	// Results of moderation, for people

	// Cases, the moderation log and direct messages

	// Reports

	// Spam

	// Raid mode

	// Role menus

	// Join role, auto role, welcome

	// Chat

	// Game server: accounts, donators, chargebacks

	// Approvals and the audit channel

	// Rights and what could not be found

	// Pages
} as const;

de satisfies Translation<typeof de, typeof en>;
