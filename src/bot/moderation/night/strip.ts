// The rule `night.strip`: an account that deletes channels or roles, or bans people, in masses loses the roles that allow it. What
// it made meanwhile to come back, webhooks and bots, goes too. Each step looks first: after a kill, all are repeated.

import {
	AuditLogEvent,
	DiscordAPIError,
	type Guild,
	type GuildMember,
	PermissionFlagsBits,
	PermissionsBitField,
	Routes,
	SnowflakeUtil,
} from "discord.js";
import { readAuditLog } from "../../../discord/audit-log.ts";
import { absentIf, fetchMember } from "../../../discord/find.ts";
import { botMember } from "../../../discord/permissions.ts";
import { saidPlatformError } from "../../../discord/rest/errors.ts";
import { inlineText } from "../../../discord/text.ts";
import type { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import { type Said, said } from "../../../texts/texts.ts";
import type { Night } from "../../guild-documents/backups/deletion-watch.ts";
import { roles as mentions } from "../../results/result.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import type { Store } from "../../store/store.ts";
import { hasOther, type IncidentRow, incidentRows } from "../../store/tables/incidents.ts";

const powers = PermissionsBitField.resolve([
	"Administrator",
	"BanMembers",
	"KickMembers",
	"ManageChannels",
	"ManageGuild",
	"ManageRoles",
	"ManageWebhooks",
]);
/** What it did so long before belongs to it. */
const beforeMs = 60_000;
const maxAgeMs = 3_600_000;
const reason = "Night watch: mass deletion or mass ban";

interface StripOptions {
	settings: GuildSettings;
	store: Store;
	/** By user id. */
	mutex: KeyedMutex;
}

export function createStrip({ settings, store, mutex }: StripOptions): Night {
	const isOn = (guildId: string) => settings.of(guildId)["night.strip"];
	return {
		loaded: settings.loaded,
		isOn,
		onSwitchedOn: (listener) =>
			settings.onChange((guildId, changed) => {
				if (changed?.changes.some(({ key }) => key === "night.strip") && isOn(guildId)) listener(guildId);
			}),
		async act(guild, row) {
			const { actor_id: id } = row;
			if (!isOn(guild.id) || id === null || id === guild.ownerId || id === guild.client.user.id) return [];
			// Found late, after an outage: people have seen it, and may have dealt with it.
			if (Date.now() - row.last_at > maxAgeMs) return [];
			const stripped = await mutex.withLock(id, async () => {
				const member = await fetchMember(guild, id, true);
				return member ? strip(member, row, store) : [said("night.gone")];
			});
			// What it made has been undone with another incident.
			const isOver = stripped.every(({ key }) => key === "night.none" || key === "night.gone");
			if (isOver && (await hasOther(store.sql, row, 0))) return stripped;
			return [...stripped, ...(await undoMade(guild, id, row.first_at - beforeMs))];
		},
	};
}

async function strip(member: GuildMember, row: IncidentRow, store: StripOptions["store"]): Promise<readonly Said[]> {
	const { roles, guild, user } = member;
	const me = botMember(guild);
	const powerful = roles.cache.filter(({ permissions }) => permissions.any(powers));
	const mayTake = me.permissions.has(PermissionFlagsBits.ManageRoles);
	const [taken, kept] = powerful.partition(
		(one) => mayTake && !one.managed && one.id !== guild.id && one.comparePositionTo(me.roles.highest) < 0,
	);
	const ids = [...new Set<string>([...JSON.parse(row.roles ?? "[]"), ...taken.keys()])];
	if (ids.length > 0) row.roles = JSON.stringify(ids);
	await incidentRows.change(store.sql, row, { roles: row.roles });
	// One by one: a list of all that it keeps would fail with a role that it has just deleted, too.
	const take = (id: string) =>
		attempt(said("night.taken", { list: mentions([{ id }]) }), () => absentIf([404], () => roles.remove(id, reason)));
	const done = await Promise.all(ids.map(take));
	const gone = ids.filter((_, index) => done[index]?.key === "night.taken");
	row.roles = gone.length > 0 ? JSON.stringify(gone) : null;
	// The role of a bot belongs to its integration. One that bans in masses may protect the guild.
	if (kept.size > 0 && user.bot && row.kind === "deletions" && member.kickable) return [...done, await kick(member)];
	if (kept.size > 0) done.push(said("night.kept", { list: mentions([...kept.values()]) }));
	return done.length > 0 ? done : [said("night.none")];
}

async function undoMade(guild: Guild, id: string, since: number): Promise<Said[]> {
	const after = String(SnowflakeUtil.generate({ timestamp: since }));
	const made = async (type: AuditLogEvent) =>
		(await readAuditLog(guild, type, after)).filter(
			(one) => one.user_id === id && SnowflakeUtil.timestampFrom(one.id) >= since,
		);
	const done: Said[] = [];
	for (const { target_id } of await made(AuditLogEvent.BotAdd)) {
		const bot = await fetchMember(guild, target_id ?? "", true);
		if (bot && bot.id !== guild.client.user.id) done.push(await kick(bot));
	}
	for (const { target_id, changes = [] } of await made(AuditLogEvent.WebhookCreate)) {
		const name = inlineText(String(changes.find(({ key }) => key === "name")?.new_value ?? target_id), 100);
		const path = Routes.webhook(target_id ?? "");
		const remove = () => absentIf([404], () => guild.client.rest.delete(path, { reason }));
		done.push(await attempt(said("night.webhook", { name }), remove));
	}
	return done;
}

function kick(member: GuildMember): Promise<Said> {
	const who = `<@${member.id}> (${inlineText(member.user.username, 100)})`;
	return attempt(said("night.kicked", { who }), () => member.kick(reason));
}

/** What was done, or why not. Rejects if it is to be tried again. */
async function attempt(what: Said, work: () => Promise<unknown>): Promise<Said> {
	try {
		await work();
		return what;
	} catch (error) {
		if (!(error instanceof DiscordAPIError)) throw error;
		return said("night.failed", { what, why: saidPlatformError(error) ?? error.message });
	}
}
