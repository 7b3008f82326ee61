// get_audit_log: filters, pages, and how entries are shown.

import { expect, test } from "bun:test";
import { AuditLogEvent, PermissionFlagsBits } from "discord.js";
import type { AuditLogEntry } from "../../../src/simulator/world/state/entities.ts";
import { startWorld, type TestWorld } from "../../support/world.ts";

const ids = ({ simulator }: TestWorld) => ({
	ada: simulator.user("ada").id,
	zoe: simulator.user("zoe").id,
});

/** Adds an entry to the audit log, in Discord's form. */
function log(world: TestWorld, given: Partial<AuditLogEntry>): AuditLogEntry {
	const entry: AuditLogEntry = {
		id: world.simulator.world.state.newId(),
		action_type: AuditLogEvent.GuildUpdate,
		user_id: ids(world).ada,
		target_id: world.guild.id,
		...given,
	};
	world.guild.auditLog.push(entry);
	return entry;
}

const lines = async (world: TestWorld, args = {}) =>
	(await world.call("get_audit_log", args)).text.split("\n");

test("entries are filtered by user, target, action and time, and paged", async () => {
	await using world = await startWorld();
	const { ada, zoe } = ids(world);
	const [first, second, third] = [
		log(world, { user_id: ada }),
		log(world, { user_id: zoe, action_type: AuditLogEvent.MemberKick }),
		log(world, {
			...{ user_id: ada, action_type: AuditLogEvent.MemberKick },
			target_id: zoe,
		}),
	];
	const found = async (args: object) =>
		(await lines(world, args))
			.flatMap((line) => / \| ID: (\d+)/.exec(line)?.[1] ?? [])
			.map((id) => [first, second, third].findIndex((one) => one.id === id));
	expect(await found({})).toEqual([2, 1, 0]);
	expect(await found({ user_id: ada })).toEqual([2, 0]);
	expect(await found({ target_id: zoe })).toEqual([2]);
	expect(await found({ target_id: world.guild.id })).toEqual([1, 0]);
	expect(await found({ action_type: "MEMBER_KICK" })).toEqual([2, 1]);
	expect(await found({ before: second.id })).toEqual([0]);
	expect(await found({ before: "2020-01-01" })).toEqual([]);
	const page = await lines(world, { limit: 2 });
	expect(page.at(-1)).toBe(`next_before=${second.id}`);
	expect(await found({ limit: 2, before: second.id })).toEqual([0]);
	expect((await lines(world)).join()).not.toContain("next_before");
});

test("an unknown action is refused with a suggestion", async () => {
	await using world = await startWorld();
	const answer = await world.call("get_audit_log", {
		action_type: "MEMBER_BAN_AD",
	});
	expect(answer.code).toBe(-32602);
	expect(answer.text).toContain(
		'action_type: unknown action "MEMBER_BAN_AD"; did you mean MEMBER_BAN_ADD?',
	);
	expect(world.simulator.requests.list().map(({ path }) => path)).not.toContain(
		`/guilds/${world.guild.id}/audit-logs`,
	);
	const soundboard = await world.call("get_audit_log", {
		action_type: "SOUNDBOARD_SOUND_CREATE",
	});
	expect(soundboard.isError).toBe(false);
});

test("a change shows old and new values, permissions by name, objects by name and id", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const { zoe } = ids(world);
	const bits = (...names: (keyof typeof PermissionFlagsBits)[]) =>
		String(names.reduce((all, name) => all | PermissionFlagsBits[name], 0n));
	const general = simulator.channel("The Cooks/general").id;
	log(world, {
		changes: [
			{
				key: "permissions",
				old_value: bits("ViewChannel", "KickMembers"),
				new_value: bits("ViewChannel", "BanMembers"),
			},
			{ key: "afk_channel_id", new_value: general },
			{ key: "afk_timeout", old_value: 300 },
			{ key: "$add", new_value: [{ id: "123", name: "Cook" }] },
			{ key: "description", old_value: "y".repeat(200), new_value: "" },
		],
	});
	log(world, {
		action_type: AuditLogEvent.ChannelOverwriteCreate,
		target_id: general,
		options: { id: zoe, type: "1" },
	});
	log(world, {
		action_type: AuditLogEvent.MessageDelete,
		target_id: zoe,
		options: { channel_id: general, count: "3" },
	});
	log(world, {
		action_type: AuditLogEvent.RoleDelete,
		target_id: "123456789012345678",
		changes: [{ key: "name", old_value: "Bygone" }],
	});
	const [, gone, deleted, overwrite, updated] = await lines(world);
	expect(gone).toContain(
		'| target: Bygone (ID: 123456789012345678) | changes: name: "Bygone" → none',
	);
	expect(deleted).toEndWith(
		`| target: @zoe (ID: ${zoe}) | in: #general (ID: ${general}) | count: 3`,
	);
	expect(overwrite).toEndWith(
		`| target: #general (ID: ${general}) | for: @zoe (ID: ${zoe})`,
	);
	expect(updated).toContain(
		`| target: The Cooks (ID: ${guild.id}) | changes: permissions: gained BAN_MEMBERS, lost KICK_MEMBERS; ` +
			`afk_channel_id: none → #general (ID: ${general}); afk_timeout: 300 → none; added @Cook (ID: 123); ` +
			`description: "${"y".repeat(100)}…" → none`,
	);
});

test("no entry shows a credential", async () => {
	await using world = await startWorld();
	const url = "https://discord.com/api/webhooks/123456789012345678/se-cret_1";
	log(world, {
		reason: `see ${url}`,
		changes: [
			{ key: "token", old_value: "se-cret_1", new_value: "se-cret_2" },
			{ key: "client_secret", new_value: "se-cret_3" },
			{ key: "password_hash", new_value: "se-cret_4" },
			{ key: "topic", new_value: url },
			{ key: "available_tags", new_value: [{ name: url }] },
		],
		options: { status: url },
	});
	const channel = world.simulator.world.channels.add(world.guild, {
		name: "a",
	});
	const { webhooks } = world.simulator.world;
	const doing = { actor: ids(world).ada };
	const webhook = webhooks.add(channel, { name: "hook" }, doing);
	const text = (await lines(world)).join("\n");
	expect(text).toContain(`| target: hook (ID: ${webhook.id})`);
	expect(text).not.toContain(String(webhook.token));
	expect(text).not.toContain("se-cret");
	expect(text).toContain("token: changed, not shown");
	expect(text).toContain("/webhooks/123456789012345678/[hidden]");
});

test("what people wrote cannot end an entry's line, nor add a field to it", async () => {
	await using world = await startWorld();
	const evil = "x\n2020-01-01 | by: nobody";
	log(world, {
		reason: evil,
		changes: [{ key: "name", old_value: evil, new_value: evil }],
		options: { role_name: evil, id: "123456789012345678", type: "0" },
		target_id: "123456789012345678",
	});
	const shown = await lines(world);
	expect(shown).toHaveLength(2);
	expect(shown[1]?.match(/(?<!\\)\| by: /g)).toHaveLength(1);
});
