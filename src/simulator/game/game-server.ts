// A game server with the companion plugin: it issues codes, links game accounts to Discord users, lists donators and reports
// chargebacks. All calls need a shared secret. It can misbehave on demand.

import { hash, randomInt, randomUUID, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import { parseJson } from "../../lib/json.ts";
import { aborted } from "../../lib/signal.ts";
import { createControl, urlOf } from "../control/control.ts";
import {
	type Chargeback,
	type ChargebackAnswer,
	type ChargebackTarget,
	chargebackEvent,
	sendChargeback,
} from "./chargeback.ts";
import { gameControlRoutes } from "./control-routes.ts";
import { type GameResponse, type GameRoute, type Misbehaviour, trickle, wrongResponses } from "./misbehaviour.ts";

/** An account of a player on the game server. */
export interface Player {
	readonly username: string;
	readonly uuid: string;
}

export interface Code extends Player {
	/** The verification code that links the player to a Discord user, in upper case. */
	readonly code: string;
	/** When the verification code expires, in milliseconds since 1970. */
	readonly expiresAt: number;
}

export interface Donator extends Player {
	/** The id of the Discord user that the donator is linked to; null if not linked. */
	readonly chat_id: string | null;
	readonly tier: string;
}

export interface GameRequest {
	readonly method: string;
	readonly path: string;
	readonly body: unknown;
	readonly status: number | "waiting" | "no answer";
}

export interface GameServer extends AsyncDisposable {
	/** The base URL of the simulated game server: "http://127.0.0.1:PORT". */
	readonly url: string;
	readonly secret: string;
	/** Verification codes (which link players to Discord users) that nobody has used yet, by code. */
	readonly codes: ReadonlyMap<string, Code>;
	/** Players that are linked to a Discord user, by the id of that user. */
	readonly links: ReadonlyMap<string, Player>;
	/** The donators that the simulated route `GET /api/donators` lists. Tests may change the list. */
	readonly donators: Donator[];
	/**
	 * The name of the JSON field in which the game server sends and receives Discord user ids. Older versions of the game
	 * server plugin use "discord_id".
	 */
	idField: "chat_id" | "discord_id";
	/** The reasons of all bans on the game server, by the uuid of the banned player. */
	readonly bans: ReadonlyMap<string, string>;
	/** All requests that the game server received from the bot, oldest first. */
	readonly requests: readonly GameRequest[];
	/**
	 * Creates a verification code, which links a player of the game to a Discord user. It is valid for `validMs`
	 * milliseconds, by default ten minutes.
	 */
	issueCode(given?: { username?: string; validMs?: number }): Code;
	/** Adds a donator. A missing uuid is replaced by a random one, a missing user name by "player" and a number. */
	addDonator(given: {
		chat_id: string | null;
		tier: string;
		uuid?: string | undefined;
		username?: string | undefined;
	}): Donator;
	/** Reports a chargeback to the bot. Resolves with the bot's response; rejects if the bot is unreachable. */
	chargeback(given: Chargeback, target: ChargebackTarget): Promise<ChargebackAnswer>;
	/**
	 * Makes the game server misbehave on one route or all routes, for a number of requests or until `behave()` is called.
	 * With the option `executed`, the requests take effect although their responses are faulty.
	 */
	misbehave(
		kind: Misbehaviour,
		given?: {
			route?: GameRoute | undefined;
			times?: number | undefined;
			executed?: boolean | undefined;
		},
	): void;
	/** Ends all misbehaviour of the game server, which then sends the responses that it has held back. */
	behave(): void;
	close(): Promise<void>;
}

export interface GameServerOptions {
	readonly port?: number;
	/** The secret that the bot and the game server share. Random by default. */
	readonly secret?: string;
	/** Verification codes (which link players to Discord users) that the simulated game server accepts from the start. */
	readonly codes?: readonly Code[];
	/** The name of the JSON field in which the game server sends and receives Discord user ids. Default: "chat_id". */
	readonly idField?: GameServer["idField"];
}

const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

const verifyRequest = v.object({ code: v.string(), chat_id: v.string() });
const banRequest = v.object({
	uuid: v.string(),
	reason: v.optional(v.string(), ""),
});

export async function startGameServer(options: GameServerOptions = {}): Promise<GameServer> {
	const secret = options.secret ?? randomUUID();
	const codes = new Map(options.codes?.map((code) => [code.code, code]));
	const used = new Set<string>();
	const links = new Map<string, Player>();
	const donators: Donator[] = [];
	const bans = new Map<string, string>();
	const requests: GameRequest[] = [];
	const wrong = new Map<string, { kind: Misbehaviour; left: number; executed: boolean }>();
	let held = Promise.withResolvers<void>();

	const verify = (body: unknown): GameResponse => {
		const { success, output } = v.safeParse(verifyRequest, body);
		if (!success) return failure(400, "code and chat_id must be strings.");
		if (used.has(output.code)) return failure(200, "This code has been used already.");
		const code = codes.get(output.code);
		if (!code) return failure(200, "This code is not known.");
		if (code.expiresAt <= Date.now()) return failure(200, "This code has expired. Run /verify in the game again.");
		codes.delete(code.code);
		used.add(code.code);
		const { username, uuid } = code;
		links.set(output.chat_id, { username, uuid });
		return { status: 200, body: { success: true, username, uuid } };
	};

	const ban = (body: unknown): GameResponse => {
		const { success, output } = v.safeParse(banRequest, body);
		if (!success) return failure(400, "uuid must be a string.");
		bans.set(output.uuid, output.reason);
		return { status: 200, body: { success: true } };
	};

	const listed = () =>
		donators.map(({ chat_id, ...rest }) => ({
			[gameServer.idField]: chat_id,
			...rest,
		}));
	const list = () => ({ status: 200, body: { donators: listed() } });

	const routes = new Map<string, (body: unknown) => GameResponse>([
		["POST /api/verify", verify],
		["POST /api/ban", ban],
		["GET /api/donators", list],
	]);

	const nextMisbehaviour = (route: string) => {
		const key = wrong.has(route) ? route : "*";
		const now = wrong.get(key);
		if (!now) return undefined;
		now.left -= 1;
		if (now.left <= 0) wrong.delete(key);
		return now;
	};

	const respond = async (request: Request, { pathname }: URL): Promise<Response> => {
		const body = parseJson(await request.text());
		const name = `${request.method} ${pathname}`;
		const execute = (): GameResponse => {
			const route = routes.get(name);
			if (!route) return failure(404, "There is nothing here.");
			if (!isAuthorized(request, secret)) return failure(401, "Unauthorized");
			return route(body);
		};
		const record: { -readonly [K in keyof GameRequest]: GameRequest[K] } = {
			method: request.method,
			path: pathname,
			body,
			status: "waiting",
		};
		requests.push(record);
		const finish = (response: Response) => {
			record.status = response.status;
			return response;
		};
		const right = ({ status, body }: GameResponse) => finish(Response.json(body, { status }));

		const now = nextMisbehaviour(name);
		if (!now) return right(execute());
		const context = { donators: listed(), released: held.promise };
		if (now.kind === "trickle") return finish(trickle(execute(), context));
		const early = now.executed ? execute() : undefined;
		if (now.kind !== "slow") return finish(wrongResponses[now.kind](context));
		await Promise.race([context.released, aborted(request.signal)]);
		if (!request.signal.aborted) return right(early ?? execute());
		record.status = "no answer";
		return new Response(null, { status: 500 });
	};

	const gameServer: Omit<GameServer, "url"> = {
		secret,
		codes,
		links,
		donators,
		bans,
		requests,
		idField: options.idField ?? "chat_id",
		issueCode: ({ username = "Steve", validMs = 600_000 } = {}) => {
			const letter = () => codeAlphabet[randomInt(codeAlphabet.length)];
			const code = Array.from({ length: 6 }, letter).join("");
			const expiresAt = Date.now() + validMs;
			const issued: Code = { code, username, uuid: randomUUID(), expiresAt };
			codes.set(code, issued);
			return issued;
		},
		addDonator: ({ chat_id, tier, uuid = randomUUID(), username }) => {
			const name = username ?? `player${donators.length + 1}`;
			const donator: Donator = { chat_id, tier, uuid, username: name };
			donators.push(donator);
			return donator;
		},
		chargeback: (given, target) =>
			sendChargeback(chargebackEvent(given, gameServer.idField), {
				...target,
				secret: target.secret === undefined ? secret : target.secret,
			}),
		misbehave: (kind, { route, times, executed = false } = {}) => {
			const left = times ?? Number.POSITIVE_INFINITY;
			wrong.set(route ?? "*", { kind, left, executed });
		},
		behave: () => {
			wrong.clear();
			held.resolve();
			held = Promise.withResolvers();
		},
		close: async () => {
			await server.stop(true);
			held.resolve();
		},
		[Symbol.asyncDispose]: () => gameServer.close(),
	};

	const control = createControl(gameControlRoutes(gameServer));
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: options.port ?? 0,
		development: false,
		reusePort: false,
		idleTimeout: 0,
		maxRequestBodySize: 1024 * 1024,
		fetch: (request) => {
			const url = urlOf(request);
			return url.pathname.startsWith("/simulator/") ? control(request, url) : respond(request, url);
		},
	});
	return Object.assign(gameServer, { url: `http://127.0.0.1:${server.port}` });
}

function failure(status: number, error: string): GameResponse {
	return { status, body: { success: false, error } };
}

function isAuthorized(request: Request, secret: string): boolean {
	const digest = (text: string) => hash("sha256", text, "buffer");
	const given = request.headers.get("authorization") ?? "";
	// Digests have equal lengths, so the comparison takes constant time.
	return timingSafeEqual(digest(given), digest(`Bearer ${secret}`));
}
