// The contract as OpenAPI and as a starter in Node agree with what the bot sends and accepts. And what `--check` says.

import { expect, test } from "bun:test";
import { join } from "node:path";
import * as z from "zod";
import { createChargebackWebhook } from "../../../src/bot/game/chargeback-webhook.ts";
import { gameServerChecks } from "../../../src/bot/game/check.ts";
import { createGameClient, type GameClient } from "../../../src/bot/game/client.ts";
import { botConfig } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { startCommand } from "../../support/program.ts";

const folder = join(import.meta.dir, "../../../src/bot/game");
const secret = "hush";
const { log } = recordLog();
const steve = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const userId = "123456789012345678";

type Body = { content?: { "application/json": { schema: Parameters<typeof z.fromJSONSchema>[0] } } };
type Operation = { requestBody?: Body; responses: Record<string, Body> };
const file = Bun.YAML.parse(await Bun.file(join(folder, "openapi.yaml")).text());
const { paths } = file as { paths: Record<string, Record<string, Operation>> };

/** Of the request, or of the response with this status. */
function accepts(route: string, status: number | "request", body: unknown): boolean {
	const [method = "", path = ""] = route.split(" ");
	const { requestBody, responses } = paths[path]?.[method.toLowerCase()] ?? { responses: {} };
	const schema = (status === "request" ? requestBody : responses[status])?.content?.["application/json"].schema;
	return z.fromJSONSchema(schema ?? false).safeParse(body).success;
}

function serve(answer: (request: Request) => Response | Promise<Response>) {
	const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
	return { url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
}

const client = (url: string, given = secret) => createGameClient({ url, secret: given, log });
const calls: Record<string, (game: GameClient) => Promise<unknown>> = {
	"POST /api/verify": (game) => game.verify("ABC123", userId),
	"GET /api/donators": (game) => game.donators(),
	"POST /api/ban": (game) => game.ban(steve, "Chargeback"),
};
const supporter = { chat_id: userId, tier: "premium", uuid: steve, username: "steve" };
const donators = (...changes: object[]) => ({ donators: changes.map((change) => ({ ...supporter, ...change })) });

test.each<[route: string, accepted: boolean, bodies: unknown[]]>([
	[
		"POST /api/verify",
		true,
		[
			{ success: true, username: "steve", uuid: steve },
			{ success: true, username: "steve" },
		],
	],
	[
		"POST /api/verify",
		true,
		[
			{ success: true, username: null, uuid: steve },
			{ success: false, error: "No." },
		],
	],
	["POST /api/verify", false, [{ success: true, username: 1 }, { success: true }, { username: "steve" }, []]],
	["GET /api/donators", true, [donators(), donators({}), donators({ chat_id: null, uuid: null }, {})]],
	["GET /api/donators", false, [donators({ chat_id: 1 }), donators({ chat_id: "1" }), donators({ tier: null }), {}]],
	["POST /api/ban", true, [{ success: true }, {}]],
	["POST /api/ban", false, [{ success: false, error: "No." }, { success: "yes" }]],
])("the bot and openapi.yaml agree on %s: %p", async (route, accepted, bodies) => {
	for (const body of bodies) {
		await using plugin = serve(async (request) => {
			const sent = await request.text();
			if (sent) expect(accepts(route, "request", JSON.parse(sent))).toBe(true);
			return Response.json(body);
		});
		const said = calls[route]?.(client(plugin.url)).then(
			() => true,
			() => false,
		);
		expect([body, await said, accepts(route, 200, body)]).toEqual([body, accepted, accepted]);
	}
});

const chargeback = { uuid: steve, username: "Steve", chat_id: userId, tier: "premium", timestamp: 1_767_323_045 };

test.each<[change: object, status: number]>([
	[{}, 202],
	[{ chat_id: null, timestamp: "2026-01-31T12:00:00Z" }, 202],
	[{ uuid: "a b" }, 400],
	[{ username: "" }, 400],
	[{ chat_id: "1" }, 400],
	[{ chat_id: undefined }, 400],
	[{ tier: "x".repeat(101) }, 400],
	[{ timestamp: true }, 400],
])("the webhook answers a chargeback with %j by %p, as openapi.yaml has it", async (change, status) => {
	const webhook = createChargebackWebhook({ secret, accept: async () => true });
	const body = JSON.stringify({ ...chargeback, ...change });
	const init = { method: "POST", headers: { Authorization: `Bearer ${secret}` }, body };
	const response = await webhook(new Request("http://127.0.0.1/webhook/chargeback", init));
	expect(response.status).toBe(status);
	expect(accepts("POST /webhook/chargeback", "request", JSON.parse(body))).toBe(status === 202);
	if (status === 202) expect(accepts("POST /webhook/chargeback", 202, await response.json())).toBe(true);
});

test("the starter links accounts, lists supporters and bans, in messages that openapi.yaml has", async () => {
	const command = [Bun.which("node") ?? process.execPath, join(folder, "plugin.mjs")];
	await using program = startCommand(command, { GAME_VERIFY_SECRET: secret, PORT: "0" }, { cwd: folder });
	const url = await program.line((line) => /^http:\S+$/.exec(line)?.[0]);
	const headers = { Authorization: `Bearer ${secret}` };
	const listed = async () =>
		accepts("GET /api/donators", 200, await (await fetch(`${url}/api/donators`, { headers })).json());
	const game = client(url);
	expect(await game.verify("NOBODYS", userId)).toEqual({ success: false, error: expect.stringContaining("not known") });
	expect([await game.donators(), await listed()]).toEqual([[], true]);
	expect(await game.verify("ABC123", userId)).toEqual({ success: true, account: "Steve" });
	expect(await game.verify("ABC123", userId)).toMatchObject({ success: false });
	const { chat_id: chatId, ...rest } = supporter;
	expect([await game.donators(), await listed()]).toEqual([[{ ...rest, chatId, username: "Steve" }], true]);
	await game.ban(steve, "Chargeback of premium");
	await expect(client(url, "wrong").donators()).rejects.toThrow("HTTP 401");
});

test.each<[what: string, answer: (() => Response) | undefined, said: string | { warning: string }]>([
	["a list", () => Response.json(donators()), expect.stringMatching(/answered: 0 supporters$/)],
	["401", () => new Response("", { status: 401 }), expect.stringMatching(/rejects the secret \(HTTP 401\)$/)],
	["404", () => new Response("", { status: 404 }), { warning: expect.stringContaining("no list of supporters") }],
	["a page", () => new Response("<h1>"), expect.stringMatching(/cannot be used: .* does not match the API/)],
	["nothing", undefined, expect.stringMatching(/cannot be used: the connection was refused$/)],
])("--check calls the plugin, and says what is so when it answers with %s", async (_, answer, said) => {
	await using plugin = serve(answer ?? (() => new Response()));
	if (!answer) await plugin[Symbol.asyncDispose]();
	const toml = { bot_name: "Alpha", features: { game: true }, game: {} };
	const [check] = gameServerChecks(botConfig({ toml, gameVerifyUrl: plugin.url, gameVerifySecret: secret }), log);
	expect(await Promise.resolve(check?.run()).catch((error: Error) => error.message)).toEqual(said);
});
