// Who a token in a path stands for: an interaction's for the application that answers, a webhook's for the webhook.

import { RESTJSONErrorCodes as Code } from "discord.js";
import type {
	Interaction,
	Interactions,
} from "../interactions/interactions.ts";
import { accountOf } from "../world/guilds/webhooks.ts";
import type { Account } from "../world/state/entities.ts";
import type { World } from "../world/world.ts";
import { refusal } from "./errors.ts";
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

/** Whoever the path's token is of. A token that is none, or no longer one, is refused. */
export function holderOf(params: Params, known: Known): TokenHolder {
	if (params.webhook_token !== undefined) return webhookBy(params, known);
	const interaction = interactionBy(params, known);
	return { actor: interaction.application, found: { interaction } };
}

function webhookBy(params: Params, { world }: Known): TokenHolder {
	const webhook = world.webhooks.get(params.webhook_id ?? "");
	if (!webhook) throw refusal(Code.UnknownWebhook);
	if (webhook.token === undefined || webhook.token !== params.webhook_token)
		throw refusal(Code.InvalidWebhookToken);
	return { actor: accountOf(webhook), found: { webhook } };
}

function interactionBy(
	params: Params,
	{ interactions, world }: Known,
): Interaction {
	const { interaction_id, interaction_token = "", application_id } = params;
	const found = interactions.byToken(interaction_token);
	const valid = found && !interactions.isOver(found) ? found : undefined;
	if (valid && !world.channels.has(valid.channel.id))
		throw refusal(Code.UnknownChannel);
	if (interaction_id !== undefined) {
		if (valid?.id !== interaction_id) throw refusal(Code.UnknownInteraction);
		return valid;
	}
	if (!valid)
		throw refusal(
			world.users.get(application_id ?? "")?.bot
				? Code.InvalidWebhookToken
				: Code.UnknownWebhook,
		);
	// Before the first answer there is no webhook.
	const exists =
		valid.state === "acknowledged" &&
		valid.application.user.id === application_id;
	if (!exists) throw refusal(Code.UnknownWebhook);
	return valid;
}
