// The command /rolemenu, which calls the tool create_role_menu.

import type { Action, ActionOption } from "../../commands/action.ts";
import { maxRoles, menuPrefix } from "./menu.ts";
import { maxContent } from "./menu-tool.ts";

/** Number of roles that the command /rolemenu accepts. Discord allows at most 25 options in a command. */
const commandRoles = 14;

const split = (separator: RegExp) => (value: unknown) =>
	String(value)
		.split(separator)
		.map((item) => item.trim())
		.map((item) => (item === "-" ? "" : item));

const roleOptions = Array.from(
	{ length: commandRoles },
	(_, index): ActionOption => ({
		name: `role${index + 1}`,
		description: `Role ${index + 1} of the menu`,
		kind: "role",
		argument: "role_ids",
		several: true,
		required: index === 0,
	}),
);

export const roleMenuAction: Action = {
	name: menuPrefix,
	description: "Post a menu with which members give themselves roles",
	tool: "create_role_menu",
	permission: "ManageRoles",
	here: "channel_id",
	chat: false,
	options: [
		...roleOptions,
		{ name: "title", description: "Title of the menu", kind: "text", argument: "title", max: 256 },
		{ name: "text", description: "Text above the menu", kind: "text", argument: "content", max: maxContent },
		{
			name: "max",
			description: "How many of the roles a person may have; with 1, a choice replaces the last one",
			kind: "integer",
			argument: "max",
			min: 1,
			max: maxRoles,
		},
		{
			name: "requires",
			description: "Only people with this role can use the menu",
			kind: "role",
			argument: "requires_role_id",
		},
		{
			name: "style",
			description: "Buttons (default) or a select menu",
			kind: "choice",
			argument: "style",
			choices: [
				{ name: "Buttons", value: "buttons" },
				{ name: "Select menu", value: "select" },
			],
		},
		{
			name: "labels",
			description: "Labels in the order of the roles, separated by commas; default: their names",
			kind: "text",
			argument: "labels",
			convert: split(/,/),
		},
		{
			name: "emojis",
			description: 'Emoji in the order of the roles, separated by spaces; "-" for none',
			kind: "text",
			argument: "emojis",
			convert: split(/\s+/),
		},
		{
			name: "replace",
			description: "Link or id of a menu in this channel that is replaced",
			kind: "message",
			argument: "message_id",
		},
	],
};
