// The daily limit of logins to Discord's Gateway.

import { expect, test } from "bun:test";
import { startBot } from "../../../src/bot/bot.ts";
import { checkBot } from "../../../src/bot/setup/check.ts";
import { SessionStarts } from "../../../src/discord/connection/session-starts.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";

const hourMs = 3_600_000;

function startCount() {
	const recorded = recordLog("info");
	const clock = { now: 0 };
	const starts = new SessionStarts(recorded.log, () => clock.now);
	/** How long and why the next one has to wait; undefined where it need not. */
	const blocked = async (limit?: object, sessions = 1) => {
		const closing = new AbortController();
		let reason: string | undefined;
		const ask = async () => ({ session_start_limit: limit });
		const from = Date.now();
		await starts
			.wait(
				ask,
				closing.signal,
				(why) => {
					reason = why;
					closing.abort();
				},
				() => sessions,
			)
			.catch((error) => {
				if (!closing.signal.aborted) throw error;
			});
		const [, until] = /until about (\S+)$/.exec(reason ?? "") ?? [];
		return reason && { reason, hours: Math.round(((Date.parse(until ?? "") - from) / hourMs) * 60) / 60 };
	};
	return { starts, clock, blocked, recorded };
}

test("while Discord's count cannot be read, 900 logins of the process in 24 hours are the limit", async () => {
	const { starts, clock, blocked, recorded } = startCount();
	for (let count = 0; count < 897; count += 1) starts.note();
	expect(await blocked(undefined, 3)).toBeUndefined();
	expect(await blocked(undefined, 4)).toMatchObject({
		reason: expect.stringContaining("(897 by this process): after 1000 Discord resets the token"),
		hours: 1,
	});
	expect(await blocked({ total: 1_000, remaining: 500 }, 4)).toBeUndefined();
	expect(recorded.messages()).toEqual(["Discord login limit reached, waiting before the next login"]);
	expect(starts.count).toBe(897);
	clock.now += 24 * hourMs;
	expect(await blocked(undefined, 4)).toBeUndefined();
});

test.each([
	["more remain than are reserved", 101, false],
	["as many remain as are reserved", 100, true],
	["none remain", 0, true],
])("Discord's own count: %s", async (_, remaining, waits) => {
	const { blocked, starts } = startCount();
	const limit = { total: 1_000, remaining, reset_after: hourMs };
	const wait = await blocked(limit);
	expect(wait !== undefined).toBe(waits);
	expect(starts.count).toBe(1_000 - remaining);
	if (waits) expect(wait).toMatchObject({ reason: expect.stringContaining(`${remaining} of 1000 left)`), hours: 1 });
});

test.each([
	[4, 104, false],
	[4, 103, true],
	// More than the limit can ever allow.
	[2_000, 1_000, false],
	[2_000, 999, true],
])("before %d shards log in, of the logins are left: %d", async (shards, remaining, waits) => {
	const { blocked } = startCount();
	const limit = { total: 1_000, remaining, reset_after: hourMs };
	expect((await blocked(limit, shards)) !== undefined).toBe(waits);
});

test.each([
	[16, 16],
	[0, 1],
	["many", 1],
	[undefined, 1],
])("of max_concurrency %p, %d is used", async (max_concurrency, expected) => {
	const { starts, blocked } = startCount();
	await blocked({ total: 1_000, remaining: 1_000, max_concurrency });
	expect(starts.maxConcurrency).toBe(expected);
});

test.each([
	["a response without a limit", undefined],
	["a limit of other types", { total: "many", remaining: null }],
	["a limit of one", { total: 1, remaining: 1, reset_after: 0 }],
])("%s does not stop a login", async (_, limit) => {
	expect(await startCount().blocked(limit)).toBeUndefined();
});

test.concurrent("at the limit the bot and --check wait and report it; below it the bot logs in", async () => {
	await using simulator = await startSimulator();
	const { sessionStarts } = simulator.world.users;
	const { id } = simulator.bot("alpha");
	sessionStarts.used.set(id, 900);
	const recorded = recordLog("info");
	const config = connectedConfig(simulator);
	const bot = startBot(config, recorded.log);
	const reason = "too many logins to Discord in 24 hours";
	const status = async () => (await (await fetch(new URL("/status", bot.url))).json()) as object;
	await until("it waits", () =>
		recorded.messages().includes("Discord login limit reached, waiting before the next login"),
	);
	expect(await status()).toMatchObject({ discord: { connected: false, reason: expect.stringContaining(reason) } });
	const written: string[] = [];
	const passed = await checkBot(config, recordLog().log, {
		write: (line) => written.push(line),
		loginTimeoutMs: 5_000,
	});
	expect(passed).toBe(false);
	expect(written.join("\n")).toContain(reason);
	expect(simulator.sockets.upgrades).toBe(0);
	await bot.close();

	sessionStarts.used.set(id, 899);
	const again = startBot(config, recorded.log);
	await until("it is ready", () => again.ready);
	expect(sessionStarts.used.get(id)).toBe(900);
	await again.close();
}, 120_000);

test.each([
	[-1, 1 / 60],
	[0, 1 / 60],
	[1e300, 24],
])("if Discord's reset_after is %d, the bot waits %d hours", async (reset_after, hours) => {
	const { blocked } = startCount();
	expect(await blocked({ total: 1000, remaining: 0, reset_after })).toMatchObject({ hours });
});
