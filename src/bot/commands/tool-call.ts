// Turns the values that a person gave for an action into a tool call.

import { auditReason } from "../../discord/text.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { PersonCall } from "../tool/call-as.ts";
import type { Action, ActionOption, OptionValue } from "./action.ts";
import { requireDuration } from "./durations.ts";

/** Called instead of `Action.tool` in a thread. */
export const threadTool = "edit_thread";

/** By option name; absent if not given. */
export type Values = ReadonlyMap<string, readonly OptionValue[]>;

/** Where and when the command was used. */
export interface CommandPlace {
	channelId: string;
	at: number;
	isThread(channelId: string): boolean;
}

export function toToolCall(
	action: Action,
	values: Values,
	{ channelId, at, isThread }: CommandPlace,
): Pick<PersonCall, "tool" | "args"> {
	const args: JsonObject = { ...action.fixed };
	for (const option of action.options) {
		const given = values.get(option.name) ?? [];
		const converted = given.map((value) => convert(option, value));
		if (converted.length > 0) args[option.argument] = option.several ? converted : converted[0];
	}
	const { here, options, tool } = action;
	const isList = options.some(({ argument, several }) => argument === here && several);
	if (here !== undefined && args[here] === undefined) args[here] = isList ? [channelId] : channelId;
	const [thread, ...others] = here === undefined ? [] : [args[here]].flat().map(String);
	if (action.inThread && thread !== undefined && others.length === 0 && isThread(thread))
		return { tool: threadTool, args: { ...action.inThread(args), thread_id: thread } };
	const byName = Object.fromEntries([...values].map(([name, all]) => [name, all.length > 1 ? all : all[0]]));
	return { tool: typeof tool === "string" ? tool : tool(byName), args: action.complete?.(args, at) ?? args };
}

function convert(option: ActionOption, value: OptionValue): unknown {
	const { kind, convert = (same) => same } = option;
	if (kind === "duration") return convert(requireDuration(option, String(value)));
	// Shortens the reason, because tools refuse reasons that are too long.
	return kind === "reason" ? auditReason(String(value)) : convert(value);
}
