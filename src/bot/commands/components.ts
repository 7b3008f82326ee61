// Routes presses of buttons, selections and forms to the feature that made them, by the start of their custom_id.

import {
	type AnySelectMenuInteraction,
	type ButtonInteraction,
	type Client,
	Events,
	type Interaction,
	type ModalSubmitInteraction,
} from "discord.js";
import type { Log } from "../../lib/log.ts";
import { answerPrivately, describeFailure } from "./answer.ts";
import { Limiter, tooOftenOnce } from "./cooldown.ts";

/** An interaction with a component of a message or form: a pressed button, a used select menu or a submitted form. */
export type ComponentInteraction = ButtonInteraction | AnySelectMenuInteraction | ModalSubmitInteraction;

/** Handles interactions with components whose custom_id is `prefix`, or starts with `prefix` and ":". */
export interface ComponentHandler {
	/** Start of the custom_ids, such as "rolemenu": unique among all features, without ":". */
	prefix: string;
	/**
	 * Handles an interaction in a guild. `rest` is the part of the custom_id after "prefix:". It must be validated:
	 * people can see it, and a message from an older version of the bot can have an older format. The handler must
	 * defer or reply within 3 s. The text of a thrown ToolError or Discord API error is shown to the person in an
	 * ephemeral message.
	 */
	run(interaction: ComponentInteraction & { guildId: string }, rest: string): Promise<void>;
}

export interface ComponentsOptions {
	handlers: readonly ComponentHandler[];
	log: Log;
}

const pressLimits = { max: 20, windowMs: 10_000 } as const;

const maxConcurrent = 1_000;

/** Adds a listener to a Discord client that routes component interactions to `options.handlers` by their custom_id. */
export function serveComponents(client: Client, { handlers, log }: ComponentsOptions): void {
	const byPrefix = new Map(handlers.map((one) => [one.prefix, one]));
	const limiter = new Limiter(pressLimits);
	let running = 0;

	async function run(
		handler: ComponentHandler,
		interaction: ComponentInteraction & { guildId: string },
		rest: string,
	): Promise<void> {
		const attempt = limiter.take(`${interaction.guildId} ${interaction.user.id}`);
		if (attempt.waitS > 0) {
			const refusal = tooOftenOnce(limiter, attempt, "presses");
			if (refusal !== undefined) await answerPrivately(interaction, refusal);
			return;
		}
		try {
			await handler.run(interaction, rest);
		} catch (error) {
			const text = describeFailure(error, log, { component: handler.prefix });
			await answerPrivately(interaction, text);
		}
	}

	client.on(Events.InteractionCreate, (interaction: Interaction) => {
		if (!interaction.isMessageComponent() && !interaction.isModalSubmit()) return;
		if (!interaction.inGuild()) return;
		const [prefix = "", ...rest] = interaction.customId.split(":");
		const handler = byPrefix.get(prefix);
		if (!handler) return;
		if (running >= maxConcurrent) {
			log.debug("component interaction ignored: too many are being handled", {
				component: prefix,
			});
			return;
		}
		running += 1;
		run(handler, interaction, rest.join(":"))
			.catch((error) =>
				log.warn("could not respond to a component interaction", {
					component: prefix,
					reason: String((error as Error).message),
				}),
			)
			.finally(() => {
				running -= 1;
			});
	});
}
