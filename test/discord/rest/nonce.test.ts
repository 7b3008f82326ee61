import { expect, test } from "bun:test";
import { REST, Routes } from "discord.js";
import { guardRest, isOutcomeUnknown, restOptions, type ToolRun, withinRun } from "../../../src/discord/rest/rest.ts";
import { startSimulator } from "../../support/simulator.ts";
import { present, until } from "../../support/until.ts";

const messages = "POST /channels/:channel_id/messages";

/** A simulator, and discord.js's REST manager in front of it as the bot has it. */
async function startPlatform() {
	const simulator = await startSimulator();
	const channel = simulator.channel("The Cooks/general");
	const closing = new AbortController();
	const rest = new REST(restOptions(simulator.api));
	rest.setToken(simulator.bot("alpha").token);
	let expiry = new AbortController();
	const { signal } = closing;
	guardRest(rest, { timeoutMs: 60_000, timeoutSignal: () => expiry.signal, onUnauthorized: () => {}, closing: signal });
	return {
		simulator,
		channel,
		closing,
		rest,
		say: (body: object = { content: "once" }) => rest.post(Routes.channelMessages(channel.id), { body }),
		/** Of the requests that were executed. */
		nonces: () => simulator.journal.entries(messages).map(({ body }) => String(Object(body).nonce)),
		arrivals: () => simulator.requests.list(messages).length,
		expireRequests() {
			const due = expiry;
			expiry = new AbortController();
			due.abort();
		},
		[Symbol.asyncDispose]: () => simulator.close(),
	};
}

type Platform = Awaited<ReturnType<typeof startPlatform>>;

const isUnknown = (call: Promise<unknown>) =>
	call.then(
		() => "it succeeded",
		(error: unknown) => isOutcomeUnknown(error) || error,
	);

const times = 1;
const page = { body: "<!DOCTYPE html>", headers: { "content-type": "text/html" } };

test.concurrent.each<[string, (platform: Platform) => unknown]>([
	["a connection that drops before", ({ simulator: { faults } }) => faults.drop(messages, { when: "before", times })],
	["a connection that drops after", ({ simulator: { faults } }) => faults.drop(messages, { when: "after", times })],
	["a server error before", ({ simulator: { faults } }) => faults.fail(messages, 500, { times })],
	["a server error after", ({ simulator: { faults } }) => faults.fail(messages, 503, { times, executed: true })],
	[
		"a page of a proxy after",
		({ simulator: { faults } }) => faults.answer(messages, { status: 502, ...page, executed: true, times }),
	],
])("%s the message is created is resolved by sending it again", async (_, inject) => {
	await using platform = await startPlatform();
	const { simulator, channel } = platform;
	inject(platform);
	const message = await platform.say();
	expect(channel.transcript()).toBe("alpha: once");
	const [stored] = simulator.world.messages.in(channel.id);
	expect(message).toMatchObject({ id: stored?.id, content: "once" });
	expect(platform.arrivals()).toBe(2);
	expect(platform.nonces()).toHaveLength(1);
});

test.concurrent("a timeout is resolved by sending the message again, and a second one ends that", async () => {
	await using platform = await startPlatform();
	const { simulator, channel } = platform;
	const once = simulator.faults.stall(messages, { after: true, times });
	const resolved = platform.say();
	await until("it has arrived", () => once.hits > 0);
	platform.expireRequests();
	await resolved;
	const twice = simulator.faults.stall(messages, { after: true });
	const lost = isUnknown(platform.say());
	for (const count of [1, 2]) {
		await until("it has arrived", () => twice.hits === count);
		platform.expireRequests();
	}
	expect(await lost).toBe(true);
	expect(platform.arrivals()).toBe(4);
	expect(channel.transcript()).toBe("alpha: once\nalpha: once");
});

test.concurrent("each message has a nonce of its own that Discord accepts, unless it is given one", async () => {
	await using platform = await startPlatform();
	const content = "x";
	await platform.say();
	await platform.say();
	await platform.say({ content, nonce: "its own" });
	await platform.say({ content, nonce: "its own" });
	const [first, second, ...own] = platform.nonces();
	expect(first).toHaveLength(24);
	expect(second).not.toBe(first);
	expect(own).toEqual(["its own"]);
});

test.concurrent("other requests have no nonce and are sent once", async () => {
	await using platform = await startPlatform();
	const { simulator, rest, channel } = platform;
	const { world, faults, journal } = simulator;
	const guild = simulator.guild("The Cooks");
	const general = present(guild.channels.get(channel.id));
	const { id, token = "" } = world.webhooks.add(general, { name: "Crier" });
	const body = { content: "x" };
	const thread = { name: "x", type: 11 };
	const message = await simulator.bot("alpha").say("The Cooks/general", "x");
	const writes = [
		() => rest.post(Routes.webhook(id, token), { body, auth: false }),
		() => rest.post(Routes.threads(channel.id), { body: thread }),
		() => rest.patch(Routes.channelMessage(channel.id, message.id), { body }),
	];
	journal.clear();
	for (const write of writes) {
		faults.fail("* *", 500, { executed: true, times });
		expect(await isUnknown(write())).toBe(true);
		expect(journal.entries().at(-1)?.body).not.toHaveProperty("nonce");
	}
	expect(journal.entries()).toHaveLength(3);
});

test.concurrent("a refusal of the second request leaves the outcome of the first unknown", async () => {
	await using platform = await startPlatform();
	const { faults } = platform.simulator;
	faults.fail(messages, 500, { executed: true, times });
	faults.refuse(messages, 50013);
	expect(await isUnknown(platform.say())).toBe(true);
	expect(platform.arrivals()).toBe(2);
});

test.concurrent("a message is sent again after a rate limit, and not if that outlasts a minute", async () => {
	await using platform = await startPlatform();
	const { faults } = platform.simulator;
	faults.fail(messages, 500, { executed: true, times });
	faults.rateLimit(messages, { retryAfterMs: 50, times });
	await platform.say();
	expect(platform.arrivals()).toBe(3);
	faults.fail(messages, 500, { executed: true, times });
	faults.rateLimit(messages, { retryAfterMs: 61_000 });
	expect(await isUnknown(platform.say())).toBe(true);
	expect(platform.arrivals()).toBe(5);
});

test.concurrent("a message is not sent again beyond the deadline of its tool, or when the bot stops", async () => {
	await using platform = await startPlatform();
	const { signal } = new AbortController();
	const run: ToolRun = {
		signal,
		reason: undefined,
		mayWrite: true,
		endsAt: performance.now() + 3_600_000,
		// Less than the first pause.
		onWrite() {
			run.endsAt = performance.now() + 400;
		},
	};
	const fault = platform.simulator.faults.fail(messages, 500);
	expect(await isUnknown(withinRun(run, () => platform.say()))).toBe(true);
	const stopped = isUnknown(platform.say());
	await until("it has failed", () => fault.hits === 2);
	platform.closing.abort();
	expect(await stopped).toBe(true);
	expect(platform.arrivals()).toBe(2);
});
