// Pruning: which members are inactive, events and the audit log.

import { expect } from "bun:test";
import { AuditLogEvent } from "discord.js";
import { connect, testWith } from "../../support.ts";

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

const test = testWith(({ world, guild, member }) => ({
	path: `/guilds/${guild.id}/prune`,
	/** Makes a member inactive for some days. Returns their id. */
	away: (name: string, days: number) => {
		world.members.setLastSeen(member(name), daysAgo(days));
		return member(name).user.id;
	},
}));

test("discord.js counts and prunes inactive members without roles, and the audit log has the count", async (given) => {
	const { guild, away, simulator } = given;
	await using bot = await connect(simulator);
	const liwei = away("liwei", 8);
	away("zoe", 8);
	away("ada", 100);
	const members = bot.client.guilds.cache.get(guild.id)?.members;
	expect(await members?.prune({ days: 9, dry: true })).toBe(0);
	expect(await members?.prune({ days: 7, dry: true })).toBe(1);
	expect(guild.members.has(liwei)).toBe(true);
	expect(await members?.prune({ days: 7, reason: "spring" })).toBe(1);
	await bot.event("GUILD_MEMBER_REMOVE", ({ user }) => Bun.deepMatch({ id: liwei }, user));
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

test("include_roles adds members with only these roles, and members above the bot stay", async (given) => {
	const { guild, away, path, simulator, alpha, member, role } = given;
	const [newcomer, regular] = [role("Newcomer").id, role("Regular").id];
	const zoe = member("zoe");
	away("zoe", 30.5);
	const count = async (...roles: string[]) => {
		const query = `days=30&include_roles=${roles.join(",")}`;
		return (await alpha("GET", `${path}?${query}`)).json().pruned;
	};
	expect(await count()).toBe(0);
	expect(await count(newcomer, regular)).toBe(1);
	simulator.world.members.edit(guild, zoe, { roles: [newcomer, regular] });
	expect(await count(newcomer)).toBe(0);
	const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
	simulator.world.members.edit(guild, zoe, { roles: [above.id] });
	expect(await count(above.id)).toBe(0);
	simulator.world.members.edit(guild, zoe, { roles: [newcomer] });
	const answer = await alpha("POST", path, { days: 30, include_roles: [newcomer], compute_prune_count: false });
	expect(answer.json()).toEqual({ pruned: null });
	expect(guild.members.has(zoe.user.id)).toBe(false);
});

test("with PRUNE_REQUIRES_ADMIN a prune needs ADMINISTRATOR", async ({ path, alpha, as, world, guild }) => {
	world.guilds.edit(guild, { features: ["PRUNE_REQUIRES_ADMIN"] });
	expect((await alpha("GET", path)).code).toBe(50013);
	expect((await alpha("POST", path, {})).code).toBe(50013);
	const owner = as("ada");
	expect((await owner("GET", path)).status).toBe(200);
	expect((await owner("POST", path, {})).status).toBe(200);
});
