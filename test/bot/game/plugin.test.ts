// The plugin to start from, and what `--check` says of a plugin.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { gameServerChecks } from "../../../src/bot/game/check.ts";
import { createGameClient } from "../../../src/bot/game/client.ts";
import { botConfig } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { startCommand } from "../../support/program.ts";
import { allows, folder } from "./openapi.ts";

const { log } = recordLog();
const secret = "hush";

test("the starter links accounts, lists supporters and bans, as openapi.yaml has it", async () => {
	const command = [Bun.which("node") ?? process.execPath, join(folder, "plugin.mjs")];
	await using program = startCommand(command, { GAME_VERIFY_SECRET: secret, PORT: "0" }, { cwd: folder });
	const url = await program.line((line) => /^http:\S+$/.exec(line)?.[0]);
	const headers = { Authorization: `Bearer ${secret}` };
	const game = createGameClient({ url, secret, log });
	const chatId = "123456789012345678";
	expect(await game.donators()).toEqual([]);
	expect(await game.verify("NOBODYS", chatId)).toEqual({ success: false, error: expect.stringContaining("not known") });
	expect(await game.verify("ABC123", chatId)).toEqual({ success: true, account: "Steve" });
	expect(await game.verify("ABC123", chatId)).toMatchObject({ success: false });
	expect(await game.donators()).toMatchObject([{ chatId, tier: "premium", username: "Steve" }]);
	const response = await fetch(`${url}/api/donators`, { headers });
	const list = (await response.json()) as { donators: { uuid: string }[] };
	expect([list.donators.length, allows("GET /api/donators", 200, list)]).toEqual([1, true]);
	await game.ban(list.donators[0]?.uuid ?? "", "Chargeback of premium");
	await expect(createGameClient({ url, secret: "wrong", log }).donators()).rejects.toThrow("HTTP 401");
});

test.each<[what: string, answer: Response | undefined, said: string | { warning: string }]>([
	["a list", Response.json({ donators: [] }), expect.stringMatching(/answered: 0 supporters$/)],
	["401", new Response("", { status: 401 }), expect.stringMatching(/rejects the secret \(HTTP 401\)$/)],
	["404", new Response("", { status: 404 }), { warning: expect.stringContaining("no list of supporters") }],
	["a page", new Response("<h1>"), expect.stringMatching(/cannot be used: .* does not match the API/)],
	["nothing", undefined, expect.stringMatching(/cannot be used: the connection was refused$/)],
])("--check says what is so when the plugin answers with %s", async (_, answer, said) => {
	using plugin = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => answer ?? new Response() });
	const gameVerifyUrl = `http://127.0.0.1:${plugin.port}`;
	if (!answer) await plugin.stop(true);
	const toml = { bot_name: "Alpha", features: { game: true }, game: {} };
	const [check] = gameServerChecks(botConfig({ toml, gameVerifyUrl, gameVerifySecret: secret }), log);
	expect(await Promise.resolve(check?.run()).catch((error: Error) => error.message)).toEqual(said);
});
