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

	// Chat

	// Game server: accounts, donators, chargebacks

	// Approvals and the audit channel

	// Rights and what could not be found

	// Pages
} as const satisfies Record<string, Message>;
