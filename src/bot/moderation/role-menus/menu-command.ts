// The command /rolemenu, which calls the tool create_role_menu.

import * as v from "valibot";
import { maxRoles, menuPrefix } from "../../../discord/role-menu.ts";
import { inlineText } from "../../../discord/text.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said } from "../../../texts/texts.ts";
import type { Action, ActionOption } from "../../commands/action.ts";
import { innerEmoji } from "../../messages/emoji.ts";
import { maxContent } from "./menu-tool.ts";

/** Number of roles that the command /rolemenu accepts. Discord allows at most 25 options in a command. */
const commandRoles = 14;

const split = (separator: RegExp) => (value: unknown) =>
	String(value)
		.split(separator)
		.map((item) => item.trim())
		.map((item) => (item === "-" ? "" : item));

/** What slash commands cannot check: one label and emoji for each role. */
function complete(args: JsonObject): JsonObject {
	const count = [args.role_ids].flat().length;
	for (const name of ["labels", "emojis"] as const) {
		const given = args[name] as readonly string[] | undefined;
		if (given && given.length !== count) throw new SaidError(said(`menu.${name}`, { count, given: given.length }));
	}
	const wrong = [args.emojis ?? []].flat().find((one) => one !== "" && !v.is(innerEmoji, one));
	if (wrong !== undefined) throw new SaidError(said("menu.no_emoji", { text: inlineText(String(wrong), 100) }));
	return args;
}

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
	complete,
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
