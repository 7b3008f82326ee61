// The daily limit of logins to Discord's Gateway, across restarts.

import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBot } from "../../../src/bot/bot.ts";
import { checkBot } from "../../../src/bot/setup/check.ts";
import { SessionStarts } from "../../../src/discord/connection/session-starts.ts";
import { botConfig } from "../../support/bot-config.ts";
import { openConnection } from "../../support/connection.ts";
import { jumpClock } from "../../support/jump-clock.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";

const hourMs = 3_600_000;
const start = Date.parse("2026-01-31T23:00:00Z");

function directory() {
	const path = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	return {
		file: join(path, "data", "logins.json"),
		[Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
	};
}

/** Starts that are counted in `file`, at a time that the test sets. */
function countIn(file: string | undefined) {
	const recorded = recordLog("info");
	const clock = { now: start };
	const starts = new SessionStarts(file, recorded.log, () => clock.now);
	/** Why the next one has to wait; undefined where it need not. */
	const blocked = async (limit?: object, sessions = 1) => {
		const closing = new AbortController();
		let reason: string | undefined;
		const ask = async () => ({ session_start_limit: limit });
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
		return reason;
	};
	return { starts, clock, blocked, recorded };
}

test("900 logins in 24 hours are the limit, also after a restart, until the oldest expires", async () => {
	using place = directory();
	const first = countIn(place.file);
	first.starts.note();
	writeFileSync(place.file, JSON.stringify(Array(899).fill(start)));
	expect(await countIn(place.file).blocked()).toBeUndefined();
	const second = countIn(place.file);
	second.clock.now += hourMs;
	second.starts.note();
	const third = countIn(place.file);
	third.clock.now += 2 * hourMs;
	expect(third.starts.count).toBe(900);
	expect(await third.blocked()).toContain(
		"900 by this bot): after 1000 Discord resets the token, so the bot waits until about 2026-02-01T23:00",
	);
	expect(third.recorded.messages()).toEqual(["Discord login limit reached, waiting before the next login"]);
	third.clock.now = start + 24 * hourMs;
	expect(await third.blocked()).toBeUndefined();
	expect(readdirSync(join(place.file, ".."))).toEqual(["logins.json"]);
});

test.each([
	["more remain than are reserved", 101, false],
	["as many remain as are reserved", 100, true],
	["none remain", 0, true],
])("Discord's own count: %s", async (_, remaining, waits) => {
	const { blocked } = countIn(undefined);
	const limit = { total: 1_000, remaining, reset_after: hourMs };
	const reason = await blocked(limit);
	expect(reason !== undefined).toBe(waits);
	if (waits)
		expect(reason).toContain(
			`${remaining} of 1000 left): after 1000 Discord resets the token, so the bot waits until about 2026-02-01T00:00:00.000Z`,
		);
});

test.each([
	[4, 104, false],
	[4, 103, true],
	// More than the limit can ever allow.
	[2_000, 1_000, false],
	[2_000, 999, true],
])("before %d shards log in, of the logins are left: %d", async (shards, remaining, waits) => {
	const { blocked } = countIn(undefined);
	const limit = { total: 1_000, remaining, reset_after: hourMs };
	expect((await blocked(limit, shards)) !== undefined).toBe(waits);
});

test("by the bot's own count, shards log in when there is room for all of them", async () => {
	using place = directory();
	const first = countIn(place.file);
	first.starts.note();
	const times = Array.from({ length: 897 }, (_, at) => start + at);
	writeFileSync(place.file, JSON.stringify(times));
	const later = countIn(place.file);
	later.clock.now += hourMs;
	expect(await later.blocked(undefined, 3)).toBeUndefined();
	expect(await later.blocked(undefined, 4)).toContain(
		"(897 by this bot): after 1000 Discord resets the token, so the bot waits until about 2026-02-01T23:00:00.000Z",
	);
});

test.each([
	[16, 16],
	[0, 1],
	["many", 1],
	[undefined, 1],
])("of max_concurrency %p, %d is used", async (max_concurrency, expected) => {
	const { starts, blocked } = countIn(undefined);
	await blocked({ total: 1_000, remaining: 1_000, max_concurrency });
	expect(starts.maxConcurrency).toBe(expected);
});

test.each([
	["a response without a limit", undefined],
	["a limit of other types", { total: "many", remaining: null }],
	["a limit of one", { total: 1, remaining: 1, reset_after: 0 }],
])("%s does not stop a login", async (_, limit) => {
	expect(await countIn(undefined).blocked(limit)).toBeUndefined();
});

test("logins of a clock that was ahead count for one day", async () => {
	using place = directory();
	const ahead = countIn(place.file);
	ahead.clock.now += 1_000 * hourMs;
	ahead.starts.note();
	const times = Array(900).fill(ahead.clock.now);
	writeFileSync(place.file, JSON.stringify(times));
	const later = countIn(place.file);
	expect(await later.blocked()).toBeDefined();
	later.clock.now += 24 * hourMs;
	expect(await later.blocked()).toBeUndefined();
	const restarted = countIn(place.file);
	restarted.clock.now += 24 * hourMs;
	expect(await restarted.blocked()).toBeUndefined();
});

test("a limit that resets at once delays the login by a minute", async () => {
	const limit = { total: 1_000, remaining: 0, reset_after: 0 };
	const reason = await countIn(undefined).blocked(limit);
	expect(reason).toContain("waits until about 2026-01-31T23:01");
});

test("an unreadable or unwritable file does not stop a login", async () => {
	using place = directory();
	const { starts } = countIn(place.file);
	starts.note();
	writeFileSync(place.file, '{"a":');
	const second = countIn(place.file);
	expect(await second.blocked()).toBeUndefined();
	second.starts.note();
	expect(JSON.parse(readFileSync(place.file, "utf8"))).toEqual([start]);
	expect(second.starts.count).toBe(1);
	const nowhere = countIn(join(place.file, "below-a-file", "logins.json"));
	nowhere.starts.note();
	nowhere.starts.note();
	expect(nowhere.recorded.messages()).toEqual(["cannot use the file that counts Discord logins across restarts"]);
	expect(nowhere.starts.count).toBe(2);
});

test.concurrent("at the limit the bot and --check wait and report it; below it the bot logs in", async () => {
	await using simulator = await startSimulator();
	const { sessionStarts } = simulator.world.users;
	const { id, token } = simulator.bot("alpha");
	sessionStarts.used.set(id, 900);
	const recorded = recordLog("info");
	const config = botConfig({ discordToken: token, discordApiUrl: simulator.api });
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

test.each([-1, 0, 1e300])(
	"the bot waits between a minute and a day if Discord's reset_after is %d",
	async (reset_after) => {
		const { blocked } = countIn(undefined);
		const limit = { total: 1000, remaining: 0, reset_after };
		const until = reset_after > 0 ? "2026-02-01T23:00" : "2026-01-31T23:01";
		expect(await blocked(limit)).toContain(`until about ${until}`);
	},
);

test("a jump of the clock ends the wait for the oldest login to expire", async () => {
	const { starts, clock } = countIn(undefined);
	for (let count = 0; count < 900; count++) starts.note();
	const waits: string[] = [];
	const closing = new AbortController();
	const waiting = starts.wait(
		async () => undefined,
		closing.signal,
		(reason) => waits.push(reason),
	);
	await until("it waits", () => waits.length === 1);
	clock.now += 24 * hourMs;
	jumpClock();
	await waiting;
	expect(waits).toHaveLength(1);
}, 120_000);

test("the time since the last login survives a restart, and a clock that was set back", () => {
	using place = directory();
	const first = countIn(place.file);
	expect(first.starts.sinceLastMs).toBe(Infinity);
	first.starts.note();
	const second = countIn(place.file);
	second.clock.now += 4_000;
	expect(second.starts.sinceLastMs).toBe(4_000);
	const behind = countIn(place.file);
	behind.clock.now -= hourMs;
	expect(behind.starts.sinceLastMs).toBe(0);
});

test.concurrent("a bot that is restarted logs in only when Discord allows the next login", async () => {
	using place = directory();
	await using simulator = await startSimulator();
	const { id, token } = simulator.bot("alpha");
	const clock = { now: 0, looks: 0 };
	const start = () =>
		openConnection(simulator.api, {
			token,
			sessionStartsFile: place.file,
			timing: {
				identifyMs: 100,
				identifyClock: () => {
					clock.looks += 1;
					return clock.now;
				},
			},
		});
	{
		await using first = start();
		await first.opened;
	}
	// A clock that was ahead: the login counts as one of this moment.
	writeFileSync(place.file, JSON.stringify([Date.now() + hourMs]));
	clock.looks = 0;
	await using second = start();
	// After its login it would not look again.
	await until("it waits", () => clock.looks >= 5);
	expect(simulator.world.users.sessionStarts.used.get(id)).toBe(1);
	clock.now += 100;
	await second.opened;
	expect(simulator.world.users.sessionStarts.used.get(id)).toBe(2);
}, 120_000);
