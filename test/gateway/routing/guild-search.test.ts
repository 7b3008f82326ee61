import { expect, test } from "bun:test";
import { GuildSearch } from "../../../src/gateway/routing/guild-search.ts";
import { createTestBackend } from "../../support/gateway.ts";
import { stall, startStubBackend } from "../../support/stub-backend.ts";

const never = new AbortController().signal;
const notFound = () => false;

test("it ends as soon as one bot turns out to serve the guild, though another stalls", async () => {
	await using quick = startStubBackend({ guilds: { "300": "C" } });
	await using stalled = startStubBackend({ on: { initialize: stall } });
	const { backend } = createTestBackend({ name: "quick", url: quick.url });
	const other = createTestBackend({ name: "stalled", url: stalled.url });
	const search = new GuildSearch([other.backend, backend]);
	await search.search(never, () => backend.guilds.has("300"));
	expect(backend.guilds.has("300")).toBe(true);
	// It is still being waited for elsewhere: its handshake has 5 s.
	const [handshake] = stalled.received("initialize");
	expect(handshake?.signal.aborted).toBe(false);
	await backend.close();
});

test("concurrent searches ask each bot once, and not again within 10 s", async () => {
	await using stub = startStubBackend({ guilds: { "300": "C" } });
	const { backend } = createTestBackend({ url: stub.url });
	const search = new GuildSearch([backend]);
	await Promise.all(["300", "400", "500", "400"].map((id) => search.search(never, () => backend.guilds.has(id))));
	expect(stub.received("list_guilds")).toHaveLength(1);
	await search.search(never, notFound);
	expect(stub.received("list_guilds")).toHaveLength(1);
	await backend.close();
});

test("an aborted search waits no longer", async () => {
	await using stub = startStubBackend({ on: { initialize: stall } });
	const { backend } = createTestBackend({ url: stub.url });
	const search = new GuildSearch([backend]);
	const controller = new AbortController();
	const searching = search.search(controller.signal, notFound);
	await stub.arrived("initialize");
	controller.abort();
	await searching;
	const [handshake] = stub.received("initialize");
	expect(handshake?.signal.aborted).toBe(false);
	// One that has given up before it began does not wait either.
	await search.search(AbortSignal.abort(), notFound);
});

test("a thousand may wait, and the next one does not", async () => {
	await using stub = startStubBackend({ on: { initialize: stall } });
	const { backend } = createTestBackend({ url: stub.url });
	const search = new GuildSearch([backend]);
	const controller = new AbortController();
	const waiting = Array.from({ length: 1_000 }, () => search.search(controller.signal, notFound));
	await stub.arrived("initialize");
	await search.search(never, notFound);
	const [handshake] = stub.received("initialize");
	expect(handshake?.signal.aborted).toBe(false);
	controller.abort();
	await Promise.all(waiting);
});
