// Discord's audit log as result lines: entries that belong together share a line.
// https://docs.discord.com/developers/resources/audit-log

import {
	type APIAuditLog,
	type APIAuditLogEntry,
	AuditLogEvent,
	AuditLogOptionsType,
	type Guild,
	SnowflakeUtil,
} from "discord.js";
import { channelLabel, time } from "../../../discord/describe.ts";
import { isObfuscated } from "../../../discord/obfuscation.ts";
import { officialName } from "../../../discord/permissions.ts";
import { fieldLine, jobReasonStart, oneField } from "../../../discord/text.ts";
import { canSeeThread, isHidden, visibleChannel } from "../../../discord/visible-channels.ts";
import { changesOf, cut, describeChanges, type NameOf } from "./changes.ts";

/** Numbers of Discord's audit log events by Discord's name, such as MEMBER_BAN_ADD. */
export const auditActions: ReadonlyMap<string, AuditLogEvent> = new Map(
	Object.entries(AuditLogEvent)
		.filter((entry): entry is [string, AuditLogEvent] => Number.isInteger(entry[1]))
		.map(([name, action]) => [officialName(name), action]),
);

/** What Discord sends with the entries, which have only ids. */
type Named = Omit<APIAuditLog, "audit_log_entries">;

/**
 * Without those about channels that the person in whose name the call acts cannot see, or about threads, webhooks or
 * events there.
 */
export async function visibleEntries(
	entries: readonly APIAuditLogEntry[],
	log: Named,
	guild: Guild,
): Promise<APIAuditLogEntry[]> {
	const hidden = new Set<string>();
	for (const thread of log.threads) if (!(await canSeeThread(guild, thread))) hidden.add(thread.id);
	for (const { id, channel_id } of [...log.webhooks, ...log.guild_scheduled_events])
		if (isHidden(guild, channel_id ?? "")) hidden.add(id);
	const isOf = (id: string) => hidden.has(id) || isHidden(guild, id);
	return entries.filter((entry) => !idsIn(entry).some(isOf));
}

function idsIn(entry: APIAuditLogEntry): string[] {
	const { target_id, options = {} } = entry;
	const values = changesOf(entry).flatMap(({ old_value, new_value }) => [old_value, new_value].flat());
	return [target_id, ...Object.values(options), ...values].filter((value) => typeof value === "string");
}

/** First from what Discord sent with the entries, then from the bot's caches. */
export function namesIn(pages: readonly Named[], guild: Guild): NameOf {
	const names = new Map<string, string>();
	for (const page of pages) {
		const { users, webhooks, threads } = page;
		for (const { id, username } of users) names.set(id, `@${username}`);
		for (const { id, name } of webhooks) names.set(id, name ?? "webhook");
		for (const { id, name } of threads) names.set(id, name ? `#${name}` : "thread");
		const { auto_moderation_rules, guild_scheduled_events, integrations, application_commands } = page;
		const others = [auto_moderation_rules, guild_scheduled_events, integrations, application_commands];
		for (const { id, name } of others.flat()) names.set(id, name);
	}
	const { roles, emojis, client } = guild;
	return (id) => {
		const user = client.users.cache.get(id);
		const channel = visibleChannel(guild, id);
		const role = roles.cache.get(id);
		const name =
			names.get(id) ??
			(user && `@${user.username}`) ??
			(channel && (isObfuscated(channel) ? channelLabel(channel) : `#${channel.name}`)) ??
			// The @everyone role has the guild's id.
			(role && (id === guild.id ? "@everyone" : `@${role.name}`)) ??
			emojis.cache.get(id)?.name;
		return named(name, id);
	};
}

function named(name: string | null | undefined, id: string): string {
	return name ? `${oneField(cut(name, maxNameLength))} (ID: ${id})` : `ID: ${id}`;
}

const maxGapMs = 10 * 60_000;

/** Without the step of a job, which is in each of its requests. */
function reasonOf({ reason = "" }: APIAuditLogEntry): string {
	return reason.startsWith(jobReasonStart) ? reason.replace(/ \d+\.\d+(?=:|$)/, "") : reason;
}

/** One line: the same user did the same to one or several objects. */
interface Group {
	entries: APIAuditLogEntry[];
	targets: Map<string, { name: string; changes: string[][]; count: number }>;
	place: string;
}

/** `entries`: the newest first. `actors`: with their numbers of entries. */
export function auditLogLines(
	entries: readonly APIAuditLogEntry[],
	nameOf: NameOf,
	undone: ReadonlySet<string>,
): { actors: string; lines: string[] } {
	const groups: Group[] = [];
	const open = new Map<string, Group>();
	for (const entry of entries) {
		const place = placeOf(entry, nameOf);
		const key = JSON.stringify([...[entry.user_id, entry.action_type, reasonOf(entry), place]]);
		const before = open.get(key);
		const last = before?.entries.at(-1);
		const isNear = last && timeOf(last) - timeOf(entry) <= maxGapMs;
		const group = isNear && before ? before : { entries: [], targets: new Map(), place };
		if (group !== before) groups.push(group);
		open.set(key, group);
		addTo(group, entry, nameOf);
	}
	const actors = new Map<string, number>();
	for (const { user_id } of entries) actors.set(user_id ?? "", (actors.get(user_id ?? "") ?? 0) + 1);
	const short = shortNames([...actors.keys()], nameOf);
	return {
		actors: [...actors]
			.sort(([, a], [, b]) => b - a)
			.map(([id, count]) => `${id ? nameOf(id) : "unknown"} ${count}`)
			.join(", "),
		lines: groups.map((group) =>
			groupLine(
				group,
				actors.size > 1 ? (short.get(group.entries[0]?.user_id ?? "") ?? "") : "",
				group.entries.filter(({ id }) => undone.has(id)).length,
			),
		),
	};
}

function timeOf({ id }: APIAuditLogEntry): number {
	return SnowflakeUtil.timestampFrom(id);
}

function shortNames(ids: readonly string[], nameOf: NameOf): Map<string, string> {
	const names = ids.map((id) => (id ? nameOf(id) : "unknown"));
	const short = names.map((name) => name.replace(/ \(ID: \d+\)$/, ""));
	return new Map(
		ids.map((id, index) => {
			const name = short[index] ?? "";
			const isUnique = short.filter((other) => other === name).length === 1;
			return [id, isUnique ? name : (names[index] ?? "")];
		}),
	);
}

function addTo(group: Group, entry: APIAuditLogEntry, nameOf: NameOf): void {
	group.entries.push(entry);
	const name = targetOf(entry, nameOf);
	const target = group.targets.get(name) ?? { name, changes: [], count: 0 };
	const { options } = entry;
	if (options && "count" in options) target.count += Number(options.count);
	const changes = describeChanges(entry, nameOf);
	if (changes.length > 0) target.changes.push(changes);
	group.targets.set(name, target);
}

function groupLine({ entries, targets, place }: Group, actor: string, undone: number): string {
	const [newest, oldest] = [entries[0], entries.at(-1)];
	if (!newest || !oldest) return "";
	const all = [...targets.values()].reverse();
	// Within one object's changes the order is that of time.
	const changes = all.map((target) => [...new Set(target.changes.toReversed().flat())].join("; "));
	const [first = ""] = changes;
	const isShared = changes.every((text) => text === first);
	const names = all
		.map(({ name, count }, index) => {
			const times = count > 0 ? `${count}×` : "";
			const own = isShared || !changes[index] ? "" : `[${changes[index]}]`;
			return [name, times, own].filter(Boolean).join(" ");
		})
		.filter(Boolean);
	const { verb, noun } = actionOf(newest.action_type);
	const what = all.length > 1 ? `${verb} ${all.length} ${noun}s` : `${verb} ${noun}`;
	return fieldLine(
		range(timeOf(oldest), timeOf(newest)),
		actor,
		names.length > 0 ? `${what.trimEnd()}${all.length > 1 ? ":" : ""} ${names.join(", ")}` : what,
		place,
		isShared && first,
		newest.reason && `reason: ${oneField(reasonOf(newest))}`,
		undone > 0 && (undone === entries.length ? "undone" : `undone: ${undone} of ${entries.length}`),
	);
}

function range(from: number, to: number): string {
	const minute = (at: number) => time(at).slice(0, 16).replace("T", " ");
	const [first, last] = [minute(from), minute(to)];
	if (first === last) return first;
	const isSameDay = first.slice(0, 10) === last.slice(0, 10);
	return `${first}–${isSameDay ? last.slice(11) : last}`;
}

const special: Readonly<Record<string, readonly [verb: string, noun: string]>> = {
	ChannelOverwriteCreate: ["added permissions in", "channel"],
	ChannelOverwriteUpdate: ["changed permissions in", "channel"],
	ChannelOverwriteDelete: ["removed permissions in", "channel"],
	MemberKick: ["kicked", "user"],
	MemberPrune: ["pruned", "member"],
	MemberBanAdd: ["banned", "user"],
	MemberBanRemove: ["unbanned", "user"],
	MemberRoleUpdate: ["changed roles of", "member"],
	MemberMove: ["moved members in voice", ""],
	MemberDisconnect: ["disconnected members from voice", ""],
	BotAdd: ["added", "bot"],
	MessageDelete: ["deleted messages of", "user"],
	MessageBulkDelete: ["bulk-deleted messages in", "channel"],
	MessagePin: ["pinned a message of", "user"],
	MessageUnpin: ["unpinned a message of", "user"],
	StageInstanceCreate: ["started", "stage"],
	StageInstanceDelete: ["ended", "stage"],
	AutoModerationBlockMessage: ["AutoMod blocked messages of", "user"],
	AutoModerationFlagToChannel: ["AutoMod flagged messages of", "user"],
	AutoModerationUserCommunicationDisabled: ["AutoMod timed out", "user"],
	AutoModerationQuarantineUser: ["AutoMod quarantined", "user"],
	ApplicationCommandPermissionUpdate: ["changed permissions of", "command"],
};

const verbs: Readonly<Record<string, string>> = { Create: "created", Update: "changed", Delete: "deleted" };

export function actionOf(action: AuditLogEvent): { verb: string; noun: string } {
	const name = AuditLogEvent[action];
	// discord.js does not know events that Discord adds later.
	if (name === undefined) return { verb: `did action ${action} to`, noun: "object" };
	const [verb, noun] = special[name] ?? [];
	if (verb !== undefined) return { verb, noun: noun ?? "" };
	const [, object = name, suffix = ""] = /^(.*?)(Create|Update|Delete)?$/.exec(name) ?? [];
	return {
		verb: verbs[suffix] ?? "did",
		noun: officialName(object)
			.toLowerCase()
			.replaceAll("_", " ")
			.replace(/^guild (?=.)/, ""),
	};
}

/** Its name and id; "" if the entry is about the guild. */
export function targetOf(entry: APIAuditLogEntry, nameOf: NameOf): string {
	const { target_id } = entry;
	const changes = changesOf(entry);
	const textOf = (key: string) => {
		const change = changes.find((change) => change.key === key);
		// A deleted object has only its old name.
		const value = change?.new_value ?? change?.old_value;
		return typeof value === "string" ? value : undefined;
	};
	if (!target_id) return oneField(cut(textOf("code") ?? "", maxNameLength));
	// The result is about one guild only. Its id is also that of its role @everyone.
	if (entry.action_type === AuditLogEvent.GuildUpdate) return "";
	const current = nameOf(target_id);
	return current === named(undefined, target_id) ? named(textOf("name"), target_id) : current;
}

/** The role, user, channel and message in the options of an entry, as fields. */
export function placeOf({ options = {} }: APIAuditLogEntry, nameOf: NameOf): string {
	const {
		channel_id,
		message_id,
		id,
		type,
		role_name,
		count: _,
		...rest
	} = options as Record<string, string | undefined>;
	const isRole = type === AuditLogOptionsType.Role;
	const role = id && isRole && role_name ? named(`@${role_name.replace(/^@/, "")}`, id) : "";
	return fieldLine(
		id && `for: ${role || nameOf(id)}`,
		channel_id && `in: ${nameOf(channel_id)}`,
		message_id && `message: ${message_id}`,
		...Object.entries(rest)
			.filter(([key]) => !key.endsWith("trigger_type") && key !== "application_id")
			.map(([key, value]) => `${oneField(key).replaceAll("_", " ")}: ${oneField(cut(String(value), maxNameLength))}`),
	);
}

const maxNameLength = 100;
