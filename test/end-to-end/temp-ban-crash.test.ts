// A ban with an end, and the bot as a process that is killed in the middle of making it and of lifting it. Whatever Discord
// had done by then: in the end the person was banned once, and the ban was lifted once.

import { expect, test } from "bun:test";
import { startBotProcess } from "../support/bot-process.ts";
import { startSimulator } from "../support/simulator.ts";
import { botEnvOf, onBoth } from "../support/stores.ts";
import { until } from "../support/until.ts";

const banRoute = "/guilds/:guild_id/bans/:user_id";
const general = "The Cooks/general";
const limitMs = 120_000;

onBoth((databases) => {
	test.each([
		["before Discord has banned", "PUT", false],
		["after Discord has banned", "PUT", true],
		["before Discord has lifted the ban", "DELETE", false],
		["after Discord has lifted the ban", "DELETE", true],
	] as const)(
		"a bot that is killed %s bans once and lifts once",
		async (_, method, after) => {
			const place = await databases.place();
			await using simulator = await startSimulator();
			await using bot = await startBotProcess(
				{
					DISCORD_TOKEN: simulator.bot("alpha").token,
					DISCORD_API_URL: simulator.api,
					...botEnvOf(place),
				},
				'bot_name = "Alpha"\n[features]\nmoderation = true\nchat = false\n[moderation]\n',
			);
			const guild = simulator.guild("The Cooks");
			const zoe = simulator.user("zoe").id;
			const rows = () => place.look<{ state: string }>("SELECT state FROM temp_bans");
			const killAt = async (begin: () => Promise<unknown>) => {
				const held = simulator.faults.stall(`${method} ${banRoute}`, {
					...{ after, times: 1 },
				});
				await begin();
				await until("it is asked for", () => held.hits > 0);
				await bot.restart("SIGKILL");
				held.release();
			};
			const order = () => simulator.user("ada").say(general, `!m ban ${zoe} 1d why`);
			/** Two days go by, of which the bot notices nothing before it is back. */
			const end = async () => {
				const past = Date.now() - 60_000;
				await place.look(`UPDATE temp_bans SET ends_at = ${past}`);
				await bot.restart("SIGKILL");
			};
			if (method === "PUT") await killAt(order);
			else await order();
			await until(
				"they are known to be banned",
				async () => guild.bans.has(zoe) && (await rows())[0]?.state === "banned",
			);
			if (method === "DELETE") await killAt(end);
			else await end();
			await until("nothing is left", async () => (await rows()).length === 0);
			expect(guild.bans.has(zoe)).toBe(false);
			const count = (what: string) => simulator.journal.entries(`${what} ${banRoute}`).length;
			expect([count("PUT"), count("DELETE")]).toEqual([1, 1]);
		},
		limitMs,
	);
});
