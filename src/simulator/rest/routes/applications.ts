// The bot's application, and the URL of Discord's Gateway.

import { socketUrl } from "../../socket/session.ts";
import { applicationFlags } from "../../world/state/serialize.ts";
import { type Call, route } from "../route.ts";

function application({ actor }: Call) {
	const { id, username } = actor.user;
	return {
		id,
		name: username,
		icon: null,
		description: "",
		bot_public: true,
		bot_require_code_grant: false,
		verify_key: "0".repeat(64),
		flags: applicationFlags(actor),
		bot: actor.user,
		owner: null,
		team: null,
	};
}

export const applicationRoutes = [
	route({
		method: "GET",
		path: "/gateway",
		run: ({ host }) => ({ url: socketUrl(host) }),
	}),
	route({
		method: "GET",
		path: "/gateway/bot",
		botsOnly: true,
		run: ({
			host,
			actor,
			world: {
				users: { sessionStarts },
			},
		}) => ({
			url: socketUrl(host),
			shards: 1,
			session_start_limit: {
				total: sessionStarts.total,
				remaining:
					sessionStarts.total - (sessionStarts.used.get(actor.user.id) ?? 0),
				reset_after: 86_400_000,
				max_concurrency: 1,
			},
		}),
	}),
	route({
		method: "GET",
		path: "/applications/@me",
		botsOnly: true,
		run: application,
	}),
	route({
		method: "GET",
		path: "/oauth2/applications/@me",
		botsOnly: true,
		run: application,
	}),
];
