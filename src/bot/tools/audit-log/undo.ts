// The tool call that would undo what entries of Discord's audit log record, as text for results.
// test/bot/tools/audit-log.test.ts compares the names of tools and arguments with the tools that there are.

import { type APIAuditLogEntry, AuditLogEvent, type Guild, OverwriteType } from "discord.js";
import { permissionNames } from "../../../discord/permissions.ts";
import { lengthOf, oneField } from "../../../discord/text.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import { durationAsArgument } from "../../tool/arguments/durations.ts";
import { bitsOf, type Change, changesOf, channelKind, colorText } from "./changes.ts";

/** A tool and its arguments. */
type Call = Readonly<Record<string, string>>;

const maxTextLength = 200;

/** Names of arguments, by the keys of Discord's audit log. */
type Arguments = Readonly<Record<string, string>>;

const sameNames = (...keys: string[]): Arguments => Object.fromEntries(keys.map((key) => [key, key]));

const channelArguments: Arguments = {
	...sameNames("name", "topic", "nsfw", "bitrate", "user_limit"),
	rate_limit_per_user: "slowmode",
	parent_id: "category_id",
};

const roleArguments = sameNames("name", "color", "hoist", "mentionable");

const threadArguments: Arguments = {
	...sameNames("name", "archived", "locked", "invitable"),
	rate_limit_per_user: "slowmode",
	auto_archive_duration: "auto_archive",
};

const guildArguments = sameNames(
	"name",
	"description",
	"afk_channel_id",
	"afk_timeout",
	"system_channel_id",
	"rules_channel_id",
	"public_updates_channel_id",
	"safety_alerts_channel_id",
	"preferred_locale",
	"premium_progress_bar_enabled",
);

const listArguments: Arguments = {
	unban: "user_ids",
	ban: "user_ids",
	kick: "user_ids",
	remove_timeout: "user_ids",
	bulk_role_update: "user_ids",
	delete_invite: "invite_codes",
	delete_webhook: "webhook_ids",
	set_channel_permissions: "channel_ids",
};

/**
 * Returns the tool call that would undo the actions in these audit log entries, such as "unban user_id=…"; undefined if
 * no tool can. In the call, "each" stands for a value that differs from object to object, and "these" for the ids of
 * all objects.
 */
export function undoOf(entries: readonly APIAuditLogEntry[], guild: Guild): string | undefined {
	const all = merged(entries).flatMap((entry) => callsFor(entry, guild));
	const [first] = all;
	if (!first || !all.every(({ tool, action }) => tool === first.tool && action === first.action)) return undefined;
	const keys = [...new Set(all.flatMap(Object.keys))].filter((key) => key !== "tool");
	const differing = keys.filter((key) => new Set(all.map((call) => call[key])).size > 1);
	// One call takes all of them only if they differ in nothing else.
	const takesAll = differing.length === 1 && differing[0] === listArguments[first.tool ?? ""];
	const shown = keys.map((key) => {
		if (!differing.includes(key)) return `${key}=${first[key]}`;
		return `${key}=${takesAll ? "these" : "each"}`;
	});
	return [first.tool, ...shown].join(" ");
}

function merged(entries: readonly APIAuditLogEntry[]): APIAuditLogEntry[] {
	const byObject = new Map<string, APIAuditLogEntry>();
	for (const entry of entries) {
		const { target_id, options, id } = entry;
		// Invites have no id. Each is created only once.
		const key = `${target_id ?? id} ${options?.id} ${options?.message_id}`;
		const newer = byObject.get(key);
		const changes = [...(newer ? changesOf(newer) : [])];
		for (const change of changesOf(entry)) {
			const index = changes.findIndex(({ key }) => key === change.key && !key.startsWith("$"));
			const { key, old_value } = change;
			if (index < 0) changes.push(change);
			else changes[index] = { key, old_value, new_value: changes[index]?.new_value };
		}
		byObject.set(key, { ...entry, changes: changes as NonNullable<APIAuditLogEntry["changes"]> });
	}
	return [...byObject.values()];
}

/**
 * Returns the tool calls that would undo the action in an audit log entry: at most one, or one for each role that a
 * member got or lost.
 */
function callsFor(entry: APIAuditLogEntry, guild: Guild): Call[] {
	return entry.action_type === AuditLogEvent.MemberRoleUpdate
		? restoreRoles(entry.target_id ?? "", changesOf(entry))
		: [callFor(entry, guild) ?? []].flat();
}

function callFor(entry: APIAuditLogEntry, guild: Guild): Call | undefined {
	const { target_id, action_type, options } = entry;
	const id = target_id ?? "";
	const changes = changesOf(entry);
	const edit = (tool: string, key: string, names: Arguments) => {
		const args = oldValues(changes, names);
		// A change of the access has an entry of its own.
		if (args.category_id) args.lock_permissions = "false";
		return unlessEmpty({ tool, [key]: id }, args);
	};
	const many = (tool: string, key: string) => ({ tool, [key]: `[${id}]` });
	const one = (tool: string, key: string) => ({ tool, [key]: id });
	switch (action_type) {
		case AuditLogEvent.GuildUpdate:
			return unlessEmpty({ tool: "edit_guild" }, oldValues(changes, guildArguments));
		case AuditLogEvent.ChannelCreate:
			return visibleChannel(guild, id) ? one("delete_channel", "channel_id") : undefined;
		case AuditLogEvent.ChannelUpdate:
			return edit("edit_channel", "channel_id", channelArguments);
		case AuditLogEvent.ChannelDelete:
			return createChannel(changes, guild);
		case AuditLogEvent.ChannelOverwriteCreate:
		case AuditLogEvent.ChannelOverwriteUpdate:
		case AuditLogEvent.ChannelOverwriteDelete:
			return restoreOverwrite(entry, guild);
		case AuditLogEvent.MemberBanAdd:
			return many("unban", "user_ids");
		case AuditLogEvent.MemberBanRemove:
			return many("ban", "user_ids");
		case AuditLogEvent.MemberUpdate:
			return restoreMember(id, changes);
		case AuditLogEvent.BotAdd:
			return many("kick", "user_ids");
		case AuditLogEvent.RoleCreate:
			return guild.roles.cache.has(id) ? one("delete_role", "role_id") : undefined;
		case AuditLogEvent.RoleUpdate:
			return restoreRole(id, changes);
		case AuditLogEvent.RoleDelete: {
			const permissions = bitsOf(changes.find(({ key }) => key === "permissions")?.old_value);
			return {
				tool: "create_role",
				...oldValues(changes, roleArguments),
				...(permissions && { permissions: nameList(permissions) }),
			};
		}
		case AuditLogEvent.InviteCreate: {
			const code = changes.find(({ key }) => key === "code")?.new_value;
			return typeof code === "string" ? { tool: "delete_invite", invite_codes: `[${oneField(code)}]` } : undefined;
		}
		case AuditLogEvent.WebhookCreate:
			return many("delete_webhook", "webhook_ids");
		case AuditLogEvent.WebhookUpdate:
			return edit("edit_webhook", "webhook_id", sameNames("name", "channel_id"));
		case AuditLogEvent.WebhookDelete: {
			const args = oldValues(changes, sameNames("channel_id", "name"));
			return args.channel_id ? { tool: "create_webhook", ...args } : undefined;
		}
		case AuditLogEvent.EmojiCreate:
			return one("delete_emoji", "emoji_id");
		case AuditLogEvent.EmojiUpdate:
			return edit("edit_emoji", "emoji_id", sameNames("name"));
		case AuditLogEvent.MessagePin:
		case AuditLogEvent.MessageUnpin: {
			const { channel_id, message_id } = options ?? {};
			const isPin = action_type === AuditLogEvent.MessagePin;
			return channel_id && message_id
				? { tool: "pin_message", channel_id, message_id, ...(isPin && { pinned: "false" }) }
				: undefined;
		}
		case AuditLogEvent.GuildScheduledEventCreate:
			return one("delete_scheduled_event", "event_id");
		case AuditLogEvent.GuildScheduledEventUpdate:
			return edit("edit_scheduled_event", "event_id", sameNames("name", "description", "location"));
		case AuditLogEvent.ThreadCreate:
			return one("delete_thread", "thread_id");
		case AuditLogEvent.ThreadUpdate:
			return edit("edit_thread", "thread_id", threadArguments);
		case AuditLogEvent.AutoModerationRuleCreate:
			return one("delete_automod_rule", "rule_id");
		case AuditLogEvent.AutoModerationRuleUpdate:
			return edit("set_automod_rule", "rule_id", sameNames("name", "enabled"));
		default:
			return undefined;
	}
}

function unlessEmpty(call: Call, args: Call): Call | undefined {
	return Object.keys(args).length > 0 ? { ...call, ...args } : undefined;
}

/** Returns tool arguments that would set the changed fields back to their old values. */
function oldValues(changes: readonly Change[], names: Arguments): Record<string, string> {
	return Object.fromEntries(
		changes.flatMap(({ key, old_value, new_value }) => {
			const name = names[key];
			if (!name || (old_value === undefined && new_value === undefined)) return [];
			const text = argument(name, old_value);
			return text === undefined ? [] : [[name, text]];
		}),
	);
}

function argument(name: string, value: unknown): string | undefined {
	if (name === "color") return colorText(Number(value ?? 0));
	const unit = { slowmode: 1, afk_timeout: 1, auto_archive: 60 }[name];
	if (unit !== undefined) return durationAsArgument(Number(value ?? 0) * unit);
	if (typeof value === "boolean" || typeof value === "number") return String(value);
	// Absent means that the field had no value.
	const text = value === undefined || value === null ? "" : value;
	if (typeof text !== "string" || lengthOf(text) > maxTextLength) return undefined;
	if (/^\d+$/.test(text)) return name === "name" || name === "topic" ? `"${text}"` : text;
	return `"${oneField(text)}"`;
}

function createChannel(changes: readonly Change[], guild: Guild): Call | undefined {
	const old = (key: string) => changes.find((change) => change.key === key)?.old_value;
	const kind = channelKind(old("type"));
	if (kind === undefined || typeof old("name") !== "string") return undefined;
	const { category_id, ...args } = oldValues(
		changes.filter(({ old_value }) => Boolean(old_value)),
		channelArguments,
	);
	return {
		tool: "create_channel",
		...args,
		channel_type: kind,
		...(category_id !== undefined && visibleChannel(guild, category_id) && { category_id }),
		...restoredOverwrites(old("permission_overwrites"), guild),
	};
}

function restoredOverwrites(value: unknown, guild: Guild): Call {
	const items: unknown[] = Array.isArray(value) ? value : [];
	const texts = items.map(Object).flatMap(({ id, type, allow, deny }) => {
		if (Number(type) === OverwriteType.Role && !guild.roles.cache.has(id)) return [];
		const [allowed = 0n, denied = 0n] = [bitsOf(allow), bitsOf(deny)];
		const fields = [
			`id: ${oneField(String(id))}`,
			allowed !== 0n && `allow: ${nameList(allowed)}`,
			denied !== 0n && `deny: ${nameList(denied)}`,
		];
		return [`{${fields.filter(Boolean).join(", ")}}`];
	});
	return texts.length > 0 ? { permission_overwrites: `[${texts.join(", ")}]` } : {};
}

function restoreOverwrite(entry: APIAuditLogEntry, guild: Guild): Call | undefined {
	const { target_id, options } = entry;
	const channel = visibleChannel(guild, target_id ?? "");
	if (!channel || channel.isThread() || !options?.id) return undefined;
	const changes = changesOf(entry);
	const current = channel.permissionOverwrites.cache.get(options.id);
	const old = (key: "allow" | "deny") => {
		const change = changes.find((change) => change.key === key);
		return change ? bitsOf(change.old_value) : current?.[key].bitfield;
	};
	const isNew = entry.action_type === AuditLogEvent.ChannelOverwriteCreate;
	const [allow = 0n, deny = 0n] = isNew ? [] : [old("allow"), old("deny")];
	// The overwrite to remove is gone already.
	if ((allow | deny) === 0n && !current) return undefined;
	return {
		tool: "set_channel_permissions",
		channel_ids: `[${channel.id}]`,
		target_ids: `[${options.id}]`,
		...(allow !== 0n && { allow: nameList(allow) }),
		...(deny !== 0n && { deny: nameList(deny) }),
		// Without allow and deny it removes the overwrite.
		replace: "true",
	};
}

function nameList(bits: bigint): string {
	return `[${permissionNames(bits).join(",")}]`;
}

function restoreMember(id: string, changes: readonly Change[]): Call | undefined {
	const find = (key: string) => changes.find((change) => change.key === key);
	const timeout = find("communication_disabled_until");
	const nick = find("nick");
	const mute = find("mute");
	const deaf = find("deaf");
	const user_ids = `[${id}]`;
	if (timeout) {
		const { old_value, new_value } = timeout;
		if (isAhead(new_value)) return { tool: "remove_timeout", user_ids };
		return !new_value && isAhead(old_value) ? { tool: "timeout", user_ids, duration: oneField(old_value) } : undefined;
	}
	if (nick) {
		const nickname = argument("name", nick.old_value) ?? '""';
		return { tool: "set_nickname", user_id: id, nickname };
	}
	if (!mute && !deaf) return undefined;
	return {
		tool: "edit_voice_members",
		user_ids,
		...(mute && { mute: String(mute.old_value === true) }),
		...(deaf && { deafen: String(deaf.old_value === true) }),
	};
}

function restoreRole(role_id: string, changes: readonly Change[]): Call | undefined {
	const permissions = changes.find(({ key }) => key === "permissions");
	const before = bitsOf(permissions?.old_value) ?? 0n;
	const after = bitsOf(permissions?.new_value) ?? 0n;
	const [lost, gained] = [before & ~after, after & ~before];
	const args = {
		...oldValues(changes, roleArguments),
		...(lost !== 0n && { add_permissions: nameList(lost) }),
		...(gained !== 0n && { remove_permissions: nameList(gained) }),
	};
	return unlessEmpty({ tool: "edit_role", role_id }, args);
}

function restoreRoles(id: string, changes: readonly Change[]): Call[] {
	return changes.flatMap(({ key, new_value }) =>
		Array.isArray(new_value)
			? new_value.map((role: unknown) => ({
					tool: "bulk_role_update",
					user_ids: `[${id}]`,
					role_id: oneField(String(Object(role).id)),
					action: key === "$add" ? "remove" : "add",
				}))
			: [],
	);
}

function isAhead(value: unknown): value is string {
	return typeof value === "string" && Date.parse(value) > Date.now();
}
