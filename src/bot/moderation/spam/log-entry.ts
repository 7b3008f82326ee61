// Entries about spam incidents in the moderation log, with buttons.

import {
	type APIMessage,
	type ButtonInteraction,
	ButtonStyle,
	DiscordAPIError,
	EmbedBuilder,
	type RawFile,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import { absentIf, fetchMember } from "../../../discord/find.ts";
import { inlineText, resultLines } from "../../../discord/text.ts";
import { isPublic } from "../../../discord/visible-channels.ts";
import { Semaphore } from "../../../lib/semaphore.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { render, type Say, said, sayIn } from "../../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import { type ComponentHandler, callerOf } from "../../commands/components.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import { requireHeld } from "../../commands/who-may.ts";
import { buttonRow } from "../../messages/buttons.ts";
import { noMentions } from "../../messages/split-message.ts";
import type { Grants } from "../../settings/grants.ts";
import type { Store } from "../../store/store.ts";
import { spamIncidentRows } from "../../store/tables/spam-incidents.ts";
import { ignoreUnavailable, StoreUnavailable } from "../../store/unavailable.ts";
import type { Cases } from "../cases/cases.ts";
import { copiesOf } from "../message-log/copies.ts";
import type { RecentMessage } from "../message-log/recent-messages.ts";
import { type EvidenceOf, formatEnd, type Posted } from "../moderation-log.ts";
import type { Allowances } from "./allowances.ts";
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
				const end = await oneByOne.run(options.closing, () => write(incident));
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

interface ButtonsOptions extends Pick<FeatureOptions, "callAs" | "log"> {
	settings: Grants;
	cases: Cases;
	allowances: Allowances;
	store: Store;
	/** The person's earlier messages are to be forgotten. */
	onUndone(guildId: string, userId: string): void;
}

interface Press {
	interaction: ButtonInteraction & { guildId: string };
	userId: string;
	caseNumber: number | undefined;
}

/** A button that changes something calls a tool in the name of who pressed it, so the tool checks their permissions. */
export function createButtons(options: ButtonsOptions): ComponentHandler {
	const { settings, callAs, cases, allowances, store, log, onUndone } = options;
	/** By log entry, because two moderators may press at once. */
	const running = new Set<string>();

	function call({ interaction, userId }: Press, tool: string, more: object) {
		return callAs({ ...callerOf(interaction), tool, args: { user_ids: [userId], ...more }, command: "spam button" });
	}

	function about({ caseNumber }: Press): string {
		return caseNumber === undefined ? "spam" : `case ${caseNumber}, spam`;
	}

	async function undo(press: Press): Promise<Answer> {
		const reason = `Undo of ${about(press)}`;
		const { text, isError } = await call(press, "remove_timeout", { reason });
		if (isError) return { text, isDone: false };
		onUndone(press.interaction.guildId, press.userId);
		return { text, isDone: true };
	}

	async function ban(press: Press): Promise<Answer> {
		const { text, isError } = await call(press, "ban", { delete_messages: "1h", reason: `Ban for ${about(press)}` });
		return { text, isDone: !isError };
	}

	async function allow(press: Press): Promise<Answer> {
		const { interaction, userId } = press;
		const { guildId, guild } = interaction;
		const member = guild && (await fetchMember(guild, userId));
		const isTimedOut = member?.isCommunicationDisabled() ?? false;
		const undone = isTimedOut ? await undo(press) : undefined;
		if (undone && !undone.isDone) return undone;
		await allowances.add(guildId, userId);
		onUndone(guildId, userId);
		const say = sayIn(interaction.locale);
		const text = say("spam.allowed", { user: `<@${userId}>` });
		return { text: [undone?.text ?? say("spam.ended"), text].join("\n"), isDone: true };
	}

	const actions = { undo, ban, fine: allow };

	async function note({ interaction, caseNumber }: Press, name: keyof typeof actions): Promise<void> {
		const { guildId, guildLocale, user, message } = interaction;
		try {
			if (caseNumber !== undefined) {
				const found = await cases.find(guildId, caseNumber);
				const reason = [`${caseNotes[name]}.`, found?.reason].filter(Boolean).join(" ");
				await cases.edit(guildId, caseNumber, user.id, reason);
			}
		} catch (error) {
			if (!(error instanceof StoreUnavailable)) throw error;
			log.warn("could not note in a case what was done about it", { guild: guildId, case: caseNumber });
		}
		const [embed] = message.embeds;
		const line = sayIn(guildLocale)(`spam.${name}`, { moderator: `<@${user.id}>` });
		const description = [embed?.description, line].filter(Boolean).join("\n");
		// The log entry may have been deleted.
		await absentIf([RESTJSONErrorCodes.UnknownMessage], () =>
			message.edit({
				embeds: embed ? [{ ...embed.toJSON(), description }] : [],
				components: [],
				allowedMentions: noMentions,
			}),
		);
	}

	return {
		prefix,
		async run(interaction, rest) {
			const [, name = "", userId = "", id = ""] = /^(undo|ban|fine):(\d{1,20}):(\d{1,20})$/.exec(rest) ?? [];
			if (!isName(name) || !interaction.isButton()) throw new SaidError(said("spam.button.unknown"));
			// If the timeout has ended, "fine" calls no tool that would check the person's permissions.
			requireHeld(settings, interaction, { may: name === "ban" ? "ban" : "timeout" });
			await deferPrivately(interaction);
			const { id: entryId } = interaction.message;
			if (running.has(entryId)) throw new SaidError(said("spam.pressed"));
			running.add(entryId);
			try {
				const row = await spamIncidentRows
					.first(store.sql, { guild_id: interaction.guildId, id })
					.catch(ignoreUnavailable);
				const press: Press = { interaction, userId, caseNumber: row?.case_number ?? undefined };
				const { text, isDone } = await actions[name](press);
				await answerPrivately(interaction, text);
				if (isDone) await note(press, name);
			} finally {
				running.delete(entryId);
			}
		},
	};
}

interface Answer {
	text: string;
	isDone: boolean;
}

/** The start of the case's reason from then on. */
const caseNotes = { undo: "Undone", ban: "Banned", fine: "It's fine" } as const;

const isName = (name: string): name is keyof typeof caseNotes => Object.hasOwn(caseNotes, name);
