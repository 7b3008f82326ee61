// The bot's application, and the URL of Discord's Gateway.

import { socketUrl } from "../../socket/session.ts";
import type { Account } from "../../world/state/entities.ts";
import { applicationFlags } from "../../world/state/serialize.ts";
import { type Call, route } from "../route.ts";

function publicApplication(bot: Account) {
	const flags = applicationFlags(bot);
	return {
		id: bot.user.id,
		name: bot.user.username,
		type: null,
		icon: null,
		description: "",
		bot_public: true,
		bot_require_code_grant: false,
		verify_key: "0".repeat(64),
		flags,
		flags_new: String(flags),
	};
}

function application({ actor, world }: Call) {
	const { id } = actor.user;
	return {
		...publicApplication(actor),
		redirect_uris: world.authorizations.settings(id)?.redirectUris ?? [],
		interactions_endpoint_url: null,
		role_connections_verification_url: null,
		explicit_content_filter: 0,
		eligible_oauth2_scopes: ["bot", "applications.commands"],
		approximate_guild_count: [...world.guilds.values()].filter(({ members }) => members.has(id)).length,
		approximate_user_install_count: 0,
		approximate_user_authorization_count: 0,
		bot: actor.user,
		// Documented as optional. The OpenAPI document requires it, and discord.py and Oceanic cannot do without.
		owner: world.users.developer,
		team: null,
	};
}

export const applicationRoutes = [
	route("GET /gateway", { withoutToken: true, run: ({ host }) => ({ url: socketUrl(host) }) }),
	route("GET /gateway/bot", {
		botsOnly: true,
		run: ({
			host,
			actor,
			world: {
				users: { sessionStarts },
				sharding,
			},
		}) => ({
			url: socketUrl(host),
			shards: sharding.recommended(actor.user.id),
			session_start_limit: {
				total: sessionStarts.total,
				remaining: sessionStarts.total - (sessionStarts.used.get(actor.user.id) ?? 0),
				reset_after: 86_400_000,
				max_concurrency: sharding.settings.maxConcurrency,
			},
		}),
	}),
	route("GET /applications/@me", { botsOnly: true, run: application }),
	route("GET /oauth2/applications/@me", { botsOnly: true, run: application }),
];
