// English: the language in which every message exists. How keys are named: README.md in this folder.

import type { Message } from "./message.ts";

export const en = {
	"count.messages": { one: "{count} message", other: "{count} messages" },
	"count.people": { one: "{count} person", other: "{count} people" },
	"error.internal": "Internal error. The bot's log has the details.",
	"error.failed": "It failed. The bot's log may have the details.",

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
} as const satisfies Record<string, Message>;
