// The buttons of requests for approval. People with one of the roles in approval.roles or with Manage Server may decide.

import {
	type Message,
	MessageFlags,
	PermissionFlagsBits,
	type PermissionsBitField,
	type RepliableInteraction,
} from "discord.js";
import { inlineText, truncate } from "../../discord/text.ts";
import { SaidError } from "../../texts/said-error.ts";
import { languageOf, render, type Said, said, sayIn } from "../../texts/texts.ts";
import { noMentions } from "../messages/split-message.ts";
import type { ApprovalRow } from "../store/tables/approvals.ts";
import type { Deciding, DecidingOptions } from "./deciding.ts";
import { buttonPrefix, detailsMessage, readButtonId } from "./request-message.ts";

const maxReplyLength = 2_000;

export function createApprovalButtons({ settings, requests, deciding }: DecidingOptions & { deciding: Deciding }) {
	return {
		prefix: buttonPrefix,
		isUnlimited: true,
		async run(interaction: RepliableInteraction, rest: string) {
			const read = readButtonId(rest);
			if (!read || !interaction.isButton()) return;
			// Discord allows 3 s to respond. Deferring first: a decision counts only if its outcome can be shown.
			await interaction.deferReply({ flags: MessageFlags.Ephemeral });
			await settings.ready();
			const { member, memberPermissions } = interaction;
			// The roles and permissions in the interaction are current; the cache may be older.
			const held = !member ? [] : Array.isArray(member.roles) ? member.roles : [...member.roles.cache.keys()];
			const { "approval.roles": approvers } = settings.of(interaction.guildId ?? "");
			const refusal = whyNotApprover(approvers, held, memberPermissions);
			if (refusal) throw new SaidError(refusal);
			const { user, message, locale } = interaction;
			const { button, ...given } = read;
			const shown = { ...given, onOutdated: (row: ApprovalRow) => requests.retire(row, message.id).catch(() => {}) };
			if (button === "details") {
				const found = await deciding.find(shown);
				if ("key" in found) throw new SaidError(found);
				await interaction.editReply(detailsMessage(found, sayIn(locale)));
				return;
			}
			const decider = { id: user.id, name: user.globalName ?? user.username };
			const whyNotHere = () => (isAltered(message) ? said("approval.altered") : undefined);
			const answer = await deciding.decide({ ...shown, decision: button, whyNotHere }, decider);
			const text = render(answer.people ?? answer.message, languageOf(locale));
			const content = answer.people ? truncate(text, maxReplyLength) : safeText(text);
			await interaction.editReply({ content, allowedMentions: noMentions });
		},
	};
}

/** `approvers`: the setting `approval.roles`. */
export function whyNotApprover(
	approvers: readonly string[],
	held: readonly string[],
	permissions: Readonly<PermissionsBitField> | null,
): Said | undefined {
	if (approvers.length > 0)
		return held.some((role) => approvers.includes(role)) ? undefined : said("approval.roles-only");
	return permissions?.has(PermissionFlagsBits.ManageGuild) ? undefined : said("approval.managers-only");
}

function isAltered({ editedTimestamp, embeds, flags }: Message): boolean {
	return editedTimestamp !== null || embeds.length !== 1 || flags.has(MessageFlags.SuppressEmbeds);
}

function safeText(text: string): string {
	const [first = "", ...rest] = text.split("\n");
	const shown = rest.length === 0 ? first : `${first}\n${inlineText(rest.join(" "), maxReplyLength - 200)}`;
	return truncate(shown, maxReplyLength);
}
