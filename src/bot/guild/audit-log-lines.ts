// An audit log entry as one result line: action, user, target, changes, reason.
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
import { fieldLine, oneField } from "../discord/text.ts";

/** Numbers of Discord's audit log events by Discord's name, such as MEMBER_BAN_ADD. */
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

/** Function that returns the name and id of a Discord object, such as a user or a role, as text. */
type NameOf = (id: string) => string;

/**
 * Returns a function that names a Discord object by its id. It looks first among the objects that Discord sent with the
 * audit log, then in the bot's caches.
 */
export function namesIn(log: APIAuditLog, guild: Guild): NameOf {
	const names = new Map<string, string>([
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
		// The @everyone role has the guild's id.
		const role = id === guild.id ? undefined : roles.cache.get(id);
		const name =
			names.get(id) ??
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

/** Describes a whole entry of a guild's audit log in one line, without secrets such as tokens. */
export function entryLine(entry: APIAuditLogEntry, nameOf: NameOf): string {
	const { id, action_type, user_id, reason } = entry;
	const action = actionNames.get(action_type) ?? `action ${action_type}`;
	const changes = changesOf(entry, nameOf);
	return fieldLine(
		time(SnowflakeUtil.timestampFrom(id)),
		action,
		`ID: ${id}`,
		`by: ${user_id === null ? "unknown" : nameOf(user_id)}`,
		targetOf(entry, nameOf),
		changes.length > 0 && `changes: ${changes.join("; ")}`,
		...optionsOf(entry, nameOf),
		reason && `reason: ${oneField(reason)}`,
	);
}

function targetOf(entry: APIAuditLogEntry, nameOf: NameOf): string {
	const { target_id, changes = [] } = entry;
	if (!target_id) return "";
	const current = nameOf(target_id);
	// A deleted target has only its old name.
	const name = changes.find(({ key }) => key === "name")?.old_value;
	const target =
		current === named(undefined, target_id) && typeof name === "string"
			? named(cut(name), target_id)
			: current;
	return `target: ${target}`;
}

const maxChanges = 12;

interface Change {
	key: string;
	old_value?: unknown;
	new_value?: unknown;
}

function changesOf({ changes }: APIAuditLogEntry, nameOf: NameOf): string[] {
	const all = (changes ?? []) as readonly Change[];
	const texts = all
		.slice(0, maxChanges)
		.map((change) => changeOf(change, nameOf));
	const more = all.length - texts.length;
	return more > 0 ? [...texts, `and ${more} more`] : texts;
}

const permissionFields = ["permissions", "allow", "deny"];

function changeOf({ key, old_value, new_value }: Change, nameOf: NameOf) {
	if (key === "$add") return `added ${rolesIn(new_value)}`;
	if (key === "$remove") return `removed ${rolesIn(new_value)}`;
	const name = oneField(key);
	if (/token|secret|password/i.test(key)) return `${name}: changed, not shown`;
	if (permissionFields.includes(key)) {
		const [before, after] = [bitsIn(old_value), bitsIn(new_value)];
		if (before !== undefined && after !== undefined)
			return `${name}: ${bitChanges(before, after)}`;
	}
	const format = (value: unknown) => formatValue(key, value, nameOf);
	return `${name}: ${format(old_value)} → ${format(new_value)}`;
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

function formatValue(key: string, value: unknown, nameOf: NameOf): string {
	if (value === undefined || value === null || value === "") return "none";
	if (typeof value !== "string") return oneField(cut(JSON.stringify(value)));
	if (key.endsWith("_id") && /^\d{17,20}$/.test(value)) return nameOf(value);
	return `"${oneField(cut(value))}"`;
}

function optionsOf({ options = {} }: APIAuditLogEntry, nameOf: NameOf) {
	const { channel_id, message_id, id, type, role_name, ...rest } = options;
	const isRole = type === AuditLogOptionsType.Role;
	const role = id && (isRole && role_name ? named(`@${role_name}`, id) : "");
	return [
		channel_id && `in: ${nameOf(channel_id)}`,
		message_id && `message: ${message_id}`,
		id && `for: ${role || nameOf(id)}`,
		...Object.entries(rest).map(
			([key, value]) => `${oneField(key)}: ${oneField(cut(String(value)))}`,
		),
	];
}

const maxValueLength = 100;

function cut(text: string): string {
	const characters = [...text];
	return characters.length > maxValueLength
		? `${characters.slice(0, maxValueLength).join("")}…`
		: text;
}
