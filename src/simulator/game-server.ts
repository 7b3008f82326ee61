// A game server with the companion plugin: it issues codes and links game accounts to Discord users. All calls carry
// a shared secret. Its answers can be made wrong on demand.

import {
	createHash,
	randomInt,
	randomUUID,
	timingSafeEqual,
} from "node:crypto";
import * as v from "valibot";
import { createControl, read, urlOf } from "./loopback.ts";

/** A game account. */
export interface Player {
	readonly username: string;
	readonly uuid: string;
}

export interface Code extends Player {
	/** Upper-case. */
	readonly code: string;
	/** Milliseconds since 1970. */
	readonly expiresAt: number;
}

export interface GameRequest {
	readonly method: string;
	readonly path: string;
	readonly body: unknown;
	readonly status: number | "waiting" | "no answer";
}

export const misbehaviours = [
	/** No answer until `behave` or `close`; then the right one. */
	"slow",
	/** The connection ends in the middle of the answer. */
	"cut",
	/** An answer of 64 MB. */
	"huge",
	/** An error page with status 200. */
	"html",
	"401",
	"500",
	/** To a path that does not exist. */
	"redirect",
	/** JSON of the right fields with the wrong types. */
	"wrong-types",
] as const;

export type Misbehaviour = (typeof misbehaviours)[number];

export interface GameServer extends AsyncDisposable {
	/** "http://127.0.0.1:PORT" */
	readonly url: string;
	readonly secret: string;
	/** The codes that nobody has used yet, by code. */
	readonly codes: ReadonlyMap<string, Code>;
	/** Linked accounts, by Discord user id. */
	readonly links: ReadonlyMap<string, Player>;
	/** What `GET /api/donators` lists; change it as needed. */
	readonly donators: { chat_id: string; tier: string }[];
	/** The uuids that were banned, with the reason given. */
	readonly bans: ReadonlyMap<string, string>;
	/** The requests of the bot, in order. */
	readonly requests: readonly GameRequest[];
	/** A new code for a player, good for `validMs` milliseconds (ten minutes). */
	issueCode(given?: { username?: string; validMs?: number }): Code;
	/** Answers wrongly from now on, or `times` times; `executed` has the request carried out first. */
	misbehave(
		kind: Misbehaviour,
		given?: { times?: number | undefined; executed?: boolean | undefined },
	): void;
	/** Answers rightly again, also what was held. */
	behave(): void;
	close(): Promise<void>;
}

export interface GameServerOptions {
	readonly port?: number;
	/** Random when absent. */
	readonly secret?: string;
	/** Codes to begin with. */
	readonly codes?: readonly Code[];
}

const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const hugeBytes = 64 * 1024 * 1024;

const verifyRequest = v.object({ code: v.string(), chat_id: v.string() });
const banRequest = v.object({
	uuid: v.string(),
	reason: v.optional(v.string(), ""),
});

export async function startGameServer(
	options: GameServerOptions = {},
): Promise<GameServer> {
	const secret = options.secret ?? randomUUID();
	const codes = new Map(options.codes?.map((code) => [code.code, code]));
	const used = new Set<string>();
	const links = new Map<string, Player>();
	const donators: GameServer["donators"] = [];
	const bans = new Map<string, string>();
	const requests: GameRequest[] = [];
	let wrong:
		| { kind: Misbehaviour; left: number; executed: boolean }
		| undefined;
	let held = Promise.withResolvers<void>();

	const verify = (body: unknown): Answer => {
		const { success, output } = v.safeParse(verifyRequest, body);
		if (!success) return refused(400, "code and chat_id must be texts.");
		if (used.has(output.code))
			return refused(200, "This code has been used already.");
		const code = codes.get(output.code);
		if (!code) return refused(200, "This code is not known.");
		if (code.expiresAt <= Date.now())
			return refused(
				200,
				"This code has expired. Run /verify in the game again.",
			);
		codes.delete(code.code);
		used.add(code.code);
		const { username, uuid } = code;
		links.set(output.chat_id, { username, uuid });
		return { status: 200, body: { success: true, username, uuid } };
	};

	const ban = (body: unknown): Answer => {
		const { success, output } = v.safeParse(banRequest, body);
		if (!success) return refused(400, "uuid must be a text.");
		bans.set(output.uuid, output.reason);
		return { status: 200, body: { success: true } };
	};

	const routes = new Map<string, (body: unknown) => Answer>([
		["POST /api/verify", verify],
		["POST /api/ban", ban],
		["GET /api/donators", () => ({ status: 200, body: { donators } })],
	]);

	const respond = async (
		request: Request,
		{ pathname }: URL,
	): Promise<Response> => {
		const body = parse(await request.text());
		const execute = (): Answer => {
			const route = routes.get(`${request.method} ${pathname}`);
			if (!route) return refused(404, "There is nothing here.");
			if (!isAuthorised(request, secret)) return refused(401, "Unauthorized");
			return route(body);
		};
		const record: { -readonly [K in keyof GameRequest]: GameRequest[K] } = {
			...{ method: request.method, path: pathname, body },
			status: "waiting",
		};
		requests.push(record);
		const finish = (response: Response) => {
			record.status = response.status;
			return response;
		};
		const right = ({ status, body }: Answer) =>
			finish(Response.json(body, { status }));

		const now = wrong;
		if (!now) return right(execute());
		now.left -= 1;
		if (now.left <= 0) wrong = undefined;
		const early = now.executed ? execute() : undefined;
		if (now.kind !== "slow") return finish(wrongAnswers[now.kind]());
		await Promise.race([held.promise, ended(request.signal)]);
		if (!request.signal.aborted) return right(early ?? execute());
		record.status = "no answer";
		return new Response(null, { status: 500 });
	};

	const gameServer: Omit<GameServer, "url"> = {
		...{ secret, codes, links, donators, bans, requests },
		issueCode: ({ username = "Steve", validMs = 600_000 } = {}) => {
			const code: Code = {
				code: Array.from(
					{ length: 6 },
					() => codeAlphabet[randomInt(codeAlphabet.length)],
				).join(""),
				username,
				uuid: randomUUID(),
				expiresAt: Date.now() + validMs,
			};
			codes.set(code.code, code);
			return code;
		},
		misbehave: (kind, { times, executed = false } = {}) => {
			wrong = { kind, left: times ?? Number.POSITIVE_INFINITY, executed };
		},
		behave: () => {
			wrong = undefined;
			held.resolve();
			held = Promise.withResolvers();
		},
		close: async () => {
			await server.stop(true);
			held.resolve();
		},
		[Symbol.asyncDispose]: () => gameServer.close(),
	};

	const control = createControl({
		"GET /simulator/state": () => ({
			codes: [...codes.values()],
			links: Object.fromEntries(links),
			bans: Object.fromEntries(bans),
			donators,
			requests,
		}),
		"POST /simulator/codes": async (request) =>
			gameServer.issueCode(await read(newCode, request)),
		"POST /simulator/misbehave": async (request) => {
			const { kind, ...given } = await read(misbehaveRequest, request);
			gameServer.misbehave(kind, given);
			return { kind, ...given };
		},
		"POST /simulator/behave": () => {
			gameServer.behave();
			return {};
		},
	});

	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: options.port ?? 0,
		development: false,
		reusePort: false,
		idleTimeout: 0,
		maxRequestBodySize: 1024 * 1024,
		fetch: (request) => {
			const url = urlOf(request);
			return url.pathname.startsWith("/simulator/")
				? control(request, url)
				: respond(request, url);
		},
	});
	return { ...gameServer, url: `http://127.0.0.1:${server.port}` };
}

const newCode = v.strictObject({
	username: v.optional(v.pipe(v.string(), v.minLength(1)), "Steve"),
	validMs: v.optional(v.number(), 600_000),
});

const misbehaveRequest = v.strictObject({
	kind: v.picklist(misbehaviours),
	times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
	executed: v.optional(v.boolean()),
});

interface Answer {
	readonly status: number;
	readonly body: unknown;
}

function refused(status: number, error: string): Answer {
	return { status, body: { success: false, error } };
}

const wrongAnswers: Readonly<
	Record<Exclude<Misbehaviour, "slow">, () => Response>
> = {
	cut: () =>
		new Response(
			new ReadableStream({
				async start(controller) {
					controller.enqueue('{"success":true,"usern');
					// What is cut off must not keep company with what was sent: let that leave first.
					await Bun.sleep(1);
					controller.error(undefined);
				},
			}),
			{ headers: { "content-type": "application/json" } },
		),
	huge: () =>
		new Response(`{"success":true,"username":"${"x".repeat(hugeBytes)}"}`, {
			headers: { "content-type": "application/json" },
		}),
	html: () =>
		new Response("<!doctype html><title>Welcome to nginx!</title>", {
			headers: { "content-type": "text/html" },
		}),
	"401": () =>
		Response.json({ success: false, error: "Unauthorized" }, { status: 401 }),
	"500": () => new Response("Internal Server Error", { status: 500 }),
	redirect: () =>
		new Response(null, { status: 307, headers: { location: "/elsewhere" } }),
	"wrong-types": () =>
		Response.json({ success: "yes", username: 7, uuid: null, error: [] }),
};

function isAuthorised(request: Request, secret: string): boolean {
	const digest = (text: string) => createHash("sha256").update(text).digest();
	const given = request.headers.get("authorization") ?? "";
	// Of equal length, so that the comparison takes the same time for each.
	return timingSafeEqual(digest(given), digest(`Bearer ${secret}`));
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// Not JSON: no route takes it, and each says so itself.
		return undefined;
	}
}

function ended(signal: AbortSignal): Promise<void> {
	const { promise, resolve } = Promise.withResolvers<void>();
	if (signal.aborted) resolve();
	signal.addEventListener("abort", () => resolve(), { once: true });
	return promise;
}
