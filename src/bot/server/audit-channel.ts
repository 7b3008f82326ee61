// Posts a line in a channel for each call of an assistant that changes something, with its details behind a button. Posts are
// queued and never delay a call. Commands of people on Discord are not posted.

import { EmbedBuilder, MessageFlags, PermissionFlagsBits, type RepliableInteraction } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { inlineText, nameText, oneLine } from "../../discord/text.ts";
import type { Log } from "../../lib/log.ts";
import { SaidError } from "../../texts/said-error.ts";
import { languageOf, render, type Said, said, sayIn, type TextKey } from "../../texts/texts.ts";
import { createEmbedQueue } from "../messages/embed-queue.ts";
import { noMentions } from "../messages/split-message.ts";
import type { GuildSettings } from "../settings/guild-settings.ts";
import { isOnDiscord } from "../tool/admission.ts";
import type { Audit, AuditedCall } from "../tool/audit.ts";
import { toolTitle } from "../tool/titles.ts";

const maxArgumentsLength = 1_000;
const prefix = "audit";

const colours: Record<AuditedCall["outcome"], number> = {
	done: 0x2e7d32,
	failed: 0xc62828,
	refused: 0xc62828,
	error: 0xc62828,
};

interface AuditChannelOptions {
	settings: GuildSettings;
	connection: Connection;
	log: Log;
}

/** Each guild has its own. Calls that are about no guild are only in the log of tool calls. */
export function createAuditChannel({ settings, connection, log }: AuditChannelOptions) {
	const queue = createEmbedQueue({ connection, log, setting: "audit.channel" });
	const locale = (guildId: string) => connection.guild(guildId)?.preferredLocale ?? null;
	return {
		/** Queues a line, returns at once and never throws. `id`: of its row, if it is stored. */
		announce(call: AuditedCall, id: string | undefined) {
			const { guildId = "", principal } = call;
			const { "audit.channel": channelId } = settings.of(guildId);
			// The caller cannot use this guild, so its audit channel does not show the call.
			const isBeyond =
				principal?.guilds?.includes(guildId) === false ||
				(principal?.person && !connection.guild(guildId)?.members.cache.has(principal.person.id));
			if (isOnDiscord(principal) || channelId === undefined || isBeyond) return;
			const details = id === undefined ? undefined : `${prefix}:${id}`;
			queue.push(guildId, { channelId: () => channelId, embed: () => lineFor(call, locale(guildId)), details });
		},
		settled: queue.settled,
		/** The button "Details": for those with Manage Server, from the row of the call. */
		details: (audit: Pick<Audit, "find">) => ({
			prefix,
			async run(interaction: RepliableInteraction, id: string) {
				if (!interaction.memberPermissions?.has(PermissionFlagsBits.ManageGuild))
					throw new SaidError(said("audit.not-allowed"));
				await interaction.deferReply({ flags: MessageFlags.Ephemeral });
				const row = await audit.find(id);
				if (!row || row.guild_id !== interaction.guildId) throw new SaidError(said("audit.gone"));
				await interaction.editReply({ embeds: [describe(row, interaction.locale)], allowedMentions: noMentions });
			},
		}),
	};
}

function lineFor({ at, outcome, principal, tool, title = tool }: AuditedCall, locale: string | null) {
	const line = sayIn(locale)("audit.line", {
		title: toolTitle(tool, inlineText(title, 200)),
		outcome: said(`audit.${outcome}`),
		who: whoAsked(principal?.person?.id, principal?.id),
		time: `<t:${Math.floor(at.getTime() / 1_000)}:f>`,
	});
	return new EmbedBuilder().setColor(colours[outcome]).setDescription(line);
}

function whoAsked(person: string | undefined | null, key: string | undefined | null): string | Said {
	if (person) return `<@${person}>`;
	// A key's id is its name and a part of its hash.
	const [, name] = /^key:(.*?)(?::[^:]*)?$/s.exec(key ?? "") ?? [];
	if (name) return said("approval.for.key", { key: inlineText(name, 200) });
	return key ? inlineText(key, 200) : said("audit.by.root");
}

type FieldKey = Extract<TextKey, `${"audit" | "approval"}.${string}.field`>;

function describe(row: NonNullable<Awaited<ReturnType<Audit["find"]>>>, locale: string): EmbedBuilder {
	const say = sayIn(locale);
	const field = (key: FieldKey, value: string) => ({ name: say(key), value, inline: true });
	const who = whoAsked(row.person, row.key);
	return new EmbedBuilder()
		.setTitle(row.tool)
		.setColor(colours[row.outcome])
		.setDescription(`\`\`\`json\n${oneLine(row.arguments).slice(0, maxArgumentsLength).replaceAll("`", "ˋ")}\n\`\`\``)
		.addFields(
			field("audit.outcome.field", say(`audit.${row.outcome}`)),
			field("audit.effect.field", say(`audit.effect.${row.effect}`)),
			field("approval.for.field", render(who, languageOf(locale))),
			...(row.key ? [field("audit.key.field", inlineText(row.key, 1_000))] : []),
			field("approval.client.field", nameText(row.client, say("approval.unknown"))),
			...(row.request_id ? [field("audit.request.field", inlineText(row.request_id, 1_000))] : []),
		)
		.setTimestamp(row.at);
}
