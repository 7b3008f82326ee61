// tools/list while the only bot restarts: the gateway answers with what the bot listed before.

import { expect, test } from "bun:test";
import { startTestGateway } from "../../support/gateway.ts";
import { ownHost } from "../../support/own-host.ts";
import { type Behaviour, startStubBackend } from "../../support/stub-backend.ts";
import { until } from "../../support/until.ts";

const writing = '{"name":"act","inputSchema":{"type":"object"}}';
/** The gateway looks for a stopped bot at its port, which no other bot must get meanwhile. */
const hostname = ownHost(78);
/** Longer than any test takes. */
const forever = 2 ** 30;

const draining: Behaviour = () =>
	new Response("stopping", { status: 503, headers: { "X-Guildhall-Draining": "1", Connection: "close" } });

async function startWorld(awayMs: number) {
	await using stack = new AsyncDisposableStack();
	const bot = stack.use(startStubBackend({ hostname, tools: [writing] }));
	const gateway = stack.use(await startTestGateway({ alpha: bot }, { options: { awayMs } }));
	const owned = stack.move();
	const names = async () => (await gateway.tools()).map(({ name }) => name);
	return { bot, ...gateway, names, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("tools stay listed while their bot drains, is away, and is offline", async () => {
	const listed = ["act", "list_instances"];
	await using drained = await startWorld(forever);
	expect((await drained.names()).sort()).toEqual(listed);
	drained.bot.on = { act: draining, initialize: draining };
	const call = drained.text("act", { instance: "alpha" });
	await until("the bot has refused a call", () => Promise.resolve(drained.bot.received("act").length > 0));
	expect((await drained.names()).sort()).toEqual(listed);
	await drained.bot.stop();
	expect((await drained.names()).sort()).toEqual(listed);
	await using _back = startStubBackend({ hostname, port: drained.bot.port, tools: [writing] });
	expect(await call).toBe("ran act");

	await using offline = await startWorld(0);
	await offline.bot.stop();
	await offline.text("act", { instance: "alpha" });
	await offline.refresh();
	expect((await offline.names()).sort()).toEqual(listed);
});

test("the first list after the bot is back is what the bot lists then", async () => {
	await using world = await startWorld(0);
	await world.bot.stop();
	await world.refresh();
	await using back = startStubBackend({
		hostname,
		port: world.bot.port,
		tools: [writing, '{"name":"more","inputSchema":{"type":"object"}}'],
	});
	await world.refresh();
	expect(back.received("tools/list")).toHaveLength(1);
	expect((await world.names()).sort()).toEqual(["act", "list_instances", "more"]);
});
