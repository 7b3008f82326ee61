// Bulk bans: who is banned, who is not, events and the audit log.

import { expect } from "bun:test";
import { AuditLogEvent } from "discord.js";
import { connect, testWith } from "../../support.ts";

const test = testWith();

test("discord.js bans many at once; users who are banned, above the bot or unknown fail", async ({ simulator }) => {
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
		?.bans.bulkCreate([zoe, outsider.id, banned.id, owner, nobody, bot.client.user.id], {
			deleteMessageSeconds: 60,
			reason: "a raid",
		});
	expect(answer).toEqual({ bannedUsers: [zoe, outsider.id], failedUsers: [banned.id, owner, nobody] });
	expect([...guild.bans.keys()]).toEqual([banned.id, zoe, outsider.id]);
	expect(guild.bans.get(zoe)?.reason).toBe("a raid");
	expect(guild.members.has(zoe)).toBe(false);
	expect(simulator.channel("The Cooks/general").transcript()).toBe("");
	await bot.event("GUILD_BAN_ADD", ({ user }) => Bun.deepMatch({ id: outsider.id }, user));
	expect(guild.auditLog).toMatchObject([
		{ action_type: AuditLogEvent.MemberBanAdd, target_id: zoe },
		{ action_type: AuditLogEvent.MemberBanAdd, target_id: outsider.id },
	]);
});

test("a bulk ban that bans nobody, has over 200 users or lacks a permission is refused", async (given) => {
	const { simulator, alpha, as } = given;
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const path = `/guilds/${guild.id}/bulk-ban`;
	const ban = (user_ids: unknown) => alpha("POST", path, { user_ids });
	expect((await ban([guild.owner_id])).code).toBe(500000);
	expect((await ban([])).code).toBe(50035);
	const many = Array.from({ length: 201 }, (_, index) => String(10n ** 17n + BigInt(index)));
	expect((await ban(many)).code).toBe(50035);
	expect(simulator.journal.entries()).toEqual([]);
	const jose = as("jose.garcia");
	const user_ids = [world.users.add({ username: "outsider" }).id];
	expect((await jose("POST", path, { user_ids })).code).toBe(50013);
});
