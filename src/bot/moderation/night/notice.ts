// Tells staff of a mass deletion, with buttons that restore what was deleted in the name of who presses them.

import { ButtonStyle, Colors, DiscordAPIError, EmbedBuilder, type Guild, MessageFlags } from "discord.js";
import type { Connection } from "../../../discord/connection/connection.ts";
import { inlineText } from "../../../discord/text.ts";
import type { Log } from "../../../lib/log.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { joined, type Said, type Say, said, sayIn } from "../../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import { type ComponentHandler, callerOf } from "../../commands/components.ts";
import type { Notify } from "../../guild-documents/backups/deletion-watch.ts";
import { buttonRow } from "../../messages/buttons.ts";
import { noMentions } from "../../messages/split-message.ts";
import { at } from "../../results/result.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import type { Store } from "../../store/store.ts";
import { type IncidentRow, selectIncident, setActed } from "../../store/tables/incidents.ts";
import type { CallAs, PersonResult } from "../../tool/call-as.ts";

const prefix = "incident";
const maxNameLength = 100;

export type Notice = (say: Say) => { embeds: [EmbedBuilder]; components: ReturnType<typeof buttonRow>[] };

export function noticeOf({ name, id: guild }: Pick<Guild, "name" | "id">, row: IncidentRow, isStored: boolean): Notice {
	const { kind, actor_id, count, backup, backup_at } = row;
	const isBan = kind === "bans";
	const names = (JSON.parse(row.names) as string[]).map((one) =>
		isBan ? `<@${one}>` : inlineText(one, maxNameLength),
	);
	const list = names.join(", ");
	const more = count - names.length;
	const kept = { number: String(backup), when: at(backup_at ?? 0), guild };
	const none = said(isStored ? "audit.deletion.no_backup" : "audit.deletion.later");
	const done = doneIn(row);
	const rest = [...(isBan ? [] : [backup === null ? none : said("audit.deletion.kept", kept)]), ...done];
	return (say) => {
		const description = say(isBan ? "audit.bans" : "audit.deletion", {
			server: inlineText(name, 200),
			who: actor_id === null ? said("audit.deletion.unknown") : `<@${actor_id}>`,
			count,
			from: at(row.first_at, "T"),
			to: at(row.last_at, "T"),
			names: more > 0 ? said("result.and_more", { list, count: more }) : list,
			rest: joined(rest) ?? "",
		});
		const title = say(isBan ? "audit.bans.title" : "audit.deletion.title");
		const embed = new EmbedBuilder({ title, color: Colors.Red, description });
		const shown = {
			undo: rolesOf(row).length > 0,
			restore: isStored && (backup !== null || actor_id !== null),
			stop: done.length > 0,
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
	settings: Pick<GuildSettings, "of" | "loaded">;
	connection: Connection;
	log: Log;
}

/** Resolves if it cannot be posted, too. */
export async function postOnce(
	{ connection, log }: Pick<NotifyOptions, "connection" | "log">,
	{ channelId, role, nonce }: { channelId: string | undefined; role?: string | undefined; nonce: string },
	notice: Notice,
): Promise<void> {
	if (channelId === undefined) return;
	const fields = { channel: channelId };
	const channel = connection.discord.channels.cache.get(channelId);
	if (!channel?.isSendable())
		return log.warn("could not post a notice of a mass deletion: channel unavailable", fields);
	const message = notice(sayIn("guild" in channel ? channel.guild.preferredLocale : undefined));
	const ping = role !== undefined && { content: `<@&${role}>`, allowedMentions: { roles: [role] } };
	try {
		// The nonce is the same after a restart, so Discord does not post it twice.
		await channel.send({ ...message, nonce, enforceNonce: true, allowedMentions: noMentions, ...ping });
	} catch (error) {
		if (!(error instanceof DiscordAPIError)) throw error;
		log.warn("Discord refused a notice", { ...fields, reason: error.message });
	}
}

/** In the audit channel, or else in the moderation log; what the bot has done there first, with a ping. */
export function createNotify({ settings, connection, log }: NotifyOptions): Notify {
	return async (guild, row, isStored) => {
		await settings.loaded;
		const values = settings.of(guild.id);
		const { "audit.channel": audit, "moderation.log_channel": moderation } = values;
		const hasActed = doneIn(row).length > 0;
		const channels = hasActed ? [moderation ?? audit, audit ?? moderation] : [audit ?? moderation];
		for (const [index, channelId] of [...new Set(channels)].entries()) {
			const role = hasActed && index === 0 ? values["night.ping_role"] : undefined;
			// A guess: Discord compares nonces of all channels. Its documentation does not say.
			const nonce = `${row.id}-${isStored ? index : "now"}`;
			await postOnce({ connection, log }, { channelId, role, nonce }, noticeOf(guild, row, isStored));
		}
	};
}

interface ButtonsOptions {
	callAs: CallAs;
	store: Pick<Store, "sql">;
}

export function createIncidentButtons({ callAs, store }: ButtonsOptions): ComponentHandler {
	return {
		prefix,
		async run(interaction, rest) {
			const [, name, id = ""] = /^(undo|restore|stop|apply_guild|undo_actions):([0-9a-f]{1,32})$/.exec(rest) ?? [];
			if (!name || !interaction.isButton()) throw new SaidError(said("incident.gone"));
			await deferPrivately(interaction);
			const say = sayIn(interaction.locale);
			const call = (tool: string, args: Parameters<CallAs>[0]["args"]) =>
				callAs({ ...callerOf(interaction), tool, args, command: `the button ${name}` });
			const answer = (...results: PersonResult[]) =>
				answerPrivately(interaction, results.map(({ text }) => text).join("\n"));
			if (name === "stop") return answer(await call("set_settings", { settings: { "night.strip": null } }));
			if (name.includes("_")) return answer(await call(name, { plan_hash: id }));
			const row = await selectIncident(store.sql, interaction.guildId, id);
			if (!row || (name === "undo" && rolesOf(row).length === 0)) throw new SaidError(said("incident.gone"));
			if (name === "undo") {
				const give = (role_id: string) =>
					call("bulk_role_update", { action: "add", role_id, user_ids: [row.actor_id ?? ""] });
				const results: PersonResult[] = [];
				for (const role of rolesOf(row)) results.push(await give(role));
				const left = rolesOf(row).filter((_, index) => results[index]?.isError);
				await setActed(store.sql, { ...row, roles: JSON.stringify(left) });
				return answer(...results);
			}
			const after = new Date(row.first_at - 1_000).toISOString();
			const result = await (row.backup === null
				? call("undo_actions", { user_id: row.actor_id, after })
				: call("plan_guild", { backup: String(row.backup) }));
			await answer(result);
			const [, hash] = /hash=([0-9a-f]{32})/.exec(result.text) ?? [];
			if (result.isError || hash === undefined) return;
			const by = row.backup === null ? "undo_actions" : "apply_guild";
			const button = {
				id: `${prefix}:${by}:${hash}`,
				label: say("incident.apply"),
				style: ButtonStyle.Danger as const,
			};
			const content = say("incident.ask");
			const components = [buttonRow([button])];
			await interaction.followUp({ content, components, flags: MessageFlags.Ephemeral, allowedMentions: noMentions });
		},
	};
}
