import { expect, test } from "bun:test";
import { Limiter } from "../../../src/bot/commands/cooldown.ts";
import { createCommandLimits } from "../../../src/bot/commands/limits.ts";

const person = { guildId: "1", userId: "2", tellsOnce: false, locale: "en-US" } as const;

test("mistakes do not count, but those beyond their limit do, so that a flood of them ends", async () => {
	const limits = createCommandLimits(new Limiter({ max: 5, windowMs: 10_000 }));
	let ran = 0;
	const run = (isMistake: boolean) =>
		limits({ ...person, weight: "heavy" }, async () => {
			ran += 1;
			return { answer: "answered", isMistake };
		});
	for (let index = 0; index < 30; index++) expect(await run(true)).toBe("answered");
	for (let index = 0; index < 29; index++) expect(await run(true)).toStartWith("You used 30 commands");
	// One of the 30 is left.
	expect(await run(false)).toBe("answered");
	expect(await run(false)).toStartWith("You used 30 commands");
	expect(ran).toBe(60);
	for (let index = 0; index < 20; index++) await run(true);
	expect(ran).toBe(60);
});

test("heavy and light actions, guilds and people have limits of their own", async () => {
	const limits = createCommandLimits();
	const work = async () => ({ answer: "answered", isMistake: false });
	const heavy = { ...person, weight: "heavy" } as const;
	for (let index = 0; index < 30; index++) await limits(heavy, work);
	expect(await limits(heavy, work)).not.toBe("answered");
	for (const other of [
		{ ...heavy, weight: "light" as const },
		{ ...heavy, weight: "open" as const },
		{ ...heavy, guildId: "3" },
		{ ...heavy, userId: "3" },
	])
		expect(await limits(other, work)).toBe("answered");
});
