// The buttons of an alert: who may press them, and that the first press decides. Whom it is about is read from the store.

import { type ButtonInteraction, MessageFlags } from "discord.js";
import type { Log } from "../../lib/log.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { noMentions } from "../messages/split-message.ts";
import { decide, selectChargeback } from "../store/chargebacks.ts";
import { StoreUnavailable } from "../store/db-error.ts";
import type { Store } from "../store/store.ts";
import { readButtonId } from "./chargeback-alert.ts";
import { short } from "./chargeback-steps.ts";

export interface PressesOptions {
	store: Pick<Store, "sql">;
	/** Who may decide. */
	staffRoles: readonly string[];
	log: Log;
	/** Is called when something was decided, or may have been. */
	onDecision(): void;
}

/** Answers a press if it is on a button of an alert. Never rejects. */
export function createPresses({
	store: { sql },
	staffRoles,
	log,
	onDecision,
}: PressesOptions): (interaction: ButtonInteraction) => Promise<void> {
	async function decideOn(
		{ user }: ButtonInteraction,
		{ decision, id }: NonNullable<ReturnType<typeof readButtonId>>,
	): Promise<string> {
		try {
			if (await decide(sql, id, decision, user.id)) {
				log.info("a chargeback is decided", {
					event: short(id),
					decision,
					by: user.id,
				});
				return `You decided: ${names[decision]}. The alert shows what comes of it.`;
			}
			const row = await selectChargeback(sql, id);
			if (!row?.decision)
				return "This chargeback is not in the bot's database. Nothing was done.";
			const who =
				row.decided_by === user.id ? "You have" : `<@${row.decided_by}> has`;
			return `${who} already decided: ${names[row.decision]}. Nothing was changed.`;
		} catch (error) {
			if (error instanceof StoreUnavailable) return error.message;
			throw error;
		} finally {
			// Also where it failed: the answer may have been lost, and not the decision.
			onDecision();
		}
	}

	return async (interaction) => {
		const button = readButtonId(interaction.customId);
		if (!button) return;
		try {
			// What Discord says of their roles with the press, before any other event changes it.
			if (!rolesOf(interaction).some((role) => staffRoles.includes(role))) {
				await interaction.reply({
					content: "Only the staff can decide about chargebacks.",
					flags: MessageFlags.Ephemeral,
				});
				return;
			}
			// Within the 3 s that Discord waits. Who is told that it failed has decided nothing.
			await interaction.deferReply({ flags: MessageFlags.Ephemeral });
			const content = await decideOn(interaction, button);
			await interaction.editReply({ content, allowedMentions: noMentions });
		} catch (error) {
			const refusal = toToolError(error);
			const fields = { event: short(button.id) };
			if (refusal)
				log.warn("could not answer a press on a chargeback", {
					...fields,
					reason: refusal.message,
				});
			else log.error("a press on a chargeback failed", { ...fields, error });
		}
	};
}

const names = { ban: "Ban", dismiss: "Dismiss" } as const;

/** The roles of who presses; none outside a guild. */
function rolesOf({ member }: ButtonInteraction): readonly string[] {
	if (!member) return [];
	const { roles } = member;
	return Array.isArray(roles) ? roles : [...roles.cache.keys()];
}
