// get_audit_log: filters, pages, and how entries are shown.

import { afterEach, expect, setSystemTime } from "bun:test";
import { AuditLogEvent, ChannelType, PermissionFlagsBits, SnowflakeUtil } from "discord.js";
import type { AuditLogEntry, GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { roleNamed, type TestWorld, worldTest } from "../../support/world.ts";

afterEach(() => {
	setSystemTime();
});

const ids = ({ simulator }: TestWorld) => ({ ada: simulator.user("ada").id, zoe: simulator.user("zoe").id });

/** Sets the clock, and returns a function that adds an entry to the audit log some seconds before that time. */
function logAt(world: TestWorld, now = "2026-03-01T12:00:00Z") {
	setSystemTime(new Date(now));
	let made = 0n;
	return (secondsAgo: number, given: Partial<AuditLogEntry>): AuditLogEntry => {
		made += 1n;
		const timestamp = Date.parse(now) - secondsAgo * 1000;
		const id = SnowflakeUtil.generate({ timestamp, increment: made });
		return log(world, { ...given, id: String(id) });
	};
}

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

type Values = Record<string, unknown>;
/** What an entry says of fields that have changed: the values before and after. */
const changed = (values: Record<string, readonly [unknown, unknown]>) =>
	Object.entries(values).map(([key, [old_value, new_value]]) => ({ key, old_value, new_value }));
/** Of fields that had no value before. */
const set = (values: Values) => Object.entries(values).map(([key, new_value]) => ({ key, new_value }));
/** Of fields that have no value any more. */
const was = (values: Values) => Object.entries(values).map(([key, old_value]) => ({ key, old_value }));

const lines = async (world: TestWorld, args = {}) => (await world.call("get_audit_log", args)).text.split("\n");

worldTest("entries are filtered by user, target, action and time, and paged", async (world) => {
	const { ada, zoe } = ids(world);
	const at = logAt(world);
	const [, second] = [
		at(3 * 3600, { user_id: ada, reason: "entry 0" }),
		at(2 * 3600, { user_id: zoe, action_type: AuditLogEvent.MemberKick, reason: "entry 1" }),
		at(3600, { user_id: ada, action_type: AuditLogEvent.MemberKick, target_id: zoe, reason: "entry 2" }),
	];
	const found = async (args: object) =>
		(await lines(world, args)).flatMap((line) => / reason: entry (\d)/.exec(line)?.[1] ?? []).map(Number);
	expect(await found({})).toEqual([2, 1, 0]);
	expect(await found({ user_ids: ada })).toEqual([2, 0]);
	expect(await found({ user_ids: [ada, zoe], target_ids: [zoe] })).toEqual([2]);
	expect(await found({ user_ids: [ada, zoe] })).toEqual([2, 1, 0]);
	expect(await found({ target_ids: [zoe] })).toEqual([2]);
	expect(await found({ target_ids: world.guild.id })).toEqual([1, 0]);
	for (const name of ["MEMBER_KICK", "member_kick", "MemberKick", ["MEMBER_KICK"]])
		expect(await found({ action_type: name })).toEqual([2, 1]);
	const both = ["MEMBER_KICK", "GUILD_UPDATE", "ROLE_CREATE"];
	expect(await found({ action_type: both })).toEqual([2, 1, 0]);
	expect(await found({ action_type: both, limit: 2 })).toEqual([2, 1]);
	expect(await found({ after: "150m" })).toEqual([2, 1]);
	expect(await found({ after: "150m", before: "90m" })).toEqual([1]);
	expect(await found({ after: "2026-03-01T10:30:00Z" })).toEqual([2]);
	expect(await found({ after: second.id })).toEqual([2]);
	expect(await found({ before: second.id })).toEqual([0]);
	expect(await found({ before: "2020-01-01" })).toEqual([]);
	const page = await lines(world, { limit: 2 });
	expect(page.at(-1)).toBe(`next_before=${second.id}`);
	expect(await found({ limit: 2, before: second.id })).toEqual([0]);
	expect((await lines(world)).join()).not.toContain("next_before");
});

worldTest("an action that no tool takes is no mistake", async (world) => {
	await world.expectResult("get_audit_log", { action_type: "SOUNDBOARD_SOUND_CREATE" });
});

worldTest("more entries than Discord returns at once are read in pages, until they are too old", async (world) => {
	const { zoe } = ids(world);
	const at = logAt(world);
	for (let age = 150; age > 0; age -= 1) at(age, { action_type: AuditLogEvent.MemberKick, target_id: zoe });
	const reads = () => world.simulator.requests.list().filter(({ path }) => path.endsWith("/audit-logs")).length;
	expect((await lines(world, { limit: 500 }))[0]).toStartWith("150 audit log entries in 1 line(s)");
	expect(reads()).toBe(2);
	expect((await lines(world, { limit: 500, after: "30s" }))[0]).toStartWith("30 audit log entries");
	expect(reads()).toBe(3);
});

worldTest("entries of one actor, action and kind of target share a line within ten minutes", async (world) => {
	const { ada, zoe } = ids(world);
	const at = logAt(world);
	const deleted = (ago: number, name: string, user_id = ada) =>
		at(ago, {
			user_id,
			action_type: AuditLogEvent.ChannelDelete,
			target_id: `1234567890123456${name.length}${ago % 10}`,
			changes: was({ name, type: 0 }),
		});
	deleted(3600, "old");
	deleted(125, "a");
	at(100, { action_type: AuditLogEvent.MemberKick, target_id: zoe });
	deleted(64, "bb");
	deleted(61, "ccc", zoe);
	deleted(3, "dddd");
	expect(await lines(world)).toEqual([
		`6 audit log entries in 4 line(s), newest first, times in UTC, now is 2026-03-01T12:00:00Z. By: @ada (ID: ${ada}) 5, @zoe (ID: ${zoe}) 1`,
		"2026-03-01 11:57–11:59 | @ada | deleted 3 channels: a (ID: 123456789012345615), bb (ID: 123456789012345624), dddd (ID: 123456789012345643)",
		"2026-03-01 11:58 | @zoe | deleted channel ccc (ID: 123456789012345631)",
		`2026-03-01 11:58 | @ada | kicked user @zoe (ID: ${zoe})`,
		"2026-03-01 11:00 | @ada | deleted channel old (ID: 123456789012345630)",
	]);
});

worldTest("a hundred entries of a raid take few bytes", async (world) => {
	const { ada, zoe } = ids(world);
	const at = logAt(world);
	const { MemberBanAdd, ChannelOverwriteUpdate, MemberRoleUpdate } = AuditLogEvent;
	const users = Array.from({ length: 40 }, (_, index) =>
		world.simulator.world.users.add({ username: `member_${index}` }),
	);
	const { id } = roleNamed(world, "Regular");
	for (const [index, user] of users.entries()) {
		const target_id = user.id;
		at(900 - index, { action_type: MemberBanAdd, target_id });
		if (index < 30)
			at(700 - index, {
				action_type: MemberRoleUpdate,
				target_id,
				user_id: zoe,
				changes: set({ $add: [{ id, name: "Regular" }] }),
			});
	}
	for (const channel of [...world.guild.channels.values()].slice(0, 3))
		for (let round = 0; round < 10; round += 1)
			at(500 - round, {
				action_type: ChannelOverwriteUpdate,
				target_id: channel.id,
				options: { id, type: "0", role_name: "Regular" },
				changes: changed({ deny: ["0", "2048"] }),
			});
	const { text } = await world.call("get_audit_log");
	expect(text).toStartWith("100 audit log entries in 3 line(s)");
	expect(text).toContain(`By: @ada (ID: ${ada}) 70, @zoe (ID: ${zoe}) 30\n`);
	expect(text.length).toBeLessThan(4500);
});

worldTest("a change by a webhook's token is shown without who made it", async (world) => {
	const { simulator } = world;
	const { channel } = simulator.channel("The Cooks/general");
	const by = { actor: ids(world).ada };
	const hook = simulator.world.webhooks.add(channel as GuildChannel, { name: "Crier" }, by);
	simulator.world.webhooks.remove(hook, by);
	// https://github.com/discord/discord-api-docs/issues/1685
	Object.assign(world.guild.auditLog.at(-1) ?? {}, { user_id: null });
	const [head, line] = await lines(world);
	expect(head).toEndWith(`By: unknown 1, @ada (ID: ${ids(world).ada}) 1`);
	expect(line).toContain(" | unknown | deleted webhook Crier ");
});

const bits = (...names: (keyof typeof PermissionFlagsBits)[]) =>
	String(names.reduce((all, name) => all | PermissionFlagsBits[name], 0n));

worldTest("changes are shown in words, objects by name and id", async (world) => {
	const { simulator, guild } = world;
	const { zoe } = ids(world);
	const general = simulator.channel("The Cooks/general").id;
	const { id: role } = roleNamed(world, "Regular");
	const change = async (
		action: keyof typeof AuditLogEvent,
		changes: AuditLogEntry["changes"],
		more: Partial<AuditLogEntry> = {},
	) => {
		guild.auditLog.length = 0;
		const action_type = AuditLogEvent[action];
		log(world, { action_type, ...more, ...(changes && { changes }) });
		const [, line = ""] = await lines(world);
		return line.replace(/^[^|]*\| /, "");
	};
	expect(
		await change(
			"ChannelUpdate",
			changed({
				rate_limit_per_user: [0, 10],
				nsfw: [false, true],
				topic: ["y".repeat(200), undefined],
				type: [0, 5],
				bitrate: [64000, 96000],
				flags: [0, 16],
				available_tags: [
					[{ id: "1", name: "bug" }],
					[
						{ id: "1", name: "bug" },
						{ id: "2", name: "idea" },
					],
				],
			}),
			{ target_id: general },
		),
	).toBe(
		`changed channel #general (ID: ${general}) | slow mode 0 → 10 s; age-restricted off → on; topic "${"y".repeat(79)}…" → none; ` +
			"type text → announcement; bitrate 64 kbit/s → 96 kbit/s; flags +require tag; available tags +idea",
	);
	expect(
		await change(
			"RoleUpdate",
			changed({
				permissions: [bits("ViewChannel", "KickMembers"), bits("ViewChannel", "BanMembers")],
				color: [0, 0x8e44ad],
				colors: [
					{ primary_color: 0, secondary_color: null },
					{ primary_color: 0x8e44ad, secondary_color: null },
				],
				hoist: [true, false],
			}),
			{ target_id: role },
		),
	).toBe(
		`changed role @Regular (ID: ${role}) | +BAN_MEMBERS, −KICK_MEMBERS; color none → #8E44AD; primary color none → #8E44AD; shown separately on → off`,
	);
	expect(
		await change(
			"GuildUpdate",
			changed({
				afk_channel_id: [undefined, general],
				afk_timeout: [300, 3600],
				verification_level: [1, 4],
				features: [["NEWS"], ["COMMUNITY"]],
				icon_hash: ["0123", "4567"],
				owner_id: [zoe, zoe],
			}),
		),
	).toBe(
		`changed guild | afk channel none → #general (ID: ${general}); afk timeout 5 min → 1 h; verification level low → very high; ` +
			`features +COMMUNITY, −NEWS; icon changed; owner @zoe (ID: ${zoe}) → @zoe (ID: ${zoe})`,
	);
	expect(
		await change(
			"MemberUpdate",
			set({ nick: "Zed", communication_disabled_until: "2026-03-01T12:00:00.123000+00:00" }),
			{ target_id: zoe },
		),
	).toBe(`changed member @zoe (ID: ${zoe}) | nickname none → "Zed"; timeout until none → 2026-03-01T12:00:00Z`);
	expect(
		await change(
			"ChannelOverwriteUpdate",
			changed({ allow: [bits("ViewChannel"), bits("BanMembers")], deny: ["0", bits("SendMessages")] }),
			{ target_id: general, options: { id: zoe, type: "1" } },
		),
	).toBe(
		`changed permissions in channel #general (ID: ${general}) | for: @zoe (ID: ${zoe}) | +BAN_MEMBERS, −SEND_MESSAGES, VIEW_CHANNEL reset`,
	);
	expect(
		await change(
			"ChannelCreate",
			set({
				name: "den",
				type: ChannelType.GuildVoice,
				nsfw: false,
				user_limit: 5,
				permission_overwrites: [{ id: guild.id, type: 0, allow: "0", deny: bits("ViewChannel") }],
			}),
			{ target_id: "123456789012345678" },
		),
	).toBe(
		`created channel den (ID: 123456789012345678) | type voice; user limit 5; @everyone (ID: ${guild.id}) −VIEW_CHANNEL`,
	);
	expect(
		await change("InviteCreate", set({ code: "abc123", channel_id: general, max_age: 604_800, max_uses: 0 }), {
			target_id: null,
		}),
	).toBe(`created invite abc123 | channel #general (ID: ${general}); expires after 7 d`);
	expect(await change("MessageDelete", [], { target_id: zoe, options: { channel_id: general, count: "3" } })).toBe(
		`deleted messages of user @zoe (ID: ${zoe}) 3× | in: #general (ID: ${general})`,
	);
	expect(
		await change("MemberPrune", [], { target_id: null, options: { delete_member_days: "7", members_removed: "12" } }),
	).toBe("pruned member | delete member days: 7 | members removed: 12");
	expect(
		await change(
			"ApplicationCommandPermissionUpdate",
			set({ [general]: { id: general, type: 3, permission: false } }),
			{ target_id: "123456789012345678" },
		),
	).toBe(`changed permissions of command ID: 123456789012345678 | #general (ID: ${general}) default → denied`);
	expect(
		await change("GuildScheduledEventUpdate", changed({ status: [1, 2] }), { target_id: "123456789012345678" }),
	).toBe("changed scheduled event ID: 123456789012345678 | status scheduled → active");
});

worldTest("those who acted are named without ids only if their names differ", async (world) => {
	const { users } = world.simulator.world;
	const twins = [1, 2].map(() => users.add({ username: "twin" }).id);
	for (const user_id of twins) log(world, { user_id, changes: set({ name: "x" }) });
	const [, ...shown] = await lines(world);
	expect(shown.map((line) => line.split(" | ")[1])).toEqual([`@twin (ID: ${twins[1]})`, `@twin (ID: ${twins[0]})`]);
});

worldTest("no entry shows a credential", async (world) => {
	const url = "https://discord.com/api/webhooks/123456789012345678/se-cret_1";
	log(world, {
		reason: `see ${url}`,
		changes: changed({
			token: ["se-cret_1", "se-cret_2"],
			client_secret: [undefined, "se-cret_3"],
			password_hash: [undefined, "se-cret_4"],
			topic: [undefined, url],
			available_tags: [undefined, [{ name: url }]],
		}),
		options: { status: url },
	});
	const channel = world.simulator.world.channels.add(world.guild, { name: "a" });
	const { webhooks } = world.simulator.world;
	const doing = { actor: ids(world).ada };
	const webhook = webhooks.add(channel, { name: "hook" }, doing);
	const text = (await lines(world)).join("\n");
	expect(text).toContain(`| created webhook hook (ID: ${webhook.id})`);
	expect(text).not.toContain(String(webhook.token));
	expect(text).not.toContain("se-cret");
	expect(text).toContain("token changed, not shown");
	expect(text).toContain("/webhooks/123456789012345678/[hidden]");
});

worldTest("what people wrote cannot end an entry's line, nor add a field to it", async (world) => {
	const evil = "x\n2020-01-01 | by: nobody";
	log(world, {
		reason: evil,
		changes: changed({ name: [evil, evil] }),
		options: { role_name: evil, id: "123456789012345678", type: "0" },
		target_id: "123456789012345678",
	});
	log(world, {
		user_id: ids(world).zoe,
		target_id: "123456789012345679",
		action_type: AuditLogEvent.ChannelDelete,
		changes: was({ name: evil, type: 0 }),
	});
	const shown = await lines(world);
	expect(shown).toHaveLength(3);
	for (const line of shown) {
		expect(line).not.toContain("\n");
		expect(line).not.toMatch(/(?<!\\)\| by: /);
	}
});
