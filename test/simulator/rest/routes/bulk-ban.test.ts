// Banning many at once: who is banned, who is not, and what is told and logged.

import { expect, test } from "bun:test";
import { AuditLogEvent } from "discord.js";
import { as, connect, startSimulator } from "../../support.ts";

test("discord.js bans many at once; who is banned already, ranks above or does not exist has failed", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator);
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const zoe = simulator.user("zoe").id;
	const outsider = world.users.add({ username: "outsider" });
	const banned = world.users.add({ username: "banned" });
	world.bans.add(guild, banned);
	const owner = guild.owner_id;
	const nobody = "123456789012345678";
	await simulator.user("zoe").say("The Cooks/general", "spam");
	const answer = await bot.client.guilds.cache
		.get(guild.id)
		?.bans.bulkCreate(
			[zoe, outsider.id, banned.id, owner, nobody, bot.client.user.id],
			{ deleteMessageSeconds: 60, reason: "a raid" },
		);
	expect(answer).toEqual({
		bannedUsers: [zoe, outsider.id],
		failedUsers: [banned.id, owner, nobody],
	});
	expect([...guild.bans.keys()]).toEqual([banned.id, zoe, outsider.id]);
	expect(guild.bans.get(zoe)?.reason).toBe("a raid");
	expect(guild.members.has(zoe)).toBe(false);
	expect(simulator.channel("The Cooks/general").transcript()).toBe("");
	await bot.event("GUILD_BAN_ADD", ({ user }) =>
		Bun.deepMatch({ id: outsider.id }, user),
	);
	expect(guild.auditLog).toMatchObject([
		{ action_type: AuditLogEvent.MemberBanAdd, target_id: zoe },
		{ action_type: AuditLogEvent.MemberBanAdd, target_id: outsider.id },
	]);
});

test("when nobody is banned, that is a refusal; over 200 are not taken, nor without both permissions", async () => {
	await using simulator = await startSimulator();
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const alpha = as(simulator, simulator.bot("alpha"));
	const path = `/guilds/${guild.id}/bulk-ban`;
	const ban = (user_ids: unknown) => alpha("POST", path, { user_ids });
	expect((await ban([guild.owner_id])).code).toBe(500000);
	expect((await ban([])).code).toBe(50035);
	const many = Array.from({ length: 201 }, (_, index) =>
		String(10n ** 17n + BigInt(index)),
	);
	expect((await ban(many)).code).toBe(50035);
	expect(simulator.journal.entries()).toEqual([]);
	const jose = as(simulator, simulator.user("jose.garcia"));
	const user_ids = [world.users.add({ username: "outsider" }).id];
	expect((await jose("POST", path, { user_ids })).code).toBe(50013);
});
