// The tools list_reports and resolve_report, for assistants that summarize reports. A person in whose name a tool is
// called must see the channel for reports, because reports name the reporters.

import { DiscordAPIError, type Embed, type Guild, type Message, PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../../discord/acting-person.ts";
import { channelLabel, personNameById, time } from "../../../discord/describe.ts";
import { bitsIn, requirePermissions } from "../../../discord/permissions.ts";
import { countOf, fieldLine, oneField, resultLines } from "../../../discord/text.ts";
import { isHidden, visibleChannel } from "../../../discord/visible-channels.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { render, said, sayIn } from "../../../texts/texts.ts";
import { linkTo } from "../../messages/sent-message.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import { choice, flag, guild_id, integer, limit } from "../../tool/arguments/arguments.ts";
import type { BotTool } from "../../tool/context.ts";
import { editTool, readTool } from "../../tool/define.ts";
import { countsText } from "../cases/case-text.ts";
import type { Cases } from "../cases/cases.ts";
import { readCopy } from "./message-copy.ts";
import { actsOf, copyIn, recordNote, type ShownReport, titleOfAct } from "./report-entry.ts";
import { alreadyEnded, type Reports } from "./reports.ts";

const maxNumber = 1_000_000_000;

interface ReportToolsOptions {
	settings: Pick<GuildSettings, "of">;
	reports: Pick<Reports, "find" | "list" | "openAbout" | "end">;
	cases: Pick<Cases, "find" | "countOf">;
}

export function createReportTools(options: ReportToolsOptions): BotTool[] {
	const { settings, reports, cases } = options;

	/** A person must see the channel in which reports are posted. */
	function requireReader(guild: Guild): void {
		const channel = guild.channels.cache.get(settings.of(guild.id)["moderation.reports"] ?? "");
		if (!channel)
			throw new SaidError(said("report.refused.off"), {
				models: `The guild ${guild.id} has no channel for reports: set_settings with moderation.reports. Nothing was done.`,
			});
		if (isHidden(guild, channel.id))
			throw new SaidError(said("report.refused.hidden"), {
				models: "You cannot see the channel for reports of this guild. Nothing was done.",
			});
		requirePermissions(guild, channel, bitsIn(channel, ["ViewChannel", "ReadMessageHistory"]));
	}

	async function casesOf(guild: Guild, people: readonly string[]): Promise<Map<string, string>> {
		const found = new Map<string, string>();
		const reader = actingPerson(guild);
		if (reader && !reader.permissions.has(PermissionFlagsBits.ModerateMembers)) return found;
		for (const id of new Set(people)) found.set(id, countsText(await cases.countOf(guild.id, id)));
		return found;
	}

	return [
		readTool({
			name: "list_reports",
			toolset: "moderation",
			title: "List reports",
			description:
				"What members reported to staff, oldest first: message, copy of its text, reporters, reasons, and earlier cases of the person.",
			permissionsIn: "run",
			input: {
				guild_id,
				ended: flag("Ended ones instead, newest first.", false),
				limit: limit(25, 10),
				offset: v.optional(integer(0, 1_000_000, "How many to skip."), 0),
			},
			async run({ ended, limit, offset }, { guild }) {
				requireReader(guild);
				const { shown, total } = await reports.list(guild.id, !ended, { limit, offset });
				const kind = ended ? "ended report" : "open report";
				if (shown.length === 0)
					return total === 0 ? `No ${kind}.` : `${countOf(total, kind)}, none from offset ${offset} on.`;
				const entries = await Promise.all(
					shown.map(({ row }) => fetchEntry(guild, row.entry_channel_id, row.entry_id)),
				);
				const earlier = ended
					? new Map<string, string>()
					: await casesOf(
							guild,
							shown.map(({ row }) => row.author_id),
						);
				const next = offset + shown.length;
				return resultLines(
					`${countOf(total, kind)}${shown.length < total ? `, ${shown.length} of them here` : ""}, times in UTC:`,
					shown.map((report, index) => reportLine(guild, report, entries[index], earlier.get(report.row.author_id))),
					next < total && `next_offset=${next}`,
				);
			},
		}),
		editTool({
			name: "resolve_report",
			toolset: "moderation",
			title: "Resolve a report",
			description: "End a report. Punishes nobody: do that before.",
			permissionsIn: "run",
			person: { permissions: [{ permission: "ModerateMembers", inGuild: true }] },
			lock: ({ report }, { guildId }) => [`report ${guildId} ${report}`],
			input: {
				guild_id,
				report: integer(1, maxNumber, "Its number."),
				outcome: choice(["handled", "dismissed"], "How it ends."),
				case: v.optional(integer(1, maxNumber, "If handled: the case.")),
			},
			async run({ report, outcome, case: number }, { guild, principal }) {
				requireReader(guild);
				if (number !== undefined) {
					if (outcome === "dismissed") throw new SaidError(said("report.refused.dismissed_case"));
					const found = await cases.find(guild.id, number);
					if (!found || found.deletedAt !== undefined)
						throw new SaidError(said("report.refused.no_case", { number: String(number) }), {
							models: `There is no case ${number}. Nothing was done; use list_cases.`,
						});
				}
				const by = principal?.person?.id ?? null;
				const row = await reports.find(guild.id, report);
				const { author_id } = row;
				if (row.state !== "open")
					throw new SaidError(alreadyEnded(row), {
						models: `Report #${report} was already ${endField(guild, row)}. Nothing was done.`,
					});
				if (by === author_id && by !== guild.ownerId)
					throw new SaidError(said("report.refused.about_you", { number: String(report) }));
				await reports.end(guild.id, report, { state: outcome, by, case: number ?? null });
				const others = await reports.openAbout(guild.id, author_id);
				return resultLines(
					`Report #${report} is ${outcome}.`,
					others.length > 0 && `Still open about the same person: ${others.map((one) => `#${one}`).join(", ")}.`,
				);
			},
		}),
	];
}

async function fetchEntry(
	guild: Guild,
	channelId: string | null,
	entryId: string | null,
): Promise<Message | undefined> {
	const channel = guild.channels.cache.get(channelId ?? "");
	// The entry may be in an earlier channel for reports, which the person cannot see.
	if (!channel?.isTextBased() || isHidden(guild, channel.id) || !entryId) return undefined;
	try {
		return await channel.messages.fetch({ message: entryId, cache: false, force: true });
	} catch (error) {
		if (error instanceof DiscordAPIError) return undefined;
		throw error;
	}
}

function reportLine(guild: Guild, shown: ShownReport, entry: Message | undefined, cases: string | undefined): string {
	const { row, earlier } = shown;
	const { author_id, author_kind, channel_id, message_id } = row;
	const isMessage = channel_id !== null && message_id !== null;
	const kind = author_kind === "person" ? "" : ` [${author_kind}]`;
	const author = `${personNameById(guild, author_id)}${kind}`;
	const place = channel_id === null ? undefined : visibleChannel(guild, channel_id);
	return fieldLine(
		`#${row.number}`,
		time(row.created_at),
		isMessage
			? `message by ${author}${place ? ` in ${channelLabel(place)}` : ""}: ${linkTo({ id: channel_id, guild }, message_id)}`
			: `person: ${author}`,
		cases && `their cases: ${cases}`,
		reportersField(guild, shown),
		earlier && `reported before: #${earlier.number}, ${earlier.state}`,
		...actsOf(row).map(
			({ act, by, state, ...more }) =>
				`${titleOfAct(act)} (${state}) by ${personNameById(guild, by)}${more.case === undefined ? "" : `, case ${more.case}`}`,
		),
		row.state !== "open" && endField(guild, row),
		entry && `entry: ${linkTo({ id: entry.channelId, guild }, entry.id)}`,
		isMessage && row.state === "open" && copyField(entry && copyIn(row, entry.embeds)),
	);
}

function endField(guild: Guild, { state, ended_by, ended_at, case_number }: ShownReport["row"]): string {
	const by = ended_by === null ? "" : ` by ${personNameById(guild, ended_by)}`;
	const number = case_number === null ? "" : `, case ${case_number}`;
	return `${state} ${time(ended_at)}${by}${number}`;
}

function reportersField(guild: Guild, shown: ShownReport): string {
	const { reporters, total, records } = shown;
	const names = reporters.map(({ user_id, reason }) => {
		const why = reason === null ? "" : `, reason: "${oneField(reason)}"`;
		const record = recordNote(records, user_id);
		return `${personNameById(guild, user_id)}${record ? ` [${render(record, "en")}]` : ""}${why}`;
	});
	const more = total - names.length;
	return `reported by ${total}: ${names.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

function copyField(copy: Embed | undefined): string {
	if (!copy) return "no copy of its text";
	const { description, files } = readCopy(copy.data, sayIn("en"));
	const text = description.replace(/^```\n|\n```$/g, "");
	return `text: ${oneField(text)}${files === "" ? "" : `, files: ${oneField(files)}`}`;
}
