// Pruning: who counts as away, and what is told and logged.

import { expect, test } from "bun:test";
import { AuditLogEvent } from "discord.js";
import { as, connect, type Simulator, startSimulator } from "../../support.ts";

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

function cooks(simulator: Simulator) {
	const guild = simulator.guild("The Cooks");
	const away = (name: string, days: number) => {
		const { id } = simulator.user(name);
		const member = guild.members.get(id);
		if (!member) throw new Error(`${name} is a member`);
		simulator.world.members.setLastSeen(member, daysAgo(days));
		return id;
	};
	return { guild, away, path: `/guilds/${guild.id}/prune` };
}

test("discord.js counts and removes those who are away and have no role, and the log has how many", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator);
	const { guild, away } = cooks(simulator);
	const liwei = away("liwei", 8);
	away("zoe", 8);
	away("ada", 100);
	const members = bot.client.guilds.cache.get(guild.id)?.members;
	expect(await members?.prune({ days: 9, dry: true })).toBe(0);
	expect(await members?.prune({ days: 7, dry: true })).toBe(1);
	expect(guild.members.has(liwei)).toBe(true);
	expect(await members?.prune({ days: 7, reason: "spring" })).toBe(1);
	await bot.event("GUILD_MEMBER_REMOVE", ({ user }) =>
		Bun.deepMatch({ id: liwei }, user),
	);
	expect([...guild.members.keys()]).not.toContain(liwei);
	expect(guild.members.size).toBe(5);
	expect(guild.auditLog).toMatchObject([
		{
			action_type: AuditLogEvent.MemberPrune,
			target_id: null,
			options: { delete_member_days: "7", members_removed: "1" },
			reason: "spring",
		},
	]);
});

test("roles widen a prune to those who have no others, and who ranks above stays", async () => {
	await using simulator = await startSimulator();
	const { guild, away, path } = cooks(simulator);
	const alpha = as(simulator, simulator.bot("alpha"));
	const role = (name: string) => {
		for (const one of guild.roles.values())
			if (one.name === name) return one.id;
		throw new Error(`no role ${name}`);
	};
	const [newcomer, regular] = [role("Newcomer"), role("Regular")];
	const zoe = guild.members.get(away("zoe", 30.5));
	const count = async (...roles: string[]) => {
		const query = `days=30&include_roles=${roles.join(",")}`;
		return (await alpha("GET", `${path}?${query}`)).json().pruned;
	};
	expect(await count()).toBe(0);
	expect(await count(newcomer, regular)).toBe(1);
	if (zoe)
		simulator.world.members.edit(guild, zoe, { roles: [newcomer, regular] });
	expect(await count(newcomer)).toBe(0);
	const above = simulator.world.roles.add(guild, {
		name: "Above",
		position: 99,
	});
	if (zoe) simulator.world.members.edit(guild, zoe, { roles: [above.id] });
	expect(await count(above.id)).toBe(0);
	if (zoe) simulator.world.members.edit(guild, zoe, { roles: [newcomer] });
	const answer = await alpha("POST", path, {
		days: 30,
		include_roles: [newcomer],
		compute_prune_count: false,
	});
	expect(answer.json()).toEqual({ pruned: null });
	expect(guild.members.has(String(zoe?.user.id))).toBe(false);
});

test("a prune takes 1 to 30 days and roles of the guild, from who may kick and manage the guild", async () => {
	await using simulator = await startSimulator();
	const { path } = cooks(simulator);
	const alpha = as(simulator, simulator.bot("alpha"));
	for (const days of [0, 31])
		expect((await alpha("GET", `${path}?days=${days}`)).faults).toHaveProperty(
			"days",
		);
	expect((await alpha("GET", `${path}?include_roles=x`)).faults).toHaveProperty(
		["include_roles.0"],
	);
	const include_roles = ["123456789012345678"];
	expect((await alpha("POST", path, { include_roles })).code).toBe(10011);
	const jose = as(simulator, simulator.user("jose.garcia"));
	expect((await jose("GET", path)).code).toBe(50013);
	expect((await jose("POST", path, {})).code).toBe(50013);
});
