// Answers to interactions and chat commands: private, without pings, and split where they are long.

import { DiscordAPIError, MessageFlags, RESTJSONErrorCodes, type RepliableInteraction } from "discord.js";
import { toToolError } from "../../discord/rest/errors.ts";
import { isOutcomeUnknown } from "../../discord/rest/rest.ts";
import type { Log } from "../../lib/log.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { SaidError } from "../../texts/said-error.ts";
import { languageOf, render, sayIn } from "../../texts/texts.ts";
import { noMentions, sendablePieces } from "../messages/split-message.ts";

const maxLength = 2_000;
const maxMessages = 5;

/** Sent again if it is unknown whether Discord got it: "already acknowledged" then means success. */
export async function deferPrivately(interaction: RepliableInteraction): Promise<void> {
	const defer = () => interaction.deferReply({ flags: MessageFlags.Ephemeral });
	try {
		await defer();
	} catch (error) {
		if (!isOutcomeUnknown(error)) throw error;
		await defer().catch((second) => {
			if (!isAcknowledged(second)) throw second;
			interaction.deferred = true;
			interaction.ephemeral = true;
		});
	}
}

function isAcknowledged(error: unknown): boolean {
	const { InteractionHasAlreadyBeenAcknowledged } = RESTJSONErrorCodes;
	return error instanceof DiscordAPIError && error.code === InteractionHasAlreadyBeenAcknowledged;
}

/** Deferred, answered before or not. A long text becomes `answerPieces`. Rejects if Discord refuses it. */
export async function answerPrivately(
	interaction: RepliableInteraction,
	text: string,
	pieces: readonly string[] = answerPieces(text, interaction.locale),
): Promise<void> {
	const [first = sayIn(interaction.locale)("result.done"), ...more] = pieces;
	const body = { content: first, allowedMentions: noMentions };
	const flags = MessageFlags.Ephemeral;
	// After deferUpdate, editReply would edit the message that has the button.
	if (interaction.deferred && interaction.ephemeral) await interaction.editReply(body);
	else if (interaction.deferred || interaction.replied) await interaction.followUp({ ...body, flags });
	else await interaction.reply({ ...body, flags });
	for (const content of more) await interaction.followUp({ content, allowedMentions: noMentions, flags });
}

/** Between lines where possible. Cut after 5 messages; a last one says so. */
export function answerPieces(text: string, locale: string): string[] {
	const pieces = piecesOf(text);
	if (pieces.length <= maxMessages) return pieces;
	return [...pieces.slice(0, maxMessages), sayIn(locale)("answer.rest_left_out")];
}

function piecesOf(text: string): string[] {
	const pieces: string[] = [];
	let piece = "";
	for (const line of text.trimEnd().split("\n")) {
		const longer = piece === "" ? line : `${piece}\n${line}`;
		if (longer.length <= maxLength) {
			piece = longer;
			continue;
		}
		const [last = "", ...before] = sendablePieces(line).toReversed();
		pieces.push(piece, ...before.toReversed());
		piece = last;
	}
	return [...pieces, piece].filter((one) => one.trim() !== "");
}

/** In the language of one of Discord's locales. Logs the error unless it is a ToolError. */
export function describeFailure(
	error: unknown,
	locale: string | null,
	log: Log,
	fields: Record<string, string>,
): string {
	const refusal = toToolError(error);
	if (refusal) {
		const reason = refusal.message;
		log.warn("a command or press failed: Discord refused a request", { ...fields, reason });
	}
	const known = refusal ?? error;
	if (known instanceof SaidError) return render(known.said, languageOf(locale));
	if (known instanceof ToolError) return known.message;
	log.error("a command or press failed: internal error", { ...fields, error });
	return sayIn(locale)("error.internal");
}
