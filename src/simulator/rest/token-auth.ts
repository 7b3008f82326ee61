// Authentication by the token in a path: an interaction's acts as its application, a webhook's as the webhook.

import { RESTJSONErrorCodes as Code } from "discord.js";
import type {
	Interaction,
	Interactions,
} from "../interactions/interactions.ts";
import { accountOf } from "../world/guilds/webhooks.ts";
import type { Account } from "../world/state/entities.ts";
import type { World } from "../world/world.ts";
import { apiError } from "./errors.ts";
import type { Found } from "./route.ts";

interface Known {
	readonly world: World;
	readonly interactions: Interactions;
}

type Params = Readonly<Record<string, string>>;

export interface TokenHolder {
	readonly actor: Account;
	readonly found: Pick<Found, "interaction" | "webhook">;
}

/** The actor that the path's token belongs to. Throws if it is invalid or expired. */
export function authenticateByToken(params: Params, known: Known): TokenHolder {
	if (params.webhook_token !== undefined) return webhookByToken(params, known);
	const interaction = interactionByToken(params, known);
	return { actor: interaction.application, found: { interaction } };
}

function webhookByToken(params: Params, { world }: Known): TokenHolder {
	const webhook = world.webhooks.get(params.webhook_id ?? "");
	if (!webhook) throw apiError(Code.UnknownWebhook);
	if (webhook.token === undefined || webhook.token !== params.webhook_token)
		throw apiError(Code.InvalidWebhookToken);
	return { actor: accountOf(webhook), found: { webhook } };
}

function interactionByToken(
	params: Params,
	{ interactions, world }: Known,
): Interaction {
	const { interaction_id, interaction_token = "", application_id } = params;
	const found = interactions.byToken(interaction_token);
	const valid = found && !interactions.isOver(found) ? found : undefined;
	if (valid && !world.channels.has(valid.channel.id))
		throw apiError(Code.UnknownChannel);
	if (interaction_id !== undefined) {
		if (valid?.id !== interaction_id) throw apiError(Code.UnknownInteraction);
		return valid;
	}
	if (!valid)
		throw apiError(
			world.users.get(application_id ?? "")?.bot
				? Code.InvalidWebhookToken
				: Code.UnknownWebhook,
		);
	// The webhook exists from the first response on.
	const exists =
		valid.state === "acknowledged" &&
		valid.application.user.id === application_id;
	if (!exists) throw apiError(Code.UnknownWebhook);
	return valid;
}
