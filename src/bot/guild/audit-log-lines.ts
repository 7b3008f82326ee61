// An entry of a guild's audit log as one line of a result: who did what to what, what changed, and why.
// https://discord.com/developers/docs/resources/audit-log

import {
	type APIAuditLog,
	type APIAuditLogEntry,
	AuditLogEvent,
	AuditLogOptionsType,
	type Guild,
	SnowflakeUtil,
} from "discord.js";
import { time } from "../discord/describe.ts";
import { describeBits, officialName } from "../discord/permissions.ts";
import { oneField } from "../discord/text.ts";

/** Discord's names of what can be done, such as MEMBER_BAN_ADD. */
export const auditActions: ReadonlyMap<string, AuditLogEvent> = new Map(
	Object.entries(AuditLogEvent)
		.filter((entry): entry is [string, AuditLogEvent] =>
			Number.isInteger(entry[1]),
		)
		.map(([name, action]) => [officialName(name), action]),
);

const actionNames = new Map(
	[...auditActions].map(([name, action]) => [action, name]),
);

/** What is called by an id in this log, by name and id. */
type NameOf = (id: string) => string;

/** Names things by what came with the log, and else by what the bot knows. */
export function namesIn(log: APIAuditLog, guild: Guild): NameOf {
	const called = new Map<string, string>([
		...log.users.map(({ id, username }) => [id, `@${username}`] as const),
		...log.webhooks.map(({ id, name }) => [id, name ?? "webhook"] as const),
		...log.threads.map(({ id, name }) => [id, `#${name}`] as const),
		...[
			...log.auto_moderation_rules,
			...log.guild_scheduled_events,
			...log.integrations,
			...log.application_commands,
		].map(({ id, name }) => [id, name] as const),
	]);
	const { channels, roles, emojis, client } = guild;
	return (id) => {
		const user = client.users.cache.get(id);
		const channel = channels.cache.get(id);
		// Everyone's role has the guild's id.
		const role = id === guild.id ? undefined : roles.cache.get(id);
		const name =
			called.get(id) ??
			(user && `@${user.username}`) ??
			(channel && `#${channel.name}`) ??
			(role && `@${role.name}`) ??
			(id === guild.id ? guild.name : emojis.cache.get(id)?.name);
		return named(name, id);
	};
}

function named(name: string | null | undefined, id: string): string {
	return name ? `${oneField(name)} (ID: ${id})` : `ID: ${id}`;
}

/** The whole entry, without anything that could be used to act as somebody else. */
export function entryLine(entry: APIAuditLogEntry, nameOf: NameOf): string {
	const { id, action_type, user_id, reason } = entry;
	const action = actionNames.get(action_type) ?? `action ${action_type}`;
	const changes = changesOf(entry, nameOf);
	return [
		time(SnowflakeUtil.timestampFrom(id)),
		action,
		`ID: ${id}`,
		`by: ${user_id === null ? "unknown" : nameOf(user_id)}`,
		...targetOf(entry, nameOf),
		...(changes.length > 0 ? [`changes: ${changes.join("; ")}`] : []),
		...optionsOf(entry, nameOf),
		...(reason ? [`reason: ${oneField(reason)}`] : []),
	].join(" | ");
}

function targetOf(entry: APIAuditLogEntry, nameOf: NameOf): string[] {
	const { target_id, changes = [] } = entry;
	if (!target_id) return [];
	const known = nameOf(target_id);
	// What is gone is called as it was.
	const name = changes.find(({ key }) => key === "name")?.old_value;
	const shown =
		known === named(undefined, target_id) && typeof name === "string"
			? named(cut(name), target_id)
			: known;
	return [`target: ${shown}`];
}

const mostChanges = 12;

interface Change {
	key: string;
	old_value?: unknown;
	new_value?: unknown;
}

function changesOf({ changes }: APIAuditLogEntry, nameOf: NameOf): string[] {
	const all = (changes ?? []) as readonly Change[];
	const shown = all.slice(0, mostChanges).map((one) => changeOf(one, nameOf));
	const more = all.length - shown.length;
	return more > 0 ? [...shown, `and ${more} more`] : shown;
}

const bitFields = ["permissions", "allow", "deny"];

function changeOf({ key, old_value, new_value }: Change, nameOf: NameOf) {
	if (key === "$add") return `added ${rolesIn(new_value)}`;
	if (key === "$remove") return `removed ${rolesIn(new_value)}`;
	const name = oneField(key);
	if (/token|secret|password/i.test(key)) return `${name}: changed, not shown`;
	if (bitFields.includes(key)) {
		const [before, after] = [bitsIn(old_value), bitsIn(new_value)];
		if (before !== undefined && after !== undefined)
			return `${name}: ${bitChanges(before, after)}`;
	}
	const show = (value: unknown) => textOf(key, value, nameOf);
	return `${name}: ${show(old_value)} → ${show(new_value)}`;
}

function bitsIn(value: unknown): bigint | undefined {
	if (value === undefined || value === null) return 0n;
	return /^\d{1,20}$/.test(String(value)) ? BigInt(String(value)) : undefined;
}

function bitChanges(before: bigint, after: bigint): string {
	return `gained ${describeBits(after & ~before)}, lost ${describeBits(before & ~after)}`;
}

function rolesIn(value: unknown): string {
	const roles = Array.isArray(value) ? value : [];
	return roles
		.map(({ id, name }) => named(`@${String(name)}`, oneField(String(id))))
		.join(", ");
}

function textOf(key: string, value: unknown, nameOf: NameOf): string {
	if (value === undefined || value === null || value === "") return "none";
	if (typeof value !== "string") return oneField(cut(JSON.stringify(value)));
	if (key.endsWith("_id") && /^\d{17,20}$/.test(value)) return nameOf(value);
	return `"${oneField(cut(value))}"`;
}

function optionsOf(
	{ options = {} }: APIAuditLogEntry,
	nameOf: NameOf,
): string[] {
	const { channel_id, message_id, id, type, role_name, ...rest } = options;
	const isRole = type === AuditLogOptionsType.Role;
	const whom = id && (isRole && role_name ? named(`@${role_name}`, id) : "");
	return [
		...(channel_id ? [`in: ${nameOf(channel_id)}`] : []),
		...(message_id ? [`message: ${message_id}`] : []),
		...(id ? [`for: ${whom || nameOf(id)}`] : []),
		...Object.entries(rest).map(
			([key, value]) => `${oneField(key)}: ${oneField(cut(String(value)))}`,
		),
	];
}

const mostCharacters = 100;

function cut(text: string): string {
	const characters = [...text];
	return characters.length > mostCharacters
		? `${characters.slice(0, mostCharacters).join("")}…`
		: text;
}
