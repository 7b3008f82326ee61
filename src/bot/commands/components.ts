// Routes presses of buttons, selections and forms to the feature that made them, by the start of their custom_id.

import {
	type AnySelectMenuInteraction,
	type ButtonInteraction,
	type Client,
	Events,
	type Interaction,
	type ModalSubmitInteraction,
	type RepliableInteraction,
} from "discord.js";
import type { Log } from "../../lib/log.ts";
import { languageOf, render } from "../../texts/texts.ts";
import { answerPrivately, describeFailure } from "./answer.ts";
import { Limiter, tooOftenOnce } from "./cooldown.ts";

export type ComponentInteraction = ButtonInteraction | AnySelectMenuInteraction | ModalSubmitInteraction;

/** Of a call in the name of who used it. */
export function callerOf({ guildId, user, locale }: RepliableInteraction) {
	return { guildId: guildId ?? "", person: { id: user.id, name: user.globalName ?? user.username }, locale };
}

/** For custom_ids that are `prefix`, or start with `prefix` and ":". */
export interface ComponentHandler {
	/** Such as "rolemenu": unique, without ":". */
	prefix: string;
	/** Of buttons that only few people may press, such as those of approvals: no limit a person. */
	isUnlimited?: boolean;
	/** Must validate `rest`, which may have an old format, and reply within 3 s. A ToolError's text is shown. */
	run(interaction: ComponentInteraction & { guildId: string }, rest: string): Promise<void>;
}

const pressLimits = { max: 20, windowMs: 10_000 } as const;

export function serveComponents(client: Client, handlers: readonly ComponentHandler[], log: Log): void {
	const byPrefix = new Map(handlers.map((one) => [one.prefix, one]));
	const limiter = new Limiter(pressLimits);

	async function run(
		handler: ComponentHandler,
		interaction: ComponentInteraction & { guildId: string },
		rest: string,
	): Promise<void> {
		const attempt = handler.isUnlimited ? undefined : limiter.take(`${interaction.guildId} ${interaction.user.id}`);
		if (attempt && attempt.waitS > 0) {
			const refusal = tooOftenOnce(limiter, attempt, "answer.too_many_presses");
			if (refusal) await answerPrivately(interaction, render(refusal, languageOf(interaction.locale)));
			return;
		}
		try {
			await handler.run(interaction, rest);
		} catch (error) {
			const text = describeFailure(error, interaction.locale, log, { component: handler.prefix });
			await answerPrivately(interaction, text);
		}
	}

	client.on(Events.InteractionCreate, (interaction: Interaction) => {
		if (!interaction.isMessageComponent() && !interaction.isModalSubmit()) return;
		if (!interaction.inGuild()) return;
		const [prefix = "", ...rest] = interaction.customId.split(":");
		const handler = byPrefix.get(prefix);
		if (!handler) return;
		run(handler, interaction, rest.join(":")).catch((error) =>
			log.warn("could not respond to a component interaction", {
				component: prefix,
				reason: String((error as Error).message),
			}),
		);
	});
}
