// The buttons of chargeback alerts. Only staff may press them, and the first press decides.

import type { ButtonInteraction } from "discord.js";
import type { Log } from "../../lib/log.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said, sayIn } from "../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../commands/answer.ts";
import type { ComponentHandler } from "../commands/components.ts";
import type { Store } from "../store/store.ts";
import { decide, selectChargeback } from "../store/tables/chargebacks.ts";
import { buttonPrefix, decisionLabels, readButtonId } from "./chargeback-alert.ts";
import { shortId } from "./chargeback-steps.ts";

interface ButtonOptions {
	store: Pick<Store, "sql">;
	/** Empty where chargebacks are off. */
	staffRoles(guildId: string): readonly string[];
	log: Log;
	/** Called after a staff member's decision on a chargeback was stored, or when it is unknown whether it was stored. */
	onDecision(guildId: string): void;
}

export function createChargebackButtons({ store: { sql }, staffRoles, log, onDecision }: ButtonOptions) {
	async function decideOn(
		{ user, locale }: ButtonInteraction,
		guild_id: string,
		{ decision, id }: NonNullable<ReturnType<typeof readButtonId>>,
	): Promise<string> {
		const say = sayIn(locale);
		if (await decide(sql, { id, guild_id }, decision, user.id)) {
			log.info("a staff member decided on a chargeback", { chargeback: shortId(id), decision, decided_by: user.id });
			return say("chargeback.decided", { decision: decisionLabels[decision] });
		}
		const row = await selectChargeback(sql, id);
		if (!row?.decision || row.guild_id !== guild_id) return say("chargeback.unknown");
		const earlier = { decision: decisionLabels[row.decision] };
		return row.decided_by === user.id
			? say("chargeback.decided.by-you", earlier)
			: say("chargeback.decided.by", { ...earlier, person: `<@${row.decided_by}>` });
	}

	return {
		prefix: buttonPrefix,
		isUnlimited: true,
		async run(interaction, rest) {
			const button = readButtonId(rest);
			if (!button || !interaction.isButton()) return;
			// The roles in the interaction are current; the cache may be older.
			const { roles } = interaction.member ?? { roles: [] };
			const held = Array.isArray(roles) ? roles : [...roles.cache.keys()];
			const { guildId } = interaction;
			if (guildId === null || !held.some((role) => staffRoles(guildId).includes(role)))
				throw new SaidError(said("chargeback.staff-only"));
			// Discord allows 3 s to respond. Deferring first: a decision is stored only if its answer can be shown.
			await deferPrivately(interaction);
			// Also after an error: the decision may have been stored.
			await answerPrivately(
				interaction,
				await decideOn(interaction, guildId, button).finally(() => onDecision(guildId)),
			);
		},
	} satisfies ComponentHandler;
}
