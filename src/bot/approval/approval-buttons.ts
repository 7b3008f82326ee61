// Handles the buttons of requests for approval. People with one of the roles in approval_roles or with Manage Server
// may decide.

import { type ButtonInteraction, type Message, MessageFlags, PermissionFlagsBits } from "discord.js";
import { toToolError } from "../../discord/rest/errors.ts";
import { inlineText, truncate } from "../../discord/text.ts";
import type { Log } from "../../lib/log.ts";
import { languageOf, render, type Said, said, sayIn } from "../../texts/texts.ts";
import { noMentions } from "../messages/split-message.ts";
import type { ApprovalRow } from "../store/tables/approvals.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import type { Deciding } from "./deciding.ts";
import type { ApprovalSettings } from "./needs-approval.ts";
import { detailsMessage, readButtonId } from "./request-message.ts";
import type { Answer, Requests } from "./requests.ts";

const maxReplyLength = 2_000;

interface ApprovalButtonsOptions {
	settings: ApprovalSettings;
	requests: Pick<Requests, "retire">;
	deciding: Pick<Deciding, "decide" | "find">;
	log: Log;
}

/** Handles "Approve", "Deny" and "Details", ignores other buttons, and never rejects. */
export function createApprovalButtons(
	options: ApprovalButtonsOptions,
): (interaction: ButtonInteraction) => Promise<void> {
	const { settings, requests, deciding, log } = options;

	async function answer(
		interaction: ButtonInteraction,
		{ button, ...given }: NonNullable<ReturnType<typeof readButtonId>>,
	): Promise<ApprovalRow | Answer> {
		const refusal = refusalFor(interaction, settings);
		if (refusal !== undefined) return { message: refusal };
		const { user, message } = interaction;
		const shown = { ...given, onOutdated: (row: ApprovalRow) => requests.retire(row, message.id).catch(() => {}) };
		if (button === "details") {
			const found = await deciding.find(shown);
			return "key" in found ? { message: found } : found;
		}
		const decider = { id: user.id, name: user.globalName ?? user.username };
		const whyNotHere = () => (isAltered(message) ? said("approval.altered") : undefined);
		return deciding.decide({ ...shown, decision: button, whyNotHere }, decider);
	}

	return async (interaction) => {
		const button = readButtonId(interaction.customId);
		if (!button) return;
		const say = sayIn(interaction.locale);
		try {
			// Discord allows 3 s to respond. Deferring first: a decision counts only if its outcome can be shown.
			await interaction.deferReply({ flags: MessageFlags.Ephemeral });
			const answered = await answer(interaction, button).catch((error): Answer => {
				if (error instanceof StoreUnavailable) return { message: error.said };
				throw error;
			});
			if ("token" in answered) await interaction.editReply(detailsMessage(answered, say));
			else {
				const { message, people } = answered;
				const text = render(people ?? message, languageOf(interaction.locale));
				const content = people ? truncate(text, maxReplyLength) : safeText(text);
				await interaction.editReply({ content, allowedMentions: noMentions });
			}
		} catch (error) {
			const refusal = toToolError(error);
			const fields = { approval: button.id, button: button.button };
			if (refusal)
				log.warn("could not respond to a press of an approval button", { ...fields, reason: refusal.message });
			else log.error("could not handle a press of an approval button: internal error", { ...fields, error });
		}
	};
}

function refusalFor(
	{ user, member, memberPermissions }: ButtonInteraction,
	{ approval_roles }: ApprovalSettings,
): Said | undefined {
	if (user.bot) return said("approval.bot");
	// The roles and permissions in the interaction are current; the cache may be older.
	const roles = !member ? [] : Array.isArray(member.roles) ? member.roles : [...member.roles.cache.keys()];
	if (approval_roles)
		return roles.some((role) => approval_roles.includes(role)) ? undefined : said("approval.roles-only");
	return member && memberPermissions?.has(PermissionFlagsBits.ManageGuild) ? undefined : said("approval.managers-only");
}

function isAltered({ editedTimestamp, embeds, flags }: Message): boolean {
	return editedTimestamp !== null || embeds.length !== 1 || flags.has(MessageFlags.SuppressEmbeds);
}

function safeText(text: string): string {
	const [first = "", ...rest] = text.split("\n");
	const shown = rest.length === 0 ? first : `${first}\n${inlineText(rest.join(" "), maxReplyLength - 200)}`;
	return truncate(shown, maxReplyLength);
}
