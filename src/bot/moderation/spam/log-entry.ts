// Entries about spam incidents in the moderation log, with buttons.

import { type APIMessage, ButtonStyle, DiscordAPIError, EmbedBuilder, type RawFile, Routes } from "discord.js";
import { inlineText, resultLines } from "../../../discord/text.ts";
import { isPublic } from "../../../discord/visible-channels.ts";
import { Semaphore } from "../../../lib/semaphore.ts";
import { render, type Say, said, sayIn } from "../../../texts/texts.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import { buttonRow } from "../../messages/buttons.ts";
import { copiesOf } from "../message-log/copies.ts";
import type { RecentMessage } from "../message-log/recent-messages.ts";
import { type EvidenceOf, formatEnd, type Posted } from "../moderation-log.ts";
import { failuresOf, type Incident } from "./incident.ts";
import { type PersistentOptions, persistently, type RequestEnd } from "./persistent-request.ts";

export const prefix = "spam";

const maxWaiting = 1_000;

interface EntriesOptions extends PersistentOptions, Pick<FeatureOptions, "connection" | "log"> {
	channelOf(guildId: string): string | undefined;
	evidenceFor(wanted: EvidenceOf): readonly RecentMessage[];
	onPosted(guildId: string, caseNumber: number, posted: Posted): void;
}

/** One after another. */
export function createEntries({ connection, log, channelOf, evidenceFor, onPosted, ...options }: EntriesOptions) {
	const oneByOne = new Semaphore({ max: 1, maxWaiting });

	async function write(incident: Incident): Promise<RequestEnd> {
		const { entry, guildId, id } = incident;
		const channelId = entry?.channelId ?? channelOf(guildId);
		if (channelId === undefined) return "done";
		return persistently(
			async () => {
				const { rest } = connection.discord;
				const guild = connection.guild(guildId);
				const say = sayIn(guild?.preferredLocale);
				const body = messageOf(incident, say);
				if (entry) {
					const path = Routes.channelMessage(channelId, entry.messageId);
					const { embeds } = (await rest.get(path)) as APIMessage;
					await rest.patch(path, { body: { ...body, embeds: [...body.embeds, ...embeds.slice(1)] } });
					return;
				}
				const evidence = { guildId, action: "spam", messageIds: [...incident.messages.keys()] };
				const channel = guild?.channels.cache.get(channelId);
				const wanted = incident.automod?.copies ?? differing(evidenceFor(evidence));
				const copies = copiesOf(guild, channel && isPublic(channel) ? [] : wanted, say);
				const copyEmbed = (text: string) => (text === "" ? [] : [new EmbedBuilder().setDescription(text).toJSON()]);
				const files = copies.files.map(({ name, attachment }) => ({ name: String(name), data: attachment as Buffer }));
				// The nonce is the same after a restart, so Discord does not create a second entry.
				const post = (embeds: readonly object[], files: readonly RawFile[] = []) =>
					rest.post(Routes.channelMessages(channelId), {
						body: { ...body, embeds: [...body.embeds, ...embeds], nonce: id },
						files: [...files],
					});
				const posted = (await post(copyEmbed(copies.text), files).catch((error) => {
					// Such as a link that Discord blocks, or the lack of Attach Files.
					const isRefused = error instanceof DiscordAPIError && error.status < 500 && copies.text !== "";
					if (!isRefused) throw error;
					return post(copyEmbed(say("report.copy.refused")));
				})) as APIMessage;
				incident.entry = { channelId, messageId: posted.id };
				if (incident.caseNumber !== undefined) onPosted(guildId, incident.caseNumber, incident.entry);
			},
			[],
			options,
		);
	}

	return {
		/** Never rejects. */
		async write(incident: Incident): Promise<void> {
			const { guildId: guild, userId: user } = incident;
			try {
				await oneByOne.acquire(options.closing);
				const end = await write(incident).finally(() => oneByOne.release());
				if (typeof end === "object") throw new Error(render(end.failure, "en"));
			} catch (error) {
				if (options.closing.aborted) return;
				const reason = String((error as Error).message);
				log.warn("could not post a moderation log entry about spam", { guild, user, reason });
			}
		},
	};
}

/** Spam is mostly the same again. */
function differing(messages: readonly RecentMessage[]): RecentMessage[] {
	const keyOf = ({ text, files }: RecentMessage) => JSON.stringify([text, files.map(({ name, size }) => [name, size])]);
	return [...new Map(messages.map((message) => [keyOf(message), message])).values()];
}

export function messageOf(incident: Incident, say: Say) {
	return {
		embeds: [embedOf(incident, say).toJSON()],
		components: incident.isDry ? [] : [buttonsOf(incident, say)],
		allowed_mentions: { parse: [] },
	};
}

function embedOf(incident: Incident, say: Say): EmbedBuilder {
	const { userId, rule, told, caseNumber, timeout, automod } = incident;
	const isFailure = typeof timeout === "object";
	const embed = new EmbedBuilder()
		.setTitle(say(automod ? "case.action.automod" : incident.isDry ? "spam.dry.title" : "spam.title"))
		.setColor(isFailure ? 0xc62828 : 0xef6c00)
		.setTimestamp(incident.detectedAt)
		.setDescription(describe(incident, say));
	const add = (name: string, value: string) => embed.addFields({ name, value, inline: value.length < 60 });
	add(say("log.user.field"), `<@${userId}>`);
	const reason = automod ? inlineText(say("refusal.reason", { text: rule }), 200) : say("spam.reason", { rule });
	add(say("log.reason.field"), reason);
	if (told) add(say("log.told.field"), say(`log.told.${told}`));
	if (!incident.isDry && (!automod || caseNumber !== undefined))
		add(say("log.case.field"), caseNumber === undefined ? say("spam.case.none") : String(caseNumber));
	return embed;
}

function describe(incident: Incident, say: Say): string {
	const { messages, timeout, until, automod } = incident;
	if (automod)
		return resultLines(
			timeout === "done" && say("spam.done", { end: formatEnd(until) }),
			automod.blocked > 0 && say("automod.blocked", { count: automod.blocked }),
			automod.isBarred && say("automod.barred"),
			messages.size > 0 && say("automod.reported"),
			timeout === "done" && say("spam.help"),
		).join("\n");
	const channels = said("spam.channels", { count: new Set(messages.values()).size });
	if (incident.isDry) return say("spam.dry", { messages: said("count.messages", { count: messages.size }), channels });
	const failures = failuresOf(incident);
	const reasons = new Set(failures.map((one) => say("refusal.reason", { text: one })));
	return resultLines(
		typeof timeout === "object"
			? say("spam.failed", { reason: timeout.failure })
			: say("spam.done", { end: formatEnd(until) }),
		say("spam.deleted", { count: messages.size - failures.length, channels }),
		reasons.size > 0 && say("spam.undeleted", { count: failures.length, reasons: [...reasons].slice(0, 3).join("; ") }),
		say("spam.help"),
	).join("\n");
}

function buttonsOf({ userId, id, automod, timeout }: Incident, say: Say) {
	const button = (name: "undo" | "ban" | "fine", style: Parameters<typeof buttonRow>[0][number]["style"]) => ({
		id: `${prefix}:${name}:${userId}:${id}`,
		label: say(`spam.${name}.button`),
		style,
	});
	return buttonRow([
		...(automod && timeout !== "done" ? [] : [button("undo", ButtonStyle.Secondary)]),
		button("ban", ButtonStyle.Danger),
		button("fine", ButtonStyle.Success),
	]);
}
