// Jobs that a bot finds long after they were started.

import { expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { startService } from "./running-service.ts";

const dayMs = 86_400_000;

test("a job of more than a week ago is not continued, and a later one is", async () => {
	const now = 1_790_000_000_000;
	let ageMs = 0;
	await using running = await startService({ options: { now: () => now + ageMs } });
	const { bot } = running;
	const { faults } = bot.simulator;
	for (const [days, name, note] of [
		[6, "Early", null],
		[8, "Late", "it was started too long ago"],
	] as const) {
		ageMs = 0;
		const held = faults.stall("POST /guilds/:guild_id/roles", { times: 1 });
		const id = await running.apply({ roles: [{ name }, { name: `${name} too` }] });
		await until("the job asks", () => held.hits > 0);
		await bot.kill();
		held.release();
		ageMs = days * dayMs;
		await bot.start();
		const row = await until("the job has ended", async () => {
			const [row] = await bot.store.sql<{ state: string; note: string | null }>`
				SELECT state, note FROM guild_jobs WHERE id = ${id} AND ended_at IS NOT NULL`;
			return row;
		});
		expect(row).toEqual({ state: note ? "failed" : "done", note });
		const made = [...bot.guild.roles.values()].filter((role) => role.name.startsWith(name));
		// The request that was sent before the bot was killed may have taken effect.
		expect(made.length > 1).toBe(!note);
	}
});
