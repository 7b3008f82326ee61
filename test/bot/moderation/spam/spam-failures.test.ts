import { expect, test } from "bun:test";
import { StoreUnavailable } from "../../../../src/bot/store/unavailable.ts";
import { until } from "../../../support/until.ts";
import { withSql } from "../../features/running-feature.ts";
import { advert, quickTiming, type SpamWorld, spamTest, startSpam } from "./spam-world.ts";

const timeouts = "PATCH /guilds/:guild_id/members/:user_id";
const deletions = "POST /channels/:channel_id/messages/bulk-delete";
const entries = "POST /channels/:channel_id/messages";

/** The faults of single requests, after which the end must be as without them. */
const faults: Record<string, (world: SpamWorld) => unknown> = {
	"the timeout is rate limited": ({ simulator: { faults } }) =>
		faults.rateLimit(timeouts, { retryAfterMs: 20, times: 2 }),
	"the timeout's response is lost": ({ simulator: { faults } }) => faults.drop(timeouts, { when: "after", times: 1 }),
	"the timeout is not executed": ({ simulator: { faults } }) => faults.drop(timeouts, { when: "before", times: 2 }),
	"Discord fails at the timeout": ({ simulator: { faults } }) => faults.answer(timeouts, { status: 500, times: 2 }),
	"a deletion is rate limited": ({ simulator: { faults } }) =>
		faults.rateLimit(deletions, { retryAfterMs: 20, times: 2 }),
	"a deletion's response is lost": ({ simulator: { faults } }) => faults.drop(deletions, { when: "after", times: 1 }),
	"Discord fails at a deletion": ({ simulator: { faults } }) => faults.answer(deletions, { status: 500, times: 2 }),
	"the log entry is rate limited": ({ simulator: { faults } }) =>
		faults.rateLimit(entries, { retryAfterMs: 20, times: 2 }),
};

for (const [what, inject] of Object.entries(faults))
	spamTest(`after a fault, all is done once: ${what}`, async (world) => {
		const { user } = world.join("mallory");
		inject(world);
		for (const channel of [0, 1, 2, 2, 2]) world.post(user, channel, advert);
		await until("the log entry", () => world.entries().length > 0);
		expect(world.isTimedOut(user)).toBe(true);
		expect(world.messagesOf(user)).toEqual([]);
		expect(world.entries()).toHaveLength(1);
		expect(await world.store.sql`SELECT number FROM cases`).toHaveLength(1);
	});

/** The timeouts and deletions that Discord got, in their order. */
function writesOf({ simulator }: SpamWorld): string[] {
	return simulator.requests
		.list()
		.flatMap(({ method, path }) =>
			method === "PATCH" && path.includes("/members/") ? timeouts : path.endsWith("/bulk-delete") ? deletions : [],
		);
}

spamTest("the person is timed out first, even after a rate limit", async (world) => {
	const { user } = world.join("mallory");
	world.simulator.faults.rateLimit(timeouts, { retryAfterMs: 20, times: 2 });
	for (const channel of [0, 0, 1, 1]) world.post(user, channel, advert);
	for (const channel of [2, 2]) world.post(user, channel, advert);
	await until("the log entry", () => world.entries().length > 0);
	const writes = writesOf(world);
	expect(writes.lastIndexOf(timeouts)).toBeLessThan(writes.indexOf(deletions));
	expect(writes.filter((request) => request === timeouts)).toHaveLength(3);
});

test("deletions do not wait long for a timeout that Discord does not answer", async () => {
	await using world = await startSpam({}, { options: { timing: { ...quickTiming, timeoutMs: 20 } } });
	const { user } = world.join("mallory");
	world.simulator.faults.stall(timeouts, { times: 1 });
	for (const channel of [0, 0, 1, 1, 2, 2]) world.post(user, channel, advert);
	await until("the copies are gone", () => world.messagesOf(user).length === 0);
	expect(world.isTimedOut(user)).toBe(false);
	world.simulator.faults.clear();
	await until("the log entry", () => world.entries().length > 0);
	expect(world.isTimedOut(user)).toBe(true);
});

test("without the database the bot acts all the same, and says so", async () => {
	let isDown = false;
	await using world = await startSpam(
		{},
		{
			store: (store) =>
				withSql(store, (async (...args: Parameters<typeof store.sql>) => {
					if (isDown) throw new StoreUnavailable("down");
					return store.sql(...args);
				}) as typeof store.sql),
		},
	);
	const { user } = world.join("mallory");
	isDown = true;
	for (const channel of [0, 1, 2, 3]) world.post(user, channel, advert);
	await until("the log entry", () => world.entries().length > 0);
	expect(world.isTimedOut(user)).toBe(true);
	expect(world.messagesOf(user)).toEqual([]);
	expect(world.logged.messages()).toContain("acting on spam without the database");
});

test("a database that does not respond holds nothing up", async () => {
	let isSlow = false;
	const released = Promise.withResolvers<void>();
	await using world = await startSpam(
		{},
		{
			options: { timing: { ...quickTiming, storeMs: 20 } },
			store: (store) =>
				withSql(store, (async (...args: Parameters<typeof store.sql>) => {
					if (isSlow) await released.promise;
					return store.sql(...args);
				}) as typeof store.sql),
		},
	);
	const { user } = world.join("mallory");
	isSlow = true;
	for (const channel of [0, 1, 2, 3]) world.post(user, channel, advert);
	await until("the copies are gone", () => world.messagesOf(user).length === 0);
	expect(world.isTimedOut(user)).toBe(true);
	released.resolve();
	isSlow = false;
	await until("the log entry", () => world.entries().length > 0);
	expect(await world.store.sql`SELECT number FROM cases`).toHaveLength(1);
});

spamTest("files are compared by content: the same is spam, another of the same size is not", async (world) => {
	const { simulator, guild } = world;
	const post = async (name: string, contents: readonly string[]) => {
		const { user } = simulator.world.users.addPerson({ username: name });
		simulator.world.members.add(guild, user);
		for (const [channel, content] of contents.entries()) {
			const file = { filename: "image.png", content, content_type: "image/png" };
			await simulator
				.user(name)
				.say(`The Cooks/c${channel}`, "", { attachments: [file] })
				.catch(() => {});
		}
		return user;
	};
	const innocent = await post("annie", ["picture 1", "picture 2", "picture 3", "picture 4"]);
	const spammer = await post("mallory", ["picture 9", "picture 9", "picture 9"]);
	await until("the log entry", () => world.entries().length > 0);
	await world.heard();
	expect(world.isTimedOut(spammer)).toBe(true);
	expect(world.messagesOf(spammer)).toEqual([]);
	expect(world.isTimedOut(innocent)).toBe(false);
	expect(world.messagesOf(innocent)).toHaveLength(4);
});
