// The event stream for programs and pages that watch the simulator.

import { expect, test } from "bun:test";
import { connect as connectTcp } from "node:net";
import { EventLog } from "../../../src/simulator/control/event-log.ts";
import { present, until } from "../../support/until.ts";
import { connect, type Simulator, startSimulator } from "../support.ts";

interface Event {
	readonly event: string;
	readonly data: Record<string, unknown>;
}

/** Follows a stream of server-sent events. */
function follow(response: Response) {
	const events: Event[] = [];
	let text = "";
	const reader = present(response.body?.getReader());
	const ended = (async () => {
		const decoder = new TextDecoder();
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			text += decoder.decode(value, { stream: true });
			const frames = text.split("\n\n");
			text = frames.pop() ?? "";
			for (const frame of frames) {
				const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1] ?? "";
				if (field("event")) events.push({ event: field("event"), data: JSON.parse(field("data")) });
			}
		}
	})();
	ended.catch(() => {});
	return {
		events,
		of: (event: string) => events.filter((one) => one.event === event),
		/** Resolves with the first event of this name for which `fits` returns true. */
		async event(name: string, fits: (one: Event) => boolean = () => true) {
			const find = () => events.find((one) => one.event === name && fits(one));
			await until(`the event ${name}`, () => find() !== undefined);
			return find() as Event;
		},
		[Symbol.dispose]: () => void reader.cancel(),
	};
}

const stream = (simulator: Simulator) => fetch(`${simulator.url}/simulator/events`);

test("what happens is in the stream", async () => {
	await using simulator = await startSimulator();
	const ada = simulator.user("ada");
	using seen = follow(await stream(simulator));
	await seen.event("hello");
	await ada.say("The Cooks/general", "hello");
	simulator.faults.refuse("* *", 50013, { times: 1 });
	await ada.say("The Cooks/general", "refused").catch(() => {});
	expect(await seen.event("request")).toMatchObject({ data: { status: 403, fault: "refuse", actor: ada.id } });
	expect(seen.events.map(({ event }) => event)).toEqual(["hello", "discord", "journal", "request"]);
	expect(seen.of("discord")).toMatchObject([{ data: { type: "MESSAGE_CREATE", data: { content: "hello" } } }]);
	expect(seen.of("journal")).toMatchObject([{ data: { seq: 1, actor: ada.id, body: { content: "hello" } } }]);
});

test("bots that connect, and their ephemeral responses, are in the stream without tokens of interactions", async () => {
	await using simulator = await startSimulator();
	using seen = follow(await stream(simulator));
	await seen.event("hello");
	await using bot = await connect(simulator);
	expect((await seen.event("bots")).data).toEqual({ connected: [bot.client.user.id] });
	await bot.client.application.commands.set([{ name: "ping", description: "Pong" }]);
	const replied = Promise.withResolvers<unknown>();
	bot.client.on("interactionCreate", (one) => {
		if (one.isChatInputCommand()) replied.resolve(one.reply({ content: "pong", flags: ["Ephemeral"] }));
	});
	await simulator.user("ada").run("The Cooks/general", "ping");
	const done = await seen.event("interaction", ({ data }) => data.state === "acknowledged");
	expect(done.data).toMatchObject({
		type: 2,
		user: "ada",
		application_id: bot.client.user.id,
		reply: { content: "pong", flags: 64 },
	});
	const [interaction] = simulator.interactions.list();
	expect(JSON.stringify(seen.events)).not.toContain(interaction?.token);
	await replied.promise;
});

test("a reader that is too slow is disconnected, the others are not", async () => {
	const log = new EventLog();
	using server = Bun.serve({ port: 0, idleTimeout: 0, fetch: () => log.open() });
	const slow = connectTcp(Number(server.port), "127.0.0.1");
	slow.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
	await new Promise<void>((resolve) => slow.once("data", () => resolve()));
	slow.pause();
	const ended = new Promise<void>((resolve) => slow.once("close", () => resolve()));
	using other = follow(await fetch(`http://127.0.0.1:${server.port}`));
	await other.event("hello");
	// More than the sockets' buffers and the log hold.
	for (let round = 0; round < 40; round += 1) {
		for (let index = 0; index < 100; index += 1) log.add("x", { text: "é".repeat(3_000), round });
		await other.event("x", ({ data }) => data.round === round);
	}
	log.add("last", {});
	await other.event("last");
	slow.resume();
	await ended;
}, 120_000);

test("long texts are cut", async () => {
	const log = new EventLog();
	const reader = log.open().body?.getReader();
	const next = async () => new TextDecoder().decode((await reader?.read())?.value);
	expect(await next()).toBe("event: hello\ndata: {}\n\n");
	log.add("x", { text: "a".repeat(4_001) });
	expect(await next()).toEndWith(`data: {"text":"${"a".repeat(4_000)}…"}\n\n`);
	await reader?.cancel();
});

test("there are at most 64 readers", async () => {
	const log = new EventLog();
	const open = () => log.open();
	const readers = Array.from({ length: 64 }, open);
	expect(open().status).toBe(503);
	await readers[0]?.body?.cancel();
	expect(open().status).toBe(200);
});
