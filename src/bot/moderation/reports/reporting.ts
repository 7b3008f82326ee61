// The ways in which members report: the message command Report, with a form for the reason, and the command /report.
// All responses are ephemeral, and reveal nothing about other reports or the actions of staff.

import { setTimeout as sleep } from "node:timers/promises";
import {
	type ChatInputCommandInteraction,
	type Guild,
	type Message,
	type MessageContextMenuCommandInteraction,
	MessageFlags,
	type ModalSubmitInteraction,
	RESTJSONErrorCodes,
} from "discord.js";
import { actAsMember } from "../../../discord/acting-person.ts";
import type { Connection } from "../../../discord/connection/connection.ts";
import { absentIf, textChannel } from "../../../discord/find.ts";
import { bitsIn, requirePermissions } from "../../../discord/permissions.ts";
import { PlatformBusy } from "../../../discord/rest/rest.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { within } from "../../../lib/wait.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { languageOf, render, type Said, said, sayIn } from "../../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import type { ComponentHandler } from "../../commands/components.ts";
import { Limiter } from "../../commands/cooldown.ts";
import type { MenuHandler } from "../../commands/feature.ts";
import { modalOf } from "../../commands/forms.ts";
import { messageReference } from "../../messages/sent-message.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import type { AuthorKind } from "../../store/tables/reports.ts";
import { copyMessage, type ReportedMessage } from "./message-copy.ts";
import { maxReportReason, type Reports } from "./reports.ts";

const { MissingAccess, UnknownMessage } = RESTJSONErrorCodes;

export const formPrefix = "report-form";
const reasonField = "reason";

export const reportCommandNames = ["Report", "report"] as const;

const notFound = said("report.refused.not_found");

const soonMs = 1_000;
const maxAnswers = 10;

const beginLimits = { max: 10, windowMs: 60_000 } as const;

type InGuild<Interaction> = Interaction & { guildId: string };

export class Reporting {
	readonly #limiter = new Limiter(beginLimits);

	constructor(private readonly options: { settings: GuildSettings; connection: Connection; reports: Reports }) {}

	#guildOf(id: string): Guild {
		const guild = this.options.connection.guild(id);
		if (guild?.available) return guild;
		throw new SaidError(said("report.refused.later"));
	}

	#requireCalm({ guildId, user }: { guildId: string; user: { id: string } }): void {
		const { waitS } = this.#limiter.take(`${guildId} ${user.id}`);
		if (waitS > 0)
			throw new SaidError(
				said("report.refused.fast", { max: beginLimits.max, wait: said("result.seconds", { count: waitS }) }),
			);
	}

	#requireReportable(guildId: string, { channelId, authorId }: ReportedMessage, reporterId: string): void {
		if (authorId === reporterId) throw new SaidError(said("report.refused.own"));
		if (channelId === this.options.settings.of(guildId)["moderation.reports"])
			throw new SaidError(said("report.refused.here"));
	}

	async #onMenu(interaction: InGuild<MessageContextMenuCommandInteraction>): Promise<void> {
		const { targetMessage, user, guildId } = interaction;
		this.options.reports.requireOn(guildId);
		const message = reportedMessage(targetMessage, interaction.channelId);
		if (targetMessage.flags.has(MessageFlags.Ephemeral)) throw new SaidError(said("report.refused.ephemeral"));
		this.#requireReportable(guildId, message, user.id);
		this.#requireCalm(interaction);
		// The interaction of the submitted form does not contain the message.
		this.options.reports.copies.add(message);
		await interaction.showModal(formFor(message, interaction.locale));
	}

	async #onForm(interaction: InGuild<ModalSubmitInteraction>, rest: string): Promise<Said> {
		const [, channelId, messageId] = /^(\d{17,20}):(\d{17,20})$/.exec(rest) ?? [];
		if (channelId === undefined || messageId === undefined) throw new SaidError(notFound);
		const guild = this.#guildOf(interaction.guildId);
		const { user } = interaction;
		const kept = this.options.reports.copies.get(messageId);
		const isHere = kept?.channelId === channelId && interaction.channelId === channelId;
		const message = isHere ? kept : await this.#readMessage(guild, user.id, channelId, messageId);
		this.#requireReportable(guild.id, message, user.id);
		return this.options.reports.file(guild, {
			message,
			reporterId: user.id,
			reason: interaction.fields.getTextInputValue(reasonField),
		});
	}

	async #onCommand(interaction: InGuild<ChatInputCommandInteraction>): Promise<Said> {
		this.options.reports.requireOn(interaction.guildId);
		this.#requireCalm(interaction);
		const guild = this.#guildOf(interaction.guildId);
		const reporterId = interaction.user.id;
		const link = interaction.options.getString("message")?.trim();
		const person = interaction.options.getUser("user") ?? undefined;
		const reason = interaction.options.getString("reason") ?? undefined;
		if (link === undefined)
			return this.options.reports.file(guild, {
				reporterId,
				person: this.#checkPerson(person, reporterId, reason),
				reason,
			});
		const [, guildId, channelId = "", messageId = ""] = messageReference.exec(link.replace(/\/$/, "")) ?? [];
		if (guildId !== guild.id) throw new SaidError(said("report.refused.link"));
		const message = await this.#readMessage(guild, reporterId, channelId, messageId);
		this.#requireReportable(guild.id, message, reporterId);
		if (person && person.id !== message.authorId) throw new SaidError(said("report.refused.other_author"));
		return this.options.reports.file(guild, { message, reporterId, reason });
	}

	#checkPerson(person: { id: string; bot: boolean } | undefined, reporterId: string, reason: string | undefined) {
		if (!person) throw new SaidError(said("report.refused.nothing"));
		if (person.id === reporterId) throw new SaidError(said("report.refused.self"));
		if (person.id === this.options.connection.user?.id) throw new SaidError(said("report.refused.bot"));
		if (!reason?.trim()) throw new SaidError(said("report.refused.no_reason"));
		return { id: person.id, isBot: person.bot };
	}

	async #readMessage(guild: Guild, userId: string, channelId: string, messageId: string): Promise<ReportedMessage> {
		const member = guild.members.cache.get(userId) ?? (await guild.members.fetch(userId));
		const found = await actAsMember(member, async () => {
			try {
				const channel = await textChannel(guild, channelId);
				requirePermissions(guild, channel, bitsIn(channel, ["ViewChannel", "ReadMessageHistory"]));
				return await absentIf([UnknownMessage, MissingAccess], () =>
					channel.messages.fetch({ message: messageId, cache: false, force: true }),
				);
			} catch (error) {
				// The reason would reveal channels that the person cannot see.
				if (error instanceof ToolError) return undefined;
				throw error;
			}
		});
		if (!found) throw new SaidError(notFound);
		return reportedMessage(found, channelId);
	}

	readonly menus: readonly MenuHandler[] = [
		{ type: "message", name: "Report", run: (interaction) => this.#onMenu(interaction) },
		{
			type: "slash",
			name: "report",
			options: [
				{ kind: "text", name: "message", max: 200 },
				{ kind: "user", name: "user" },
				{ kind: "text", name: "reason", max: maxReportReason },
			],
			run: (interaction) => answerSoon(interaction, this.#onCommand(interaction)),
		},
	];

	readonly form: ComponentHandler = {
		prefix: formPrefix,
		run: async (interaction, rest) => {
			if (interaction.isModalSubmit()) await answerSoon(interaction, this.#onForm(interaction, rest));
		},
	};
}

/** Editing a deferred response counts for Discord's global rate limit, the first response does not. */
async function answerSoon(
	interaction: ChatInputCommandInteraction | ModalSubmitInteraction,
	work: Promise<Said>,
): Promise<void> {
	const soon = await within(soonMs, work);
	if (soon === "late") await deferPrivately(interaction);
	const text = render(await work, languageOf(interaction.locale));
	for (let attempts = 1; ; attempts += 1) {
		try {
			return await answerPrivately(interaction, text);
		} catch (error) {
			// The report is already stored, so the error must not say that nothing was done.
			if (!(error instanceof PlatformBusy) || attempts >= maxAnswers) throw error;
			await sleep(error.retryAfterMs);
		}
	}
}

function reportedMessage(message: Message, channelId: string): ReportedMessage {
	return {
		id: message.id,
		channelId,
		authorId: message.author.id,
		authorKind: authorKind(message),
		copy: copyMessage(message),
	};
}

function authorKind({ author, client, webhookId }: Message): AuthorKind {
	if (author.id === client.user.id) return "self";
	// Responses to slash commands have the bot's id as webhook id.
	if (webhookId !== null && webhookId === author.id) return "webhook";
	return author.bot ? "bot" : "person";
}

function formFor({ id, channelId }: ReportedMessage, locale: string) {
	const say = sayIn(locale);
	const reason = {
		id: reasonField,
		label: say("report.why.label"),
		hint: say("report.why.hint"),
		max: maxReportReason,
	};
	return modalOf({
		id: `${formPrefix}:${channelId}:${id}`,
		title: say("report.form"),
		fields: [{ ...reason, isLong: true, required: false }],
		locale,
	});
}
