// What the ids in the arguments of a tool call stand for, for a person who has to approve the call.

import { BaseChannel, GuildMember, Role, User } from "discord.js";
import { channelName, memberName, roleName, userName } from "../../discord/describe.ts";
import type { JsonObject } from "../../lib/json.ts";

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
