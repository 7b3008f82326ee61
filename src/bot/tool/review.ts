// The review of a tool call: what the call would do, shown to code outside the tool before the tool changes anything.
// Approval uses it.

import { BaseChannel, GuildMember, Role, User } from "discord.js";
import { channelName, memberName, roleName, userName } from "../../discord/describe.ts";
import type { JsonObject } from "../../lib/json.ts";
import { forModels, type Output } from "../results/result.ts";

/** For a person who has to approve the call. */
export interface Preview {
	/** The dry run; undefined if the tool has none. */
	lines: readonly string[] | undefined;
	/** The dry run, also for people. */
	shown?: Output;
	/** Without a dry run: what the ids in the arguments stand for. */
	names?: readonly string[];
	/** Equal for calls which would do the same. Default: `lines` without the current time. */
	basis: readonly string[];
	/** See `Plan`. */
	leavesOut?: boolean | undefined;
}

/** Called before anything changes. If it throws or rejects, the call ends with its error. */
export type Review = (preview: Preview) => void | Promise<void>;

const currentTime = /\bnow is \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

/** `shown`: output of the dry run. Default of `basis`: this without the current time. */
export function previewOf(shown: Output, basis?: string | readonly string[]): Preview {
	const lines = forModels(shown);
	return {
		lines,
		shown,
		basis: basis === undefined ? lines.map((line) => line.replace(currentTime, "now")) : [basis].flat(),
	};
}

/** Without a dry run. `names`: what the ids in the arguments stand for. */
export function previewOfNames(names: readonly string[], shown: Output): Preview {
	return { lines: undefined, shown, names, basis: [...names, ...forModels(shown)] };
}

export const noPreview: Preview = { lines: undefined, basis: [] };

/** Lines such as "role_id: @Staff (ID: …)". `nameOf` returns the name of an argument's object in `things`. */
export function namedIds(
	args: JsonObject,
	things: Readonly<Record<string, unknown>>,
	nameOf: (argument: string) => string,
): string[] {
	return Object.keys(args)
		.sort()
		.flatMap((key) => {
			const names = [things[nameOf(key)]].flat().flatMap((thing) => nameIn(thing) ?? []);
			return names.length > 0 ? [`${key}: ${names.join(", ")}`] : [];
		});
}

function nameIn(thing: unknown): string | undefined {
	if (thing instanceof GuildMember) return memberName(thing);
	if (thing instanceof Role) return roleName(thing);
	if (thing instanceof User) return userName(thing);
	if (thing instanceof BaseChannel)
		return "name" in thing && typeof thing.name === "string"
			? channelName({ name: thing.name, id: thing.id })
			: undefined;
	const { member, user } = Object(thing) as Record<string, unknown>;
	return member instanceof GuildMember || user instanceof User ? nameIn(member ?? user) : undefined;
}
