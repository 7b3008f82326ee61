// The contract as OpenAPI and as a starter in Node: both agree with what the bot sends and accepts. And what `--check` says of
// a plugin.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import * as z from "zod";
import { createChargebackWebhook } from "../../../src/bot/game/chargeback-webhook.ts";
import { gameServerChecks } from "../../../src/bot/game/check.ts";
import { createGameClient } from "../../../src/bot/game/client.ts";
import { botConfig } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { startCommand } from "../../support/program.ts";

const folder = join(import.meta.dir, "../../../src/bot/game");
const secret = "hush";
const { log } = recordLog();
const steve = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const userId = "123456789012345678";

interface Operation {
	requestBody?: { content: { "application/json": { schema: object } } };
	responses: Record<string, { content?: { "application/json": { schema: object } } }>;
}
const { paths } = Bun.YAML.parse(await Bun.file(join(folder, "openapi.yaml")).text()) as {
	paths: Record<string, Record<string, Operation>>;
};

/** Of the request, or of the response with this status. */
function accepts(route: string, status: number | "request", body: unknown): boolean {
	const [method = "", path = ""] = route.split(" ");
	const { requestBody, responses } = paths[path]?.[method.toLowerCase()] ?? { responses: {} };
	const schema = (status === "request" ? requestBody : responses[status])?.content?.["application/json"].schema;
	if (!schema) throw new Error(`openapi.yaml has no schema of ${route} ${status}`);
	return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(body).success;
}

const client = (url: string) => createGameClient({ url, secret, log });

const answered: Record<string, (url: string) => Promise<unknown>> = {
	"POST /api/verify": (url) => client(url).verify("ABC123", userId),
	"GET /api/donators": (url) => client(url).donators(),
	"POST /api/ban": (url) => client(url).ban(steve, "Chargeback"),
};

describe.each<[route: string, bodies: [body: unknown, accepted: boolean][]]>([
	[
		"POST /api/verify",
		[
			[{ success: true, username: "steve", uuid: steve }, true],
			[{ success: true, username: "steve" }, true],
			[{ success: true, username: null, uuid: steve }, true],
			[{ success: true, username: 1 }, false],
			[{ success: true }, false],
			[{ success: false }, true],
			[{ success: false, error: "No." }, true],
			[{ success: "yes", username: "steve" }, false],
			[{ username: "steve" }, false],
		],
	],
	[
		"GET /api/donators",
		[
			[{ donators: [] }, true],
			[{ donators: [{ chat_id: userId, tier: "premium", uuid: steve, username: "steve" }] }, true],
			[{ donators: [{ chat_id: null, tier: "premium", uuid: null }] }, true],
			[{ donators: [{ chat_id: Number(userId), tier: "premium" }] }, false],
			[{ donators: [{ chat_id: "1", tier: "premium" }] }, false],
			[{ donators: [{ chat_id: userId }] }, false],
			[{}, false],
			[[], false],
		],
	],
	[
		"POST /api/ban",
		[
			[{ success: true }, true],
			[{}, true],
			[{ success: false, error: "No." }, false],
			[{ success: "yes" }, false],
		],
	],
])("what the bot accepts in response to %s is what openapi.yaml has", (route, bodies) => {
	test.each(bodies)("%j: %p", async (body, accepted) => {
		const plugin = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(body) });
		const isAccepted = await answered[route]?.(`http://127.0.0.1:${plugin.port}`).then(
			() => true,
			() => false,
		);
		await plugin.stop(true);
		expect([isAccepted, accepts(route, 200, body)]).toEqual([accepted, accepted]);
	});
});

const chargeback = { uuid: steve, username: "Steve", chat_id: userId, tier: "premium", timestamp: 1_767_323_045 };

test.each<[body: object, status: number]>([
	[chargeback, 202],
	[{ ...chargeback, chat_id: null, timestamp: "2026-01-31T12:00:00Z" }, 202],
	[{ ...chargeback, uuid: "a b" }, 400],
	[{ ...chargeback, username: "" }, 400],
	[{ ...chargeback, chat_id: "1" }, 400],
	[{ ...chargeback, chat_id: undefined }, 400],
	[{ ...chargeback, tier: "x".repeat(101) }, 400],
	[{ ...chargeback, timestamp: true }, 400],
])("the webhook's answer to %j is %p, as openapi.yaml has it", async (body, status) => {
	const webhook = createChargebackWebhook({ secret, accept: async () => true });
	const headers = { Authorization: `Bearer ${secret}` };
	const text = JSON.stringify(body);
	const url = "http://127.0.0.1/webhook/chargeback";
	const response = await webhook(new Request(url, { method: "POST", headers, body: text }));
	expect(response.status).toBe(status);
	expect(accepts("POST /webhook/chargeback", "request", JSON.parse(text))).toBe(status === 202);
	expect(Object.keys(paths["/webhook/chargeback"]?.post?.responses ?? {})).toContain(String(status));
	if (status === 202) expect(accepts("POST /webhook/chargeback", 202, await response.json())).toBe(true);
});

/** Runs the starter behind a server that keeps what passes. */
async function startPlugin() {
	const program = startCommand(
		[Bun.which("node") ?? process.execPath, join(folder, "plugin.mjs")],
		{ GAME_VERIFY_SECRET: secret, PORT: "0" },
		{ cwd: folder },
	);
	const origin = await program.line((line) => /^http:\S+$/.exec(line)?.[0]);
	const passed: { route: string; request: unknown; status: number; response: unknown }[] = [];
	const recorder = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const { pathname } = new URL(request.url);
			const { method, headers } = request;
			const body = method === "POST" ? await request.text() : undefined;
			const response = await fetch(origin + pathname, { method, headers, ...(body && { body }) });
			const json = await response.json();
			const given = body ? JSON.parse(body) : undefined;
			passed.push({ route: `${method} ${pathname}`, request: given, status: response.status, response: json });
			return Response.json(json, { status: response.status });
		},
	});
	return {
		url: `http://127.0.0.1:${recorder.port}`,
		passed,
		async [Symbol.asyncDispose]() {
			await recorder.stop(true);
			await program[Symbol.asyncDispose]();
		},
	};
}

test("the starter links accounts, lists supporters and bans, in messages that openapi.yaml has", async () => {
	await using plugin = await startPlugin();
	const game = client(plugin.url);
	expect(await game.verify("NOBODYS", userId)).toEqual({ success: false, error: expect.stringContaining("not known") });
	expect(await game.donators()).toEqual([]);
	expect(await game.verify("ABC123", userId)).toEqual({ success: true, account: "Steve" });
	expect(await game.verify("ABC123", userId)).toMatchObject({ success: false });
	expect(await game.donators()).toEqual([{ chatId: userId, tier: "premium", uuid: steve, username: "Steve" }]);
	await game.ban(steve, "Chargeback of premium");
	expect(plugin.passed).toHaveLength(6);
	for (const { route, request, status, response } of plugin.passed) {
		expect([route, accepts(route, status, response)]).toEqual([route, true]);
		if (request) expect([route, accepts(route, "request", request)]).toEqual([route, true]);
	}
	const stranger = createGameClient({ url: plugin.url, secret: "wrong", log });
	expect(stranger.donators()).rejects.toThrow("HTTP 401");
	expect(Object.keys(answered).every((route) => plugin.passed.some((one) => one.route === route))).toBe(true);
});

test.each<[what: string, answer: (() => Response) | undefined, said: string | { warning: string }]>([
	["a list", () => Response.json({ donators: [] }), expect.stringMatching(/answered: 0 supporters$/)],
	["401", () => new Response("", { status: 401 }), expect.stringMatching(/rejects the secret \(HTTP 401\)$/)],
	["404", () => new Response("", { status: 404 }), { warning: expect.stringContaining("no list of supporters") }],
	["a page", () => new Response("<h1>"), expect.stringMatching(/cannot be used: .* does not match the API/)],
	["nothing", undefined, expect.stringMatching(/cannot be used: the connection was refused$/)],
])("--check calls the plugin, and says what is so when it answers with %s", async (_, answer, said) => {
	const plugin = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer ?? (() => new Response()) });
	if (!answer) await plugin.stop(true);
	const toml = { bot_name: "Alpha", features: { game: true }, game: {} };
	const gameVerifyUrl = `http://127.0.0.1:${plugin.port}`;
	const [check] = gameServerChecks(botConfig({ toml, gameVerifyUrl, gameVerifySecret: secret }), log);
	expect(await Promise.resolve(check?.run()).catch((error: Error) => error.message)).toEqual(said);
	if (answer) await plugin.stop(true);
	expect(gameServerChecks(botConfig({ toml, gameVerifyUrl: undefined }), log)).toEqual([]);
});
