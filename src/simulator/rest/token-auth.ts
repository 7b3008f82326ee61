// Authentication by the token in a path: an interaction's acts as its application, a webhook's as the webhook.

import type { Interaction } from "../interactions/interaction.ts";
import type { Interactions } from "../interactions/interactions.ts";
import { accountOf } from "../world/guilds/webhooks.ts";
import type { Account } from "../world/state/entities.ts";
import type { World } from "../world/world.ts";
import { apiError, found } from "./errors.ts";
import type { Found } from "./route.ts";

interface Parts {
	world: World;
	interactions: Interactions;
}

type Params = Readonly<Record<string, string>>;

interface TokenHolder {
	actor: Account;
	byApplication?: undefined;
	entities: Partial<Found>;
}

/** Undefined if the path has no token. Throws if the token is invalid or expired. */
export function authenticateByToken(params: Params, parts: Parts): TokenHolder | undefined {
	if (params.webhook_token !== undefined) return webhookByToken(params, parts);
	if (params.interaction_token === undefined) return undefined;
	const interaction = interactionByToken(params, parts);
	return { actor: interaction.application, entities: { interaction } };
}

function webhookByToken(params: Params, { world }: Parts): TokenHolder {
	const webhook = found(world.webhooks.get(params.webhook_id ?? ""), "UnknownWebhook");
	if (webhook.token === undefined || webhook.token !== params.webhook_token) throw apiError("InvalidWebhookToken");
	return { actor: accountOf(webhook), entities: { webhook } };
}

function interactionByToken(params: Params, { interactions, world }: Parts): Interaction {
	const { interaction_id, interaction_token = "", application_id } = params;
	const known = interactions.byToken(interaction_token);
	const valid = known && !interactions.isOver(known) ? known : undefined;
	if (valid && !world.channels.has(valid.channel.id)) throw apiError("UnknownChannel");
	if (interaction_id !== undefined) {
		if (valid?.id !== interaction_id) throw apiError("UnknownInteraction");
		return valid;
	}
	if (!valid) throw apiError(world.users.get(application_id ?? "")?.bot ? "InvalidWebhookToken" : "UnknownWebhook");
	// An interaction's webhook exists from its first response on.
	const exists = valid.state === "acknowledged" && valid.application.user.id === application_id;
	if (!exists) throw apiError("UnknownWebhook");
	return valid;
}
