// English: the language in which every message exists. How keys are named: README.md in this folder.

import type { Message } from "./message.ts";

export const en = {
	"count.messages": { one: "{count} message", other: "{count} messages" },
	"count.people": { one: "{count} person", other: "{count} people" },
	"error.internal": "Internal error. The bot's log has the details.",
	"error.failed": "It failed. The bot's log may have the details.",
	"error.database": "The bot's database is unavailable at the moment. Nothing was stored. Try again in a minute.",
	"error.database.unconfirmed":
		"The bot's database did not confirm this, so it is not known whether it was stored. Check before you repeat it.",

	// Commands: names and descriptions

	// Commands: answers

	// Results of moderation, for people

	// Cases, the moderation log and direct messages

	// Reports

	// Spam

	// Raid mode

	// Role menus
	"menu.content": "Choose your roles:",
	"menu.one.placeholder": "Select a role",
	"menu.some.placeholder": { one: "Select up to {count} role", other: "Select up to {count} roles" },
	"menu.all.placeholder": "Select all the roles that you want",
	"menu.added": "Added {roles}.",
	"menu.taken": "Removed {roles}.",
	"menu.unchanged": "Nothing changed.",
	"menu.now": "Your roles from this menu: {roles}.",
	"menu.now.none": "You have no role from this menu.",
	"menu.full": {
		one: "You can have at most {count} of these roles, and you have {roles}. Remove it first. Nothing was done.",
		other: "You can have at most {count} of these roles, and you have {roles}. Remove one first. Nothing was done.",
	},
	"menu.required": "Only people with the role {role} can use this menu. Nothing was done.",
	"menu.required.deleted":
		"The role that this menu requires was deleted. A moderator has to update the menu. Nothing was done.",
	"menu.removed": "The role {role} is no longer in this menu. Nothing was done.",
	"menu.deleted": "This role was deleted. Nothing was done.",
	"menu.powerless": "The bot lacks the permission Manage Roles. Tell a moderator. Nothing was done.",
	"menu.unfit": "The role {role} {problem}, so this menu cannot give or remove it. Nothing was done.",
	"menu.unfit.everyone": "is the role of all members",
	"menu.unfit.managed": "is managed by Discord",
	"menu.unfit.rank": "does not rank below the bot's highest role",
	"menu.unfit.setting": "is in the setting {setting} of this bot",
	"menu.unfit.powers": "gives permissions of moderators ({permissions})",
	"menu.unfit.powers.channel": "gives permissions of moderators in the channel {channel} ({permissions})",
	"menu.refused": "{role} {problem}, so it cannot be in a role menu. Nothing was done.",
	"menu.busy": "Many people are choosing roles at the moment. Nothing was done; try again in a minute.",
	"menu.busy.own": "Your earlier choices are still being carried out. Nothing was done; try again when they are.",
	"menu.unsettled":
		"Discord has not answered your last choice, so it may still be carried out. Nothing was done; try again in a minute.",
	"menu.restarting": "The bot is restarting. Nothing was done; try again in a minute.",
	"menu.unavailable": "The bot has not loaded this server yet. Nothing was done; try again in a minute.",
	"menu.restricted": "Your roles are restricted at the moment. Nothing was done.",
	"menu.unknown": "This is not a role menu. Nothing was done.",

	// Join role, auto role, welcome
	"welcome.greeting": "Welcome, {user}!",
	"welcome.summary": { one: "… and {count} other. Welcome!", other: "… and {count} others. Welcome!" },

	// Chat
	"chat.empty": "What would you like to know? Write it in the same message as my name. I can read text only.",
	"chat.rate-limited": "That was {max} questions within a minute. Give me a moment, please.",
	"chat.busy": "I am answering as many people as I can. Please ask me again in a minute.",
	"chat.restart": "I am being restarted. Please ask me again in a minute.",
	"chat.restart.partial": "I am being restarted: the answer ends here.",
	"chat.timeout": "That took too long. Please ask me again.",
	"chat.timeout.partial": "That took too long: the answer ends here.",
	"chat.length": "The answer became too long, and ends here.",
	"chat.no-answer": "I have no answer to that.",
	"chat.internal": "Something went wrong on my side. Please ask me again later.",
	"chat.ai.none": "I cannot answer: no AI provider is configured.",
	"chat.ai.busy": "I am answering too many people at once. Please try again in a moment.",
	"chat.ai.key": "I cannot answer: my AI provider does not accept my key. Please tell the people who run this bot.",
	"chat.ai.limited": "My AI provider is limiting my requests at the moment. Please try again {when}.",
	"chat.ai.refused": "My AI provider does not want to answer this.",
	"chat.ai.rejected":
		"My AI provider rejected this request. It may be too long; if it is not, please tell the people who run this bot.",
	"chat.ai.unavailable": "My AI provider cannot be reached at the moment. Please try again later.",
	"chat.ai.timeout": "My AI provider took too long. Please try again later.",
	"chat.ai.cut": "My AI provider closed the connection. Please try again.",
	"chat.ai.nonsense": "My AI provider sent an invalid response. Please try again later.",
	"chat.ai.midway": "The answer broke off here. {why}",
	"chat.when.later": "later",
	"chat.when.seconds": { one: "in a second", other: "in {count} seconds" },
	"chat.when.minutes": { one: "in a minute", other: "in {count} minutes" },

	// Game server: accounts, donators, chargebacks

	// Approvals and the audit channel

	// Rights and what could not be found

	// Pages
} as const satisfies Record<string, Message>;
