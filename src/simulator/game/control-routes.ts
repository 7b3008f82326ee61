// The control routes of the game server, below /simulator/.

import * as v from "valibot";
import { type ControlRoutes, readBody } from "../control/control.ts";
import type { GameServer } from "./game-server.ts";
import { gameRoutes, misbehaviours } from "./misbehaviour.ts";

const text = v.pipe(v.string(), v.minLength(1));

const newCode = v.strictObject({
	username: v.optional(text, "Steve"),
	validMs: v.optional(v.number(), 600_000),
});

const newDonators = v.strictObject({
	donators: v.array(
		v.strictObject({
			chat_id: v.nullable(v.string()),
			tier: v.string(),
			uuid: v.optional(v.string()),
			username: v.optional(v.string()),
		}),
	),
	id_field: v.optional(v.picklist(["chat_id", "discord_id"])),
});

const newChargeback = v.strictObject({
	url: v.pipe(v.string(), v.url()),
	username: v.optional(text, "Steve"),
	chat_id: v.optional(v.nullable(v.string()), null),
	tier: v.optional(v.string(), "premium"),
	uuid: v.optional(v.string()),
	timestamp: v.optional(v.string()),
	secret: v.optional(v.nullable(v.string())),
	body: v.optional(v.unknown()),
});

const misbehaveRequest = v.strictObject({
	kind: v.picklist(misbehaviours),
	route: v.optional(v.picklist(gameRoutes)),
	times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
	executed: v.optional(v.boolean()),
});

export function gameControlRoutes(game: GameServer): ControlRoutes {
	return {
		"GET /simulator/state": () => ({
			codes: [...game.codes.values()],
			links: Object.fromEntries(game.links),
			bans: Object.fromEntries(game.bans),
			donators: game.donators,
			requests: game.requests,
		}),
		"POST /simulator/codes": async (request) => game.issueCode(await readBody(newCode, request)),
		"PUT /simulator/donators": async (request) => {
			const { donators, id_field } = await readBody(newDonators, request);
			if (id_field) game.idField = id_field;
			game.donators.length = 0;
			return donators.map((one) => game.addDonator(one));
		},
		"POST /simulator/chargebacks": async (request) => {
			const asked = await readBody(newChargeback, request);
			const { url, secret, body, chat_id: chatId, ...given } = asked;
			return game
				.chargeback({ ...given, chatId }, { url, secret, body })
				.catch((error: unknown) => ({ failed: String(error) }));
		},
		"POST /simulator/misbehave": async (request) => {
			const { kind, ...given } = await readBody(misbehaveRequest, request);
			game.misbehave(kind, given);
			return { kind, ...given };
		},
		"POST /simulator/behave": () => {
			game.behave();
			return {};
		},
	};
}
