// Many positions in one request: 200 channels and 100 roles.

import { expect } from "bun:test";
import { AuditLogEvent, PermissionFlagsBits as Permission } from "discord.js";
import { compareRoles } from "../../../../src/simulator/world/state/permissions.ts";
import { connect, testWith } from "../../support.ts";

const test = testWith(({ guild, world }) => ({
	path: `/guilds/${guild.id}`,
	addChannels: (count: number, parent_id: string | null = null) =>
		Array.from({ length: count }, (_, index) => world.channels.add(guild, { name: `channel-${index}`, parent_id })),
	addRoles: (count: number) =>
		Array.from({ length: count }, (_, index) => world.roles.add(guild, { name: `role-${index}` })),
}));

/** Numbers from 0 in an order in which none is where it was. */
const shuffled = (count: number) => Array.from({ length: count }, (_, index) => (index * 7 + 3) % count);

test("200 channels are ordered in one request, with an event for each that moves", async (given) => {
	const { path, alpha, addChannels, simulator, guild } = given;
	const channels = addChannels(200);
	const order = shuffled(200);
	await using bot = await connect(simulator);
	const first = channels[0]?.position ?? 0;
	const body = channels.map(({ id }, index) => ({ id, position: first + (order[index] ?? 0) }));
	expect((await alpha("PATCH", `${path}/channels`, body)).status).toBe(204);
	expect(channels.map(({ position }) => position - first)).toEqual(order);
	const last = channels.at(-1);
	await bot.event("CHANNEL_UPDATE", ({ id }) => id === last?.id);
	const updates = () => bot.events.filter(({ t }) => t === "CHANNEL_UPDATE").length;
	expect(updates()).toBe(200);
	expect((await alpha("PATCH", `${path}/channels`, body)).status).toBe(204);
	const [one] = channels;
	await alpha("PATCH", `/channels/${one?.id}`, { topic: "last" });
	await bot.event("CHANNEL_UPDATE", ({ topic }) => topic === "last");
	expect(updates()).toBe(201);
	const types = guild.auditLog.map(({ action_type }) => action_type);
	expect(types).toEqual([AuditLogEvent.ChannelUpdate]);
});

test("a request for many channels is refused whole", async ({ path, alpha, addChannels, guild, world }) => {
	const box = world.channels.add(guild, { name: "Box", type: 4 });
	const full = world.channels.add(guild, { name: "Full", type: 4 });
	addChannels(50, full.id);
	const channels = addChannels(100);
	const before = channels.map(({ position }) => position);
	const move = async (more: (index: number) => object) => {
		const body = channels.map(({ id }, index) => ({ id, position: 99 - index, ...more(index) }));
		const { code, faults } = await alpha("PATCH", `${path}/channels`, body);
		return code === 50035 ? faults : code;
	};
	const onlyLast = (more: object) => (index: number) => (index === 99 ? more : {});
	expect(await move(onlyLast({ id: guild.id }))).toBe(10003);
	expect(await move(onlyLast({ position: -1 }))).toEqual({ "99.position": "NUMBER_TYPE_MIN" });
	expect(await move(onlyLast({ parent_id: full.id }))).toEqual({ parent_id: "CHANNEL_PARENT_MAX_CHANNELS" });
	expect(await move((index) => (index < 2 ? { parent_id: box.id } : {}))).toBe(40009);
	expect(channels.map(({ position }) => position)).toEqual(before);
	const own = { id: guild.id, type: 0, allow: "0", deny: "64" } as const;
	world.channels.setOverwrite(box, own);
	const locked = { parent_id: box.id, lock_permissions: true };
	// Parents that stay may be listed.
	const stays = (index: number) => (index === 99 ? locked : { parent_id: null });
	expect(await move(stays)).toBeUndefined();
	expect(channels.map(({ position }) => position)).toEqual(channels.map((_, index) => 99 - index));
	expect(channels[99]).toMatchObject({ parent_id: box.id, permission_overwrites: [own] });
});

test("100 roles are ordered in one request, with an event and an audit log entry for each that moves", async (given) => {
	const { path, alpha, addRoles, simulator, guild, role } = given;
	const roles = addRoles(100);
	await using bot = await connect(simulator);
	const order = shuffled(100);
	const body = roles.map(({ id }, index) => ({ id, position: 1 + (order[index] ?? 0) }));
	const moved = roles.filter(({ position }, index) => position !== body[index]?.position);
	const reason = { "x-audit-log-reason": "tidying" };
	const answer = await alpha("PATCH", `${path}/roles`, body, reason);
	expect(answer.status).toBe(200);
	expect(answer.json<unknown[]>()).toHaveLength(guild.roles.size);
	expect(roles.map(({ position }) => position - 1)).toEqual(order);
	const sorted = [...guild.roles.values()].sort(compareRoles).reverse();
	expect(sorted.map(({ position }) => position)).toEqual(sorted.map((_, index) => index));
	expect(sorted.at(-1)).toBe(role("alpha"));
	expect(guild.auditLog).toHaveLength(moved.length);
	expect(guild.auditLog.at(-1)).toMatchObject({
		action_type: AuditLogEvent.RoleUpdate,
		reason: "tidying",
		changes: [{ key: "position" }],
	});
	// The audit log is dispatched after the roles.
	const last = guild.auditLog.at(-1)?.id;
	await bot.event("GUILD_AUDIT_LOG_ENTRY_CREATE", ({ id }) => id === last);
	const updated = bot.events.filter(({ t }) => t === "GUILD_ROLE_UPDATE");
	expect(updated).toHaveLength(moved.length);
});

test("roles at one position are ordered by age, and a request with a role above the bot is refused whole", async (given) => {
	const { path, alpha, addRoles, guild, role, world } = given;
	const roles = addRoles(3);
	const names = () =>
		[...guild.roles.values()]
			.sort(compareRoles)
			.map(({ name }) => name)
			.filter((name) => name.startsWith("role-"));
	const same = roles.toReversed().map(({ id }) => ({ id, position: 5 }));
	expect((await alpha("PATCH", `${path}/roles`, same)).status).toBe(200);
	expect(names()).toEqual(["role-0", "role-1", "role-2"]);
	const above = world.roles.add(guild, {
		name: "above",
		position: role("alpha").position + 1,
		permissions: String(Permission.Administrator),
	});
	const body = [...same, { id: above.id, position: 1 }].map((one, index) => ({ ...one, position: index + 1 }));
	expect((await alpha("PATCH", `${path}/roles`, body)).code).toBe(50013);
	expect(names()).toEqual(["role-0", "role-1", "role-2"]);
});
