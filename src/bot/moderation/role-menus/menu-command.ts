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
		kind: "role",
		argument: "role_ids",
		several: true,
		required: index === 0,
	}),
);

export const roleMenuAction: Action = {
	name: menuPrefix,
	tool: "create_role_menu",
	permission: "ManageRoles",
	here: "channel_id",
	chat: false,
	options: [
		...roleOptions,
		{ name: "title", kind: "text", argument: "title", max: 256 },
		{ name: "text", kind: "text", argument: "content", max: maxContent },
		{ name: "max", kind: "integer", argument: "max", min: 1, max: maxRoles },
		{ name: "requires", kind: "role", argument: "requires_role_id" },
		{ name: "style", kind: "choice", argument: "style", choices: ["buttons", "select"] },
		{ name: "labels", kind: "text", argument: "labels", convert: split(/,/) },
		{ name: "emojis", kind: "text", argument: "emojis", convert: split(/\s+/) },
		{ name: "replace", kind: "message", argument: "message_id" },
	],
};
