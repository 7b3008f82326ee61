import { expect, test } from "bun:test";
import { createAskRights, Rights } from "../../../src/gateway/principals/rights.ts";
import { Views } from "../../../src/gateway/principals/views.ts";
import { type Principal, principalCapability } from "../../../src/lib/principal.ts";
import { PlainSignal, type Signal } from "../../../src/lib/signal.ts";
import { createTestBackend } from "../../support/gateway.ts";
import { type Behaviour, result, rpcError, stall, startStubBackend } from "../../support/stub-backend.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";

const worldTest = testWith(() => start());

const person = "700000000000000007";
const who = { id: person, name: "Hanna", signedIn: true };
const never = new AbortController().signal;
const one = { id: "100000000000000001", name: "One", signIn: true };
const two = { id: "200000000000000002", name: "Two", signIn: false };
const answers =
	(...guilds: (typeof one)[]): Behaviour =>
	({ id }) =>
		result(id, JSON.stringify({ guilds }));
const fails: Behaviour = ({ id }) => rpcError(id, -32603, "Internal error");

async function start({
	declares = true,
	barred = [] as string[],
	awayMs = 0,
	limit = undefined as (() => Signal) | undefined,
} = {}) {
	const stub = startStubBackend({
		experimental: declares ? [principalCapability] : [],
		on: { "guildhall/rights": answers(one, two) },
	});
	const { backend } = createTestBackend({ url: stub.url, barred, awayMs });
	await backend.refresh();
	const clock = { ms: 0 };
	const rights = new Rights(() => clock.ms, limit);
	const known = () => rights.known(backend, person)?.guilds.map((guild) => guild.name);
	return {
		stub,
		backend,
		clock,
		rights,
		known,
		load: (signal = never) => rights.load([backend], person, signal),
		asked: () => stub.received("guildhall/rights").length,
		async [Symbol.asyncDispose]() {
			await backend.close();
			await stub.stop();
		},
	};
}

worldTest("an answer counts for 5 s, and concurrent callers share a request", async (world) => {
	const { clock, load, asked, stub, known } = world;
	expect(known()).toBeUndefined();
	await Promise.all([load(), load(), load()]);
	expect(known()).toEqual(["One", "Two"]);
	clock.ms = 4_999;
	await load();
	expect(asked()).toBe(1);
	stub.on["guildhall/rights"] = answers(two);
	clock.ms = 5_000;
	await load();
	expect(asked()).toBe(2);
	expect(known()).toEqual(["Two"]);
});

worldTest(
	"the last answer of a bot that fails counts for 5 minutes, and it is asked again after 5 s",
	async (world) => {
		const { clock, load, asked, stub, known } = world;
		await load();
		stub.on["guildhall/rights"] = fails;
		clock.ms = 5_000;
		await load();
		await load();
		expect(asked()).toBe(2);
		clock.ms = 299_999;
		expect(known()).toEqual(["One", "Two"]);
		clock.ms = 300_000;
		expect(known()).toBeUndefined();
		await load();
		expect(asked()).toBe(3);
	},
);

worldTest("an invalid answer is none", async (world) => {
	for (const json of ["{}", '{"guilds":[{"id":"x"}]}', '{"guilds":{}}']) {
		world.stub.on["guildhall/rights"] = ({ id }) => result(id, json);
		await world.load();
		expect(world.known()).toBeUndefined();
		world.clock.ms += 5_000;
	}
});

worldTest("an aborted caller waits no longer, and the request goes on for others", async (world) => {
	world.stub.on["guildhall/rights"] = stall;
	const controller = new AbortController();
	const loading = world.load(controller.signal);
	await world.stub.arrived("guildhall/rights");
	controller.abort();
	await loading;
	const [request] = world.stub.received("guildhall/rights");
	expect(request?.signal.aborted).toBe(false);
});

test("a bot that is away is asked until it is back", async () => {
	const limits: PlainSignal[] = [];
	const limit = () => {
		const signal = new PlainSignal();
		limits.push(signal);
		return signal;
	};
	await using world = await start({ awayMs: 2 ** 30, limit });
	const { stub, backend, known } = world;
	stub.on.initialize = () =>
		new Response("stopping", { status: 503, headers: { "X-Guildhall-Draining": "1", Connection: "close" } });
	backend.health.setOffline("it restarts", "draining");
	backend.session.leave();
	const loading = world.load();
	for (const count of [1, 2, 3]) {
		await until("it is asked", () => limits.length === count);
		limits.at(-1)?.abort(new DOMException("late", "TimeoutError"));
	}
	expect(known()).toBeUndefined();
	delete stub.on.initialize;
	await loading;
	expect(known()).toEqual(["One", "Two"]);
});

test("a bot that does not come back is not asked again", async () => {
	let asked = 0;
	const limit = () => {
		asked++;
		return new PlainSignal();
	};
	await using world = await start({ awayMs: 1, limit });
	await world.stub.stop();
	await world.load();
	expect(world.known()).toBeUndefined();
	expect(asked).toBe(1);
});

worldTest("names of guilds are put on one line, and a guild without a name is called by its id", async (world) => {
	for (const [name, shown] of [
		["a\nb", "a b"],
		["x".repeat(200), "x".repeat(100)],
		["", one.id],
	] as const) {
		world.stub.on["guildhall/rights"] = answers({ ...one, name });
		await world.load();
		expect(world.known()).toEqual([shown]);
		world.clock.ms += 5_000;
	}
});

test("guilds that are pinned to another bot are left out", async () => {
	await using world = await start({ barred: [one.id] });
	await world.load();
	expect(world.known()).toEqual(["Two"]);
});

worldTest("who signed in sees only guilds where they may sign in", async (world) => {
	const { backend, rights } = world;
	const views = new Views([backend], rights);
	const names = async (signedIn: boolean) => {
		const principal: Principal = {
			id: "grant:1",
			name: "Claude",
			access: "all",
			person: { id: person, name: "Hanna", signedIn },
		};
		const seen = await views.load(principal, never);
		return seen.flatMap(({ guilds }) => [...guilds.values()]);
	};
	expect(await names(true)).toEqual(["One"]);
	expect(await names(false)).toEqual(["One", "Two"]);
	world.stub.on["guildhall/rights"] = answers(two);
	world.clock.ms = 5_000;
	expect(await names(true)).toEqual([]);
});

worldTest("signing in asks all bots that accept principals, and says which did not answer", async (world) => {
	await using old = await start({ declares: false });
	await using broken = await start();
	broken.stub.on["guildhall/rights"] = fails;
	const ask = createAskRights(world.rights, [...[world.backend, old.backend]]);
	expect(await ask(who)).toEqual([{ guilds: [one, two] }]);
	expect(old.asked()).toBe(0);
	const askBroken = createAskRights(broken.rights, [broken.backend]);
	expect(await askBroken(who)).toEqual([undefined]);
	// An answer from before the failure does not let anyone in.
	world.stub.on["guildhall/rights"] = fails;
	world.clock.ms = 7_000;
	expect(await ask(who)).toEqual([undefined]);
});

worldTest("signing in is told that a bot does not know all guilds of a person", async (world) => {
	world.stub.on["guildhall/rights"] = ({ id }) => result(id, JSON.stringify({ guilds: [two], incomplete: true }));
	const ask = createAskRights(world.rights, [world.backend]);
	expect(await ask(who)).toEqual([{ guilds: [two], incomplete: true }]);
});

worldTest("signing in asks a bot again that was asked just now", async (world) => {
	const ask = createAskRights(world.rights, [world.backend]);
	await world.load();
	world.stub.on["guildhall/rights"] = answers(two);
	expect(await ask(who)).toEqual([{ guilds: [two] }]);
	expect(await Promise.all([ask(who), ask(who)])).toHaveLength(2);
	expect(world.asked()).toBe(3);
});

test("a bot that was never reached is one that did not answer", async () => {
	const stub = startStubBackend();
	const { backend } = createTestBackend({ url: stub.url });
	await stub.stop();
	await backend.refresh();
	const ask = createAskRights(new Rights(), [backend]);
	expect(await ask(who)).toEqual([undefined]);
	await backend.close();
});
