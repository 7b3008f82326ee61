// The member and server log: who joins and leaves, names, roles, timeouts, channels, webhooks and integrations. Each kind has the
// channel of its setting `log.<kind>`. Nearly all of it is from Discord's audit log, which also says who did it.

import {
	type APIAuditLogEntry,
	AuditLogEvent,
	type Client,
	Events,
	type Guild,
	type GuildMember,
	type PartialGuildMember,
	type User,
} from "discord.js";
import { onAuditLogEntry } from "../../../discord/audit-log.ts";
import { inlineText, truncate } from "../../../discord/text.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { type Said, said, type Text } from "../../../texts/texts.ts";
import { Limiter } from "../../commands/cooldown.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import { written } from "../../results/people-text.ts";
import { at } from "../../results/result.ts";
import { type ServerLog, serverLogs } from "../../settings/keys.ts";
import { joinRows } from "../../store/tables/joins.ts";
import { StoreUnavailable } from "../../store/unavailable.ts";
import { describeChanges } from "../../tools/audit-log/changes.ts";
import { actionOf, namesIn, placeOf, targetOf } from "../../tools/audit-log/lines.ts";
import { prunedIn } from "../cases/by-hand.ts";
import type { Cases } from "../cases/cases.ts";
import { Delayed } from "../delayed.ts";
import { createGuildLog, type LogEntry } from "../moderation-log.ts";

/** A join waits for its invite, and a leave for Discord's audit log. */
const [joinMs, leaveMs] = [3_000, 1_000];
const maxRolesShown = 20;
const maxRemovals = 1_000;
const removalMs = 10_000;

const { MemberUpdate, MemberRoleUpdate, MemberKick, MemberBanAdd, MemberPrune, BotAdd } = AuditLogEvent;

/** How members leave who do not leave themselves. */
type Removal = "kicked" | "banned" | "pruned";
const removalKinds: { [action in AuditLogEvent]?: Removal } = {
	[MemberKick]: "kicked",
	[MemberBanAdd]: "banned",
	[MemberPrune]: "pruned",
};

/** Undefined: in none of these logs. */
function kindOf({ action_type: action, changes = [] }: APIAuditLogEntry): ServerLog | undefined {
	const name = AuditLogEvent[action] ?? "";
	if (action === MemberPrune) return "joins";
	if (action === MemberRoleUpdate) return "member_roles";
	if (action === MemberUpdate) {
		if (changes.some(({ key }) => key === "nick")) return "names";
		return changes.some(({ key }) => key === "communication_disabled_until") ? "timeouts" : undefined;
	}
	if (/^Channel(Create|Update|Delete|Overwrite)/.test(name)) return "channels";
	if (/^Role(Create|Update|Delete)/.test(name)) return "roles";
	return action === BotAdd || /^(Webhook|Integration)/.test(name) ? "webhooks" : undefined;
}

export function createServerLog(options: FeatureOptions & { cases: Cases }) {
	const { settings, store, log, cases } = options;
	const logs = new Map(serverLogs.map((kind) => [kind, logOf(kind)]));
	const waiting = new Delayed();
	/** What the audit log has told: kicks and bans by guild and person, the latest prune by guild. */
	const removals = new LruMap<string, { entry: APIAuditLogEntry; at: number; left: number } | undefined>(maxRemovals);

	function logOf(kind: ServerLog) {
		const guildLog = createGuildLog(options, `log.${kind}`);
		return { guildLog, folding: createFolding(guildLog.add) };
	}

	const isOn = (guildId: string, kind: ServerLog) => settings.of(guildId)[`log.${kind}`] !== undefined;

	function add(kind: ServerLog, guildId: string, entry: LogEntry, flood: string = kind): void {
		logs.get(kind)?.folding.add(flood, guildId, { ...entry, confidential: "entry" });
	}

	async function onJoin({ guild, user }: GuildMember): Promise<void> {
		const detail = [said("server_log.account", { when: at(user.createdTimestamp, "R") })];
		try {
			const { invites = "?" } = (await joinRows.first(store.sql, { guild_id: guild.id, user_id: user.id })) ?? {};
			const codes = inlineText(invites.split(",").join(", "), 200);
			if (!invites.includes("?"))
				detail.push(said(invites.includes(",") ? "server_log.invites" : "server_log.invite", { codes }));
			const counts = await cases.countOf(guild.id, user.id);
			const count = counts.reduce((sum, one) => sum + one.count, 0);
			if (count > 0) detail.push(said("server_log.cases", { count }));
		} catch (error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not read the invite and cases of a new member", { error });
		}
		add("joins", guild.id, { ...about("joined", user), gravity: "lifted", detail }, "joined");
	}

	function onLeave({ guild, user, joinedTimestamp, roles }: GuildMember | PartialGuildMember): void {
		// Of somebody who was not in the guild, the audit log tells a ban, too. Of a prune, it tells only the number.
		const told = [removals.get(`${guild.id} ${user.id}`), removals.get(guild.id)].find(
			(one) => one && one.left > 0 && performance.now() - one.at < removalMs,
		);
		if (told) told.left -= 1;
		const removal = told?.entry;
		const held = roles.cache.filter(({ id }) => id !== guild.id).map(({ id }) => `<@&${id}>`);
		const detail = [
			...(joinedTimestamp ? [said("server_log.member_since", { when: at(joinedTimestamp, "R") })] : []),
			...(held.length > 0 ? [said("server_log.had", { roles: held.slice(0, maxRolesShown).join(", ") })] : []),
		];
		const kind = (removal && removalKinds[removal.action_type]) ?? "left";
		const by = removal && { moderatorId: removal.user_id ?? undefined, reason: removal.reason ?? null };
		add("joins", guild.id, { ...about(kind, user), ...(removal && { gravity: "severe" }), ...by, detail }, kind);
	}

	function onEntry(entry: APIAuditLogEntry, guild: Guild): void {
		const { action_type: action, user_id, target_id, reason } = entry;
		const pruned = prunedIn(entry);
		if (removalKinds[action] && isOn(guild.id, "joins")) {
			const key = pruned ? guild.id : `${guild.id} ${target_id}`;
			const left = Number(entry.options?.members_removed ?? 1);
			removals.set(key, { entry, at: performance.now(), left });
		}
		const kind = kindOf(entry);
		if (!kind || !isOn(guild.id, kind)) return;
		const nameOf = namesIn([], guild);
		const { verb, noun } = actionOf(action);
		const isMember = action === MemberUpdate || action === MemberRoleUpdate || action === BotAdd;
		const changes = describeChanges(entry, nameOf).map((text) => written(truncate(text, 300)));
		const target = inlineText(
			[verb, noun, targetOf(entry, nameOf), placeOf(entry, nameOf)].filter(Boolean).join(" "),
			300,
		);
		add(kind, guild.id, {
			title: kind === "joins" ? said("case.action.prune") : said(`server_log.${kind}.title`),
			gravity: pruned ? "severe" : "note",
			moderatorId: user_id ?? undefined,
			...(isMember && target_id !== null && { userId: target_id }),
			description: [...(isMember ? [] : (pruned ?? [target])), ...changes],
			reason: reason ?? null,
		});
	}

	function onUser(client: Client, before: User, after: User): void {
		const changes = (["username", "globalName"] as const).flatMap((key): Text[] => {
			const [old, now] = [before[key], after[key]];
			const shown = (name: string | null) => inlineText(name ?? "", 100);
			return old === now ? [] : [`${shown(old)} → ${shown(now)}`];
		});
		if (changes.length === 0) return;
		for (const guild of client.guilds.cache.values())
			if (isOn(guild.id, "names") && guild.members.cache.has(after.id))
				add("names", guild.id, { ...about("names", after), description: changes });
	}

	return {
		attach(client: Client) {
			client.on(Events.GuildMemberAdd, (member) => {
				removals.set(`${member.guild.id} ${member.id}`, undefined);
				if (isOn(member.guild.id, "joins")) waiting.add(joinMs, () => onJoin(member));
			});
			client.on(Events.GuildMemberRemove, (member) => {
				if (isOn(member.guild.id, "joins")) waiting.add(leaveMs, () => onLeave(member));
			});
			onAuditLogEntry(client, onEntry);
			client.on(Events.UserUpdate, (before, after) => {
				if (!before.partial) onUser(client, before, after);
			});
		},
		async close() {
			await waiting.close();
			for (const { folding } of logs.values()) void folding.close();
			await Promise.all(logs.values().map(({ guildLog }) => guildLog.settled()));
		},
	} satisfies Feature;
}

function about(kind: "joined" | "left" | Removal | "names", { id }: User): { title: Said; userId: string } {
	return { title: said(`server_log.${kind}.title`), userId: id };
}

const shownOneByOne = 5;
const windowMs = 10_000;
const maxNamed = 30;
const maxNamesLength = 2_000;

interface Flood {
	guildId: string;
	/** The first of those that wait. */
	folded: LogEntry[];
	count: number;
}

/** Of the entries of a kind within ten seconds, the first five are shown one by one and the rest together. */
export function createFolding(post: (guildId: string, entry: LogEntry) => void) {
	const shown = new Limiter({ max: shownOneByOne, windowMs });
	const floods = new Map<string, Flood>();
	const waiting = new Delayed();

	function flush(key: string, { guildId, folded, count }: Flood): void {
		const [first] = folded;
		floods.delete(key);
		if (!first) return;
		const names = folded.map(({ userId, description = "" }) =>
			userId === undefined ? String([description].flat()[0]) : `<@${userId}>`,
		);
		const who = truncate([...new Set(names)].join(", "), maxNamesLength);
		const { title, gravity = "note", confidential, moderatorId } = first;
		const isByOne = folded.every((one) => one.moderatorId === moderatorId);
		const description = said("server_log.folded", { count, who });
		const all = { title, gravity, confidential, description, ...(isByOne && { moderatorId }) };
		post(guildId, count === 1 ? first : all);
	}

	return {
		add(kind: string, guildId: string, entry: LogEntry): void {
			const key = `${guildId} ${kind}`;
			const begun = floods.get(key);
			if (!begun && shown.accepts(key)) {
				post(guildId, entry);
				return;
			}
			const flood: Flood = begun ?? { guildId, folded: [], count: 0 };
			floods.set(key, flood);
			flood.count += 1;
			if (flood.folded.length < maxNamed) flood.folded.push(entry);
			if (!begun) waiting.add(windowMs, () => flush(key, flood));
		},
		/** Posts what is folded. */
		close: () => waiting.close(),
	};
}
