// The live view of the console: the state of the bots, and tool calls.

import { expect } from "bun:test";
import { readEvents, type SseEvent } from "../../../src/mcp/sse.ts";
import { startTestGateway } from "../../support/gateway.ts";
import { bareTool, echoTool, startStubBackend } from "../../support/stub-backend.ts";
import { testWith } from "../../support/test-with.ts";
import { type ConsoleClient, signedIn, signedInPerson } from "./console-client.ts";

const worldTest = testWith(() => startWorld());

const guild = "300000000000000003";
const hanna = { id: "100000000000000001", name: "Hanna" };

const _meta = { "guildhall/guild_ids": true };
const inGuilds = JSON.stringify({ name: "look", inputSchema: { type: "object" }, _meta });

async function startWorld() {
	const bot = startStubBackend({
		guilds: { [guild]: "<b>Cooks</b>\u202e" },
		tools: [echoTool, bareTool("act"), inGuilds],
	});
	const gone = startStubBackend();
	await gone.stop();
	const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
	const now = () => clock.now;
	const options = { signIn: { clocks: { now, monotonicNow: now } } };
	const gateway = await startTestGateway({ alpha: bot, beta: gone }, { options });
	return { ...gateway, bot, clock };
}

interface Call {
	id: string;
	seq: number;
	[name: string]: unknown;
}

/** The events of a stream, one after the other. */
async function openEvents(client: ConsoleClient) {
	const response = await client.request("/api/events");
	expect(response.status).toBe(200);
	const events = readEvents(response.body as never, 1_000_000);
	/** The data of the next event with this name. */
	async function next<Data>(name: string): Promise<Data> {
		for (;;) {
			const { value, done } = (await events.next()) as { value: SseEvent; done: boolean };
			if (done) throw new Error(`the stream has ended without ${name}`);
			if (value.event === name) return JSON.parse(value.data);
		}
	}
	return { response, next, ended: async () => (await events.next()).done };
}

worldTest(
	"the state has each bot with its guilds, and why it is offline; its approvals are not read",
	async (world) => {
		const client = await signedIn(world.url);
		const { body } = await client.get("state");
		expect(body).toEqual({
			gateway: {
				version: expect.any(String),
				startedAt: expect.any(Number),
				database: null,
				databaseReason: null,
				hasControl: false,
				newer: null,
			},
			bots: [
				{
					name: "alpha",
					state: "online",
					reason: null,
					since: expect.any(Number),
					version: "1",
					guilds: [{ id: guild, name: "<b>Cooks</b>\\u{202e}", pinned: false }],
					guildCount: 1,
					tools: 3,
					callsInFlight: 0,
					latency: null,
					failed: 0,
					refused: 0,
				},
				expect.objectContaining({ name: "beta", state: "offline", reason: expect.any(String), guilds: [] }),
			],
		});
		const { unavailable } = (await client.get<{ unavailable: unknown[] }>("approvals")).body;
		expect(unavailable.at(-1)).toEqual({ instance: "beta", reason: "is offline: its approvals cannot be read." });
	},
);

worldTest("calls are shown without arguments, with who asked and their outcome", async (world) => {
	const secret = "what-ada-wrote-in-confidence";
	await world.call("echo", { instance: "alpha", guild_id: guild, text: secret });
	await world.call("act", { instance: "beta", guild_id: secret.repeat(9) });
	await world.call("<script>", { instance: "alpha" });
	const client = await signedIn(world.url);
	const offline = expect.stringContaining("BackendOffline: beta cannot be reached");
	const { body } = await client.get<{ calls: Call[] }>("calls");
	const bun = expect.stringMatching(/^Bun/);
	const common = { key: null, person: null, client: bun, parts: 0 };
	expect(body.calls).toEqual([
		{
			id: expect.stringMatching(/-1$/),
			seq: 0,
			at: expect.any(Number),
			ms: expect.any(Number),
			instance: "alpha",
			tool: "echo",
			guild,
			outcome: "done",
			kind: "good",
			error: null,
			...common,
		},
		expect.objectContaining({
			...common,
			instance: "beta",
			outcome: "offline",
			kind: "bad",
			error: offline,
			guild: null,
		}),
		expect.objectContaining({ tool: '"<script>"', seq: 2 }),
	]);
	expect(JSON.stringify(body)).not.toContain(secret);
	const around = { from: 0, before: 1e15, limit: 9, hours: true };
	const past = async (query: object) => (await client.post("history", { ...around, ...query })).body;
	expect(await past({})).toMatchObject({
		calls: [{ instance: "beta", tool: "act", outcome: "offline", answer: offline, client: bun }],
		hours: [{ calls: 1, refused: 0, failed: 1 }],
		unreached: 1,
	});
	for (const query of [{ kind: "refused" }, { search: secret }, { instance: "" }, { before: 0 }])
		expect([query, await past(query)]).toEqual([
			query,
			expect.objectContaining({ calls: [], hours: [], unreached: 0 }),
		]);
	const { bots } = (await client.get<{ bots: Record<string, unknown>[] }>("state")).body;
	expect(bots[1]).toMatchObject({ failed: 1, refused: 0, latency: { calls: 1 } });
});

worldTest("a call in several guilds says which were not reached, and why", async (world) => {
	const away = "400000000000000004";
	await world.call("look", { guild_ids: [guild, away] });
	const client = await signedIn(world.url);
	const { calls } = (await client.get<{ calls: Call[] }>("calls")).body;
	const error = expect.stringContaining("GuildNotFound");
	expect(calls).toMatchObject([{ outcome: "partly_done", kind: "bad", instance: null, parts: 2, error }]);
	const part = { request: calls[0]?.id, from: 0, before: 1e15, limit: 9 };
	const { calls: all } = (await client.post<{ calls: Call[] }>("history", part)).body;
	expect(all.toSorted((a, b) => a.id.localeCompare(b.id))).toMatchObject([
		{ request: part.request, outcome: "partly_done", answer: error },
		{ request: `${part.request}.2`, guild: away, outcome: "not_routed", answer: error },
	]);
});

worldTest("events begin with everything, and go on with what changes", async (world) => {
	await world.call("echo", { instance: "alpha" });
	const client = await signedIn(world.url);
	const { next, response } = await openEvents(client);
	expect(response.headers.get("content-type")).toBe("text/event-stream");
	expect(response.headers.get("cache-control")).toBe("no-store");
	await next("hello");
	expect(await next("state")).toMatchObject({ bots: [{ name: "alpha" }, {}] });
	const { calls } = await next<{ calls: Call[] }>("calls");
	expect(calls.map(({ tool }) => tool)).toEqual(["echo"]);
	await world.call("act", { instance: "alpha" });
	expect(await next("calls")).toMatchObject({ calls: [{ tool: "act", seq: 1 }] });
	expect(await next("state")).toMatchObject({ bots: [{ latency: { calls: 2 } }, {}] });
});

worldTest("a person sees no calls and bots of others", async (world) => {
	await world.call("echo", { instance: "alpha" });
	const client = await signedInPerson(world.url, hanna, world.clock.now);
	expect((await client.get("calls")).body).toMatchObject({ calls: [] });
	// The bot does not say that it knows this person.
	expect((await client.get("state")).body).toMatchObject({ bots: [] });
	const { next } = await openEvents(client);
	expect(await next("state")).toMatchObject({ bots: [] });
	expect(await next("calls")).toMatchObject({ calls: [] });
});

worldTest("signing out ends the streams of this session alone", async (world) => {
	const client = await signedIn(world.url);
	const other = await signedIn(world.url);
	const mine = await openEvents(client);
	const theirs = await openEvents(other);
	await client.post("sign-out");
	expect(await mine.next("end")).toEqual({ reason: "signed_out" });
	expect(await mine.ended()).toBe(true);
	await world.call("act", { instance: "alpha" });
	await theirs.next("calls");
	expect(await theirs.next("calls")).toMatchObject({ calls: [{ tool: "act" }] });
	world.clock.now += 12 * 3_600_000;
	expect(await theirs.next("end")).toEqual({ reason: "expired" });
	expect(await theirs.ended()).toBe(true);
});

worldTest("a session can have 6 streams", async (world) => {
	const client = await signedIn(world.url);
	const open = [];
	for (let count = 0; count < 6; count++) open.push(await openEvents(client));
	const { status, headers } = await client.get("events");
	expect([status, headers.get("retry-after")]).toEqual([429, "5"]);
	await open[0]?.response.body?.cancel().catch(() => {});
	expect((await openEvents(await signedIn(world.url))).response.status).toBe(200);
});
