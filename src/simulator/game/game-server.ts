// A game server with the companion plugin: it issues codes, links game accounts to Discord users, lists donators and reports
// chargebacks. All calls need a shared secret. It can misbehave on demand.

import { randomInt, randomUUID } from "node:crypto";
import * as v from "valibot";
import { parseJson } from "../../lib/json.ts";
import { aborted } from "../../lib/signal.ts";
import { ControlledServer, type ControlRoutes, withBody } from "../control/control.ts";
import {
	type GameResponse,
	type GameRoute,
	gameRoutes,
	type Misbehaviour,
	misbehaviours,
	trickle,
	wrongResponses,
} from "./misbehaviour.ts";

interface Player {
	username: string;
	uuid: string;
}

interface Code extends Player {
	code: string;
	expiresAt: number;
}

export interface Donator extends Player {
	chat_id: string | null;
	tier: string;
}

interface GameRequest {
	method: string;
	path: string;
	body: unknown;
	status: number | "waiting" | "no answer";
}

type IdField = "chat_id" | "discord_id";

interface GameServerOptions {
	port?: number;
	secret?: string;
	codes?: readonly Code[];
	idField?: IdField;
}

const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

const verifyRequest = v.object({ code: v.string(), chat_id: v.string() });
const banRequest = v.object({ uuid: v.string(), reason: v.optional(v.string(), "") });

const text = v.pipe(v.string(), v.minLength(1));

const newCode = v.strictObject({ username: v.optional(text, "Steve"), validMs: v.optional(v.number(), 600_000) });

const newDonator = v.strictObject({
	chat_id: v.nullable(v.string()),
	tier: v.string(),
	uuid: v.optional(v.string()),
	username: v.optional(v.string()),
});

const newDonators = v.strictObject({
	donators: v.array(newDonator),
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

export async function startGameServer(options: GameServerOptions = {}): Promise<GameServer> {
	return new GameServer(options);
}

export class GameServer extends ControlledServer<Misbehaviour, GameRoute> {
	readonly url = this.origin;
	readonly secret: string;
	readonly codes: Map<string, Code>;
	readonly links = new Map<string, Player>();
	readonly donators: Donator[] = [];
	/** The JSON field of Discord user ids. Older versions of the plugin use "discord_id". */
	idField: IdField;
	readonly bans = new Map<string, string>();
	readonly requests: GameRequest[] = [];
	readonly #used = new Set<string>();

	constructor(options: GameServerOptions) {
		super(options.port ?? 0, misbehaviours, gameRoutes);
		this.secret = options.secret ?? randomUUID();
		this.codes = new Map(options.codes?.map((code) => [code.code, code]));
		this.idField = options.idField ?? "chat_id";
	}

	/** The code links a player to a Discord user. It is valid for `validMs` milliseconds, by default ten minutes. */
	issueCode({ username = "Steve", validMs = 600_000 } = {}): Code {
		const code = Array.from({ length: 6 }, () => codeAlphabet[randomInt(codeAlphabet.length)]).join("");
		const issued: Code = { code, username, uuid: randomUUID(), expiresAt: Date.now() + validMs };
		this.codes.set(code, issued);
		return issued;
	}

	/** Adds a donator. A missing uuid is replaced by a random one, a missing user name by "player" and a number. */
	addDonator({ chat_id, tier, uuid = randomUUID(), username }: v.InferOutput<typeof newDonator>): Donator {
		const donator = { chat_id, tier, uuid, username: username ?? `player${this.donators.length + 1}` };
		this.donators.push(donator);
		return donator;
	}

	/** Reports a chargeback to the bot. Resolves with the bot's response; rejects if the bot is unreachable. */
	chargeback({ chatId, ...given }: Chargeback, target: ChargebackTarget): Promise<ChargebackAnswer> {
		const { username, tier, uuid = randomUUID(), timestamp = new Date().toISOString() } = given;
		return this.#report({ uuid, username, [this.idField]: chatId, tier, timestamp }, target);
	}

	async #report(event: ChargebackAnswer["event"], target: ChargebackTarget): Promise<ChargebackAnswer> {
		const { url, secret = this.secret, body = event } = target;
		const response = await fetch(new URL("/webhook/chargeback", url), {
			method: "POST",
			headers: { "content-type": "application/json", ...(secret !== null && { authorization: `Bearer ${secret}` }) },
			body: typeof body === "string" ? body : JSON.stringify(body),
		});
		const text = await response.text();
		const parsed = parseJson(text);
		return {
			status: response.status,
			body: parsed === undefined ? text : parsed,
			event,
			again: (other = {}) => this.#report(event, { url, secret, ...other, body: other.body }),
		};
	}

	protected controls(): ControlRoutes {
		return {
			"GET /simulator/state": () => ({
				codes: [...this.codes.values()],
				links: Object.fromEntries(this.links),
				bans: Object.fromEntries(this.bans),
				donators: this.donators,
				requests: this.requests,
			}),
			"POST /simulator/codes": withBody(newCode, (given) => this.issueCode(given)),
			"PUT /simulator/donators": withBody(newDonators, ({ donators, id_field = this.idField }) => {
				this.idField = id_field;
				this.donators.length = 0;
				return donators.map((one) => this.addDonator(one));
			}),
			"POST /simulator/chargebacks": withBody(newChargeback, ({ chat_id: chatId, ...given }) =>
				this.chargeback({ ...given, chatId }, given).catch((error: unknown) => ({ failed: String(error) })),
			),
		};
	}

	protected async respond(request: Request, { pathname }: URL): Promise<Response> {
		const { method } = request;
		const body = parseJson(await request.text());
		const name = `${method} ${pathname}`;
		const execute = () => this.#execute(name, request, body);
		const record: GameRequest = { method, path: pathname, body, status: "waiting" };
		this.requests.push(record);
		const finish = (response: Response) => {
			record.status = response.status;
			return response;
		};
		const right = ({ status, body }: GameResponse) => finish(Response.json(body, { status }));

		const now = this.nextFault(name);
		if (!now) return right(execute());
		const context = { donators: this.#listed(), released: this.released };
		if (now.kind === "trickle") return finish(trickle(execute(), context));
		const early = now.executed ? execute() : undefined;
		if (now.kind !== "slow") return finish(wrongResponses[now.kind](context));
		await Promise.race([context.released, aborted(request.signal)]);
		if (!request.signal.aborted) return right(early ?? execute());
		record.status = "no answer";
		return new Response(null, { status: 500 });
	}

	#execute(name: string, request: Request, body: unknown): GameResponse {
		if (!gameRoutes.some((route) => route === name)) return failure(404, "There is nothing here.");
		if (request.headers.get("authorization") !== `Bearer ${this.secret}`) return failure(401, "Unauthorized");
		if (name === "POST /api/verify") return this.#verify(body);
		if (name !== "POST /api/ban") return { status: 200, body: { donators: this.#listed() } };
		const { success, output } = v.safeParse(banRequest, body);
		if (!success) return failure(400, "uuid must be a string.");
		this.bans.set(output.uuid, output.reason);
		return { status: 200, body: { success: true } };
	}

	#verify(body: unknown): GameResponse {
		const { success, output } = v.safeParse(verifyRequest, body);
		if (!success) return failure(400, "code and chat_id must be strings.");
		if (this.#used.has(output.code)) return failure(200, "This code has been used already.");
		const code = this.codes.get(output.code);
		if (!code) return failure(200, "This code is not known.");
		if (code.expiresAt <= Date.now()) return failure(200, "This code has expired. Run /verify in the game again.");
		this.codes.delete(code.code);
		this.#used.add(code.code);
		const { username, uuid } = code;
		this.links.set(output.chat_id, { username, uuid });
		return { status: 200, body: { success: true, username, uuid } };
	}

	#listed(): object[] {
		return this.donators.map(({ chat_id, ...rest }) => ({ [this.idField]: chat_id, ...rest }));
	}
}

function failure(status: number, error: string): GameResponse {
	return { status, body: { success: false, error } };
}

/** The refunded payment of a player. If the player's uuid is missing, a random one is used. */
export interface Chargeback {
	username: string;
	chatId: string | null;
	tier: string;
	uuid?: string | undefined;
	/** When the chargeback happened, in ISO 8601. Default: now. */
	timestamp?: string | undefined;
}

interface ChargebackTarget {
	url: string;
	/** The bearer token. Default: the game server's shared secret. Null sends none. */
	secret?: string | null | undefined;
	/** A string is sent unchanged, any other value as JSON. Default: the chargeback event. */
	body?: unknown;
}

export interface ChargebackAnswer {
	status: number;
	body: unknown;
	/** The chargeback event, which was the request body unless the caller set another body. */
	event: Readonly<Record<string, string | null>>;
	again(target?: Partial<ChargebackTarget>): Promise<ChargebackAnswer>;
}
