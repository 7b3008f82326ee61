// Handles the buttons of chargeback alerts. Only staff may press them, and the first press decides.

import { type ButtonInteraction, MessageFlags } from "discord.js";
import { toToolError } from "../../discord/rest/errors.ts";
import type { Log } from "../../lib/log.ts";
import { languageOf, render, sayIn } from "../../texts/texts.ts";
import { noMentions } from "../messages/split-message.ts";
import type { Store } from "../store/store.ts";
import { decide, selectChargeback } from "../store/tables/chargebacks.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import { decisionLabels, readButtonId } from "./chargeback-alert.ts";
import { shortId } from "./chargeback-steps.ts";

interface ButtonOptions {
	store: Pick<Store, "sql">;
	staffRoles: readonly string[];
	log: Log;
	/** Called after a staff member's decision on a chargeback was stored, or when it is unknown whether it was stored. */
	onDecision(): void;
}

export function createButtonHandler({
	store: { sql },
	staffRoles,
	log,
	onDecision,
}: ButtonOptions): (interaction: ButtonInteraction) => Promise<void> {
	async function decideOn(
		{ user, locale }: ButtonInteraction,
		{ decision, id }: NonNullable<ReturnType<typeof readButtonId>>,
	): Promise<string> {
		const say = sayIn(locale);
		try {
			if (await decide(sql, id, decision, user.id)) {
				log.info("a staff member decided on a chargeback", { chargeback: shortId(id), decision, decided_by: user.id });
				return say("chargeback.decided", { decision: decisionLabels[decision] });
			}
			const row = await selectChargeback(sql, id);
			if (!row?.decision) return say("chargeback.unknown");
			const earlier = { decision: decisionLabels[row.decision] };
			return row.decided_by === user.id
				? say("chargeback.decided.by-you", earlier)
				: say("chargeback.decided.by", { ...earlier, person: `<@${row.decided_by}>` });
		} catch (error) {
			if (error instanceof StoreUnavailable) return render(error.said, languageOf(locale));
			throw error;
		} finally {
			// Also after an error: the decision may have been stored.
			onDecision();
		}
	}

	return async (interaction) => {
		const button = readButtonId(interaction.customId);
		if (!button) return;
		try {
			// The roles in the interaction are current; the cache may be older.
			if (!rolesOf(interaction).some((role) => staffRoles.includes(role))) {
				const content = sayIn(interaction.locale)("chargeback.staff-only");
				await interaction.reply({ content, flags: MessageFlags.Ephemeral });
				return;
			}
			// Discord allows 3 s to respond. Deferring first: a decision is stored only if its answer can be shown.
			await interaction.deferReply({ flags: MessageFlags.Ephemeral });
			const content = await decideOn(interaction, button);
			await interaction.editReply({ content, allowedMentions: noMentions });
		} catch (error) {
			const refusal = toToolError(error);
			const chargeback = shortId(button.id);
			if (refusal)
				log.warn("could not respond to a press of a chargeback button", { chargeback, reason: refusal.message });
			else log.error("could not handle a press of a chargeback button: internal error", { chargeback, error });
		}
	};
}

function rolesOf({ member }: ButtonInteraction): readonly string[] {
	if (!member) return [];
	const { roles } = member;
	return Array.isArray(roles) ? roles : [...roles.cache.keys()];
}
