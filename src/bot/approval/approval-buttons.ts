// Handles the buttons of requests for approval. People with one of the roles in approval_roles or with Manage Server
// may decide.

import { type ButtonInteraction, type Message, MessageFlags, PermissionFlagsBits } from "discord.js";
import { toToolError } from "../../discord/rest/errors.ts";
import { inlineText, truncate } from "../../discord/text.ts";
import type { Log } from "../../lib/log.ts";
import { noMentions } from "../messages/split-message.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import type { Deciding } from "./deciding.ts";
import type { ApprovalSettings } from "./needs-approval.ts";
import { readButtonId } from "./request-message.ts";
import type { Requests } from "./requests.ts";

/** Discord's limit of a message, in characters. */
const maxReplyLength = 2_000;

export interface ApprovalButtonsOptions {
	settings: ApprovalSettings;
	requests: Pick<Requests, "retire">;
	deciding: Pick<Deciding, "decide">;
	log: Log;
}

/** Handles "Approve" and "Deny", ignores other buttons, and never rejects. */
export function createApprovalButtons(
	options: ApprovalButtonsOptions,
): (interaction: ButtonInteraction) => Promise<void> {
	const { settings, requests, deciding, log } = options;

	async function decide(
		interaction: ButtonInteraction,
		button: NonNullable<ReturnType<typeof readButtonId>>,
	): Promise<string> {
		const refusal = refusalFor(interaction, settings);
		if (refusal !== undefined) return refusal;
		const { user, message } = interaction;
		const decider = { id: user.id, name: user.globalName ?? user.username };
		const outcome = await deciding.decide(
			{
				...button,
				onOutdated: (row) => requests.retire(row, message.id).catch(() => {}),
				whyNotHere: () =>
					isAltered(message)
						? "This message was changed after the bot posted it, so it may not show what the call would do. Nothing was done. Deny the request; the call can be made again."
						: undefined,
			},
			decider,
		);
		return outcome.message;
	}

	return async (interaction) => {
		const button = readButtonId(interaction.customId);
		if (!button) return;
		const { id, decision } = button;
		try {
			// Discord allows 3 s to respond. Deferring first: a decision counts only if its outcome can be shown.
			await interaction.deferReply({ flags: MessageFlags.Ephemeral });
			const text = await decide(interaction, button).catch((error) => {
				if (error instanceof StoreUnavailable) return error.message;
				throw error;
			});
			await interaction.editReply({ content: safeText(text), allowedMentions: noMentions });
		} catch (error) {
			const refusal = toToolError(error);
			const fields = { approval: id, decision };
			if (refusal)
				log.warn("could not respond to a press of an approval button", { ...fields, reason: refusal.message });
			else log.error("could not handle a press of an approval button: internal error", { ...fields, error });
		}
	};
}

function refusalFor(
	{ user, member, memberPermissions }: ButtonInteraction,
	{ approval_roles }: ApprovalSettings,
): string | undefined {
	if (user.bot) return "Bots cannot decide on requests. Nothing was done.";
	// The roles and permissions in the interaction are current; the cache may be older.
	const roles = !member ? [] : Array.isArray(member.roles) ? member.roles : [...member.roles.cache.keys()];
	if (approval_roles)
		return roles.some((role) => approval_roles.includes(role))
			? undefined
			: "Only people with certain roles can decide on this, and you have none of them. Nothing was done.";
	return member && memberPermissions?.has(PermissionFlagsBits.ManageGuild)
		? undefined
		: "Only people with Manage Server can decide on this. Nothing was done.";
}

function isAltered({ editedTimestamp, embeds, flags }: Message): boolean {
	return editedTimestamp !== null || embeds.length !== 1 || flags.has(MessageFlags.SuppressEmbeds);
}

function safeText(text: string): string {
	const [first = "", ...rest] = text.split("\n");
	const shown = rest.length === 0 ? first : `${first}\n${inlineText(rest.join(" "), maxReplyLength - 200)}`;
	return truncate(shown, maxReplyLength);
}
