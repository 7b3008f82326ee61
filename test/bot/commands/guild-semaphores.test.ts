// Work for people in guilds: how much runs at once, and in which order the rest waits.

import { describe, expect, test } from "bun:test";
import { GuildSemaphores } from "../../../src/bot/commands/guild-semaphores.ts";

const never = new AbortController().signal;

/** `acquire` resolves with undefined where `full` says whose queue is. */
function createLimits({ maxWaitMs = 60_000 } = {}) {
	const semaphores = new GuildSemaphores({ max: 3, maxWaiting: 10, maxOwnWaiting: 2, maxWaitMs });
	const full = (...asked: Parameters<GuildSemaphores["acquire"]>) => semaphores.acquire(...asked);
	return {
		full,
		async acquire(...asked: Parameters<GuildSemaphores["acquire"]>) {
			const acquired = await full(...asked);
			return typeof acquired === "string" ? undefined : acquired;
		},
	};
}

describe("a person", () => {
	test("is served one at a time, and two more wait in order", async () => {
		const limits = createLimits();
		const order: string[] = [];
		const first = await limits.acquire("cooks", "ada", never);
		const waiting = ["second", "third"].map(async (name) => {
			const leave = await limits.acquire("cooks", "ada", never);
			order.push(name);
			leave?.();
		});
		expect(await limits.full("cooks", "ada", never)).toBe("own");
		expect(order).toEqual([]);
		first?.();
		await Promise.all(waiting);
		expect(order).toEqual(["second", "third"]);
	});
});

describe("a guild", () => {
	test("has three slots and a queue of ten", async () => {
		const limits = createLimits();
		const enter = (person: string) => limits.acquire("cooks", person, never);
		const inside = await Promise.all(["a", "b", "c"].map(enter));
		expect(inside.every(Boolean)).toBe(true);
		const waiting = Array.from({ length: 10 }, (_, n) => enter(`w${n}`));
		expect(await limits.full("cooks", "late", never)).toBe("guild");
		expect(await limits.acquire("bakers", "late", never)).toBeDefined();
		for (const leave of inside) leave?.();
		for (const turn of waiting) (await turn)?.();
		expect(await enter("late")).toBeDefined();
	});

	test("gives each released slot to whoever waits for it alone, once", async () => {
		const limits = createLimits();
		const entered: string[] = [];
		const enter = (person: string) =>
			limits.acquire("cooks", person, never).then((leave) => {
				entered.push(person);
				return leave;
			});
		const [a, b] = await Promise.all(["a", "b", "c"].map(enter));
		// The next question of b waits only for b's own slot.
		const waiting = ["b", "d", "e"].map(enter);
		entered.length = 0;
		a?.();
		a?.();
		const d = await waiting[1];
		expect(entered).toEqual(["d"]);
		b?.();
		await waiting[2];
		expect(entered).toEqual(["d", "e"]);
		d?.();
		await waiting[0];
		expect(entered).toEqual(["d", "e", "b"]);
	});
});

test.each([
	["leaves the queue", false],
	["passes its slot on, if it just gets it", true],
])("a cancelled waiter %s", async (_, hasSlot) => {
	const limits = createLimits();
	const leave = await limits.acquire("cooks", "ada", never);
	const ending = new AbortController();
	const gaveUp = limits.acquire("cooks", "ada", ending.signal);
	const next = limits.acquire("cooks", "ada", never);
	if (hasSlot) leave?.();
	ending.abort("deleted");
	expect(await gaveUp.catch((reason) => reason)).toBe("deleted");
	if (!hasSlot) leave?.();
	expect(await next).toBeDefined();
});

test("a waiter that times out gets no slot", async () => {
	const limits = createLimits({ maxWaitMs: 5 });
	const leave = await limits.acquire("cooks", "ada", never);
	expect(await limits.acquire("cooks", "ada", never)).toBeUndefined();
	leave?.();
	expect(await limits.acquire("cooks", "ada", never)).toBeDefined();
});
