// Tells staff of a mass deletion, with buttons that restore what was deleted in the name of who presses them.

import {
	ButtonStyle,
	Colors,
	DiscordAPIError,
	EmbedBuilder,
	type Guild,
	MessageFlags,
	type RepliableInteraction,
} from "discord.js";
import type { Connection } from "../../../discord/connection/connection.ts";
import { absentIf } from "../../../discord/find.ts";
import { inlineText, truncate } from "../../../discord/text.ts";
import type { Log } from "../../../lib/log.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { joined, type Said, type Say, said, sayIn } from "../../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import { type ComponentHandler, callerOf } from "../../commands/components.ts";
import { findSent } from "../../commands/find-sent.ts";
import type { Notify } from "../../guild-documents/backups/deletion-watch.ts";
import { buttonRow } from "../../messages/buttons.ts";
import { noMentions } from "../../messages/split-message.ts";
import { at } from "../../results/result.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import type { Store } from "../../store/store.ts";
import { hasOther, type IncidentRow, incidentRows } from "../../store/tables/incidents.ts";
import type { CallAs, PersonResult } from "../../tool/call-as.ts";

const prefix = "incident";
const maxNameLength = 100;
const maxDescription = 4_096;

export type Notice = (say: Say) => { embeds: [EmbedBuilder]; components: ReturnType<typeof buttonRow>[] };

export function noticeOf({ name, id: guild }: Pick<Guild, "name" | "id">, row: IncidentRow, isStored: boolean): Notice {
	const { kind, actor_id, count, backup, backup_at } = row;
	const isBan = kind === "bans";
	const names = (JSON.parse(row.names) as string[]).map((one) =>
		isBan ? `<@${one}>` : inlineText(one, maxNameLength),
	);
	const [list, more] = [names.join(", "), count - names.length];
	const kept = { number: String(backup), when: at(backup_at ?? 0), guild };
	const none = said(isStored ? "audit.deletion.no_backup" : "audit.deletion.later");
	const rest = [...(isBan ? [] : [backup === null ? none : said("audit.deletion.kept", kept)]), ...doneIn(row)];
	return (say) => {
		const text = say(isBan ? "audit.bans" : "audit.deletion", {
			server: inlineText(name, 200),
			who: actor_id === null ? said("audit.deletion.unknown") : `<@${actor_id}>`,
			count,
			from: at(row.first_at, "T"),
			to: at(row.last_at, "T"),
			names: more > 0 ? said("result.and_more", { list, count: more }) : list,
			rest: joined(rest) ?? "",
		});
		const title = say(isBan ? "audit.bans.title" : "audit.deletion.title");
		const embed = new EmbedBuilder({ title, color: Colors.Red, description: truncate(text, maxDescription) });
		const shown = {
			undo: rolesOf(row).length > 0,
			restore: isStored && (backup !== null || actor_id !== null),
			stop: doneIn(row).length > 0,
		};
		const buttons = (["undo", "restore", "stop"] as const).filter((one) => shown[one]);
		const button = (one: (typeof buttons)[number]) => ({
			id: `${prefix}:${one}:${row.id}`,
			label: say(`incident.${one}`),
			style: one === "stop" ? (ButtonStyle.Secondary as const) : (ButtonStyle.Primary as const),
		});
		return { embeds: [embed], components: buttons.length > 0 ? [buttonRow(buttons.map(button))] : [] };
	};
}

const doneIn = ({ done }: IncidentRow) => JSON.parse(done ?? "[]") as Said[];
const rolesOf = ({ roles }: IncidentRow) => JSON.parse(roles ?? "[]") as string[];

interface NotifyOptions {
	settings: GuildSettings;
	connection: Connection;
	store: Store;
	log: Log;
}

interface Posting {
	/** In the first of them that can be used; with `inAll` in all. */
	channelIds: readonly (string | undefined)[];
	inAll?: boolean;
	role?: string | undefined;
	nonce: string;
	/** Since then (epoch milliseconds), a bot that was killed may have posted it, with the nonce in ids of buttons. */
	since?: number;
}

/** If no channel can be used, such as after a mass deletion, the guild's owner gets it as a direct message. */
export async function postOnce(
	{ connection, log }: Pick<NotifyOptions, "connection" | "log">,
	guildId: string,
	{ channelIds, inAll, role, nonce, since }: Posting,
	notice: Notice,
): Promise<void> {
	const { discord } = connection;
	const { ownerId = "", preferredLocale } = connection.guild(guildId) ?? {};
	const message = { ...notice(sayIn(preferredLocale)), enforceNonce: true, allowedMentions: noMentions };
	const channels = [...new Set(channelIds)].flatMap((id) => discord.channels.cache.get(id ?? "") ?? []);
	const owner = { id: ownerId, send: () => discord.users.send(ownerId, { ...message, nonce, components: [] }) };
	let isPosted = false;
	for (const [index, to] of [...channels.filter((one) => one.isSendable()), owner].entries()) {
		if (isPosted && (!inAll || to === owner)) return;
		const ping = !isPosted && role !== undefined && { content: `<@&${role}>`, allowedMentions: { roles: [role] } };
		const find = (sinceMs = 0) =>
			findSent(discord, to.id, sinceMs, ({ components }) => JSON.stringify([components]).includes(`:${nonce}"`));
		try {
			const isThere = since !== undefined && (await absentIf([403, 404], () => find(since)));
			// With the same nonce, Discord does not post it twice within some minutes. A guess: it compares those of all channels.
			if (!isThere) await to.send({ ...message, ...ping, nonce: index > 0 ? `${nonce}-${index}` : nonce });
			isPosted = true;
		} catch (error) {
			if (!(error instanceof DiscordAPIError)) throw error;
			log.warn("Discord refused a notice", { to: to.id, reason: error.message });
		}
	}
}

/** In the audit channel, or else in the moderation log; what the bot has done in both, with a ping. */
export function createNotify({ settings, store, ...options }: NotifyOptions): Notify {
	return async ({ id, name }, row, isStored) => {
		await settings.loaded;
		const values = settings.of(id);
		const { "audit.channel": audit, "moderation.log_channel": moderation } = values;
		const inAll = doneIn(row).length > 0;
		if (!inAll && !audit && !moderation) return;
		const role = inAll && !(await hasOther(store.sql, row, 1)) ? values["night.ping_role"] : undefined;
		const posting = {
			channelIds: inAll ? [moderation, audit] : [audit, moderation],
			inAll,
			role,
			nonce: isStored ? row.id : `${row.id}-now`,
			since: row.first_at,
		};
		await postOnce(options, id, posting, noticeOf({ id, name }, row, isStored));
	};
}

export function createIncidentButtons({ callAs, store }: { callAs: CallAs; store: Store }): ComponentHandler {
	return {
		prefix,
		async run(interaction, rest) {
			const [, name, id = ""] = /^(undo|restore|stop|apply_guild|undo_actions):([0-9a-f]{1,32})$/.exec(rest) ?? [];
			if (!name || !interaction.isButton()) throw new SaidError(said("incident.gone"));
			await deferPrivately(interaction);
			const call = (tool: string, args: Parameters<CallAs>[0]["args"]) =>
				callAs({ ...callerOf(interaction), tool, args, command: `the button ${name}` });
			const answer = (...results: PersonResult[]) =>
				answerPrivately(interaction, results.map(({ text }) => text).join("\n"));
			if (name === "stop") return answer(await call("set_settings", { settings: { "night.strip": null } }));
			if (name.includes("_")) return answer(await call(name, { plan_hash: id }));
			const row = await incidentRows.first(store.sql, { guild_id: interaction.guildId, id });
			if (!row || (name === "undo" && rolesOf(row).length === 0)) throw new SaidError(said("incident.gone"));
			if (name === "undo") {
				const given = { action: "add", user_ids: [row.actor_id ?? ""] };
				const results: PersonResult[] = [];
				for (const role_id of rolesOf(row)) results.push(await call("bulk_role_update", { ...given, role_id }));
				const left = rolesOf(row).filter((_, index) => results[index]?.isError);
				await incidentRows.change(store.sql, row, { roles: JSON.stringify(left) });
				return answer(...results);
			}
			const after = new Date(row.first_at - 1_000).toISOString();
			const result = await (row.backup === null
				? call("undo_actions", { user_id: row.actor_id, after })
				: call("plan_guild", { backup: String(row.backup) }));
			await answer(result);
			await askToApply(interaction, result, row.backup === null ? "undo_actions" : "apply_guild");
		},
	};
}

/** With a button that carries out the plan of a result. Nothing is asked without a plan. */
export async function askToApply(
	interaction: RepliableInteraction,
	{ text, isError }: PersonResult,
	by: "undo_actions" | "apply_guild",
): Promise<void> {
	// At the start of a line, where no name of a role or channel stands.
	const [, hash] = /^plan\\?_hash=([0-9a-f]{32})$/m.exec(text) ?? [];
	if (isError || hash === undefined) return;
	const say = sayIn(interaction.locale);
	const apply = {
		id: `${prefix}:${by}:${hash}`,
		label: say("answer.do_it.button"),
		style: ButtonStyle.Danger,
	} as const;
	const components = [buttonRow([apply])];
	await interaction.followUp({ content: say("incident.ask"), components, flags: MessageFlags.Ephemeral });
}
