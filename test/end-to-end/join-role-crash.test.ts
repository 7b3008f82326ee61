// The bot as a process that is killed in the middle of a raid: everyone has the join role in the end.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { startBotProcess } from "../support/bot-process.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const giving = "PUT /guilds/:guild_id/members/:user_id/roles/:role_id";

test("whoever joins around a kill gets the role, and hardly anybody is given it twice", async () => {
	const data = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	using _ = { [Symbol.dispose]: () => rmSync(data, { recursive: true, force: true }) };
	await using simulator = await startSimulator();
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const [role] = [...guild.roles.values()].filter(({ name }) => name === "Newcomer");
	if (!role) throw new Error("there is no such role");
	await using bot = await startBotProcess(
		{ DISCORD_TOKEN: simulator.bot("alpha").token, DISCORD_API_URL: simulator.api, GUILD_ID: guild.id, DATA_DIR: data },
		`bot_name = "Alpha"\n[features]\njoin_role = true\n[join_role]\nrole = "${role.id}"\n`,
	);
	const raid = (name: string, count: number) =>
		Array.from({ length: count }, (_, at) => world.members.add(guild, world.users.add({ username: `${name}${at}` })));
	// From then on it knows who joins while it is away.
	await until("it has noted who was there before", async () => {
		await using sql = new SQL({ adapter: "sqlite", filename: join(data, "store.sqlite") });
		await sql.unsafe("PRAGMA busy_timeout = 5000");
		return (await sql`SELECT guild_id FROM join_role_marks`).length === 1;
	});
	const people = raid("raider", 60);
	await until("some have it", () => simulator.journal.entries(giving).length > 10);
	const restarted = bot.restart("SIGKILL");
	people.push(...raid("late", 15));
	await restarted;
	await until("everyone has it", () => people.every(({ roles }) => roles.includes(role.id)));
	const given = simulator.journal
		.entries(giving)
		.map(({ path }) => path)
		.filter((path) => people.some(({ user }) => path.includes(user.id)));
	// Only the write under way at the kill may be sent again.
	expect(given.length).toBeLessThanOrEqual(people.length + 1);
});
