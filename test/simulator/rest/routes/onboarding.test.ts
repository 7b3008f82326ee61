// Onboarding: permissions, requirements, ids of prompts, events and the audit log.

import { expect } from "bun:test";
import {
	type APIGuildOnboarding,
	AuditLogEvent,
	type ChannelType,
	GuildOnboardingPromptType,
	PermissionFlagsBits as Permission,
	RoleFlags,
} from "discord.js";
import { connect, testWith } from "../../support.ts";

const test = testWith(({ guild, world, channelNamed, role, alpha }) => {
	world.guilds.edit(guild, { features: ["COMMUNITY"] });
	const path = `/guilds/${guild.id}/onboarding`;
	const add = (name: string, type: ChannelType.GuildText | 15 = 0) => world.channels.add(guild, { name, type });
	const reason = { "x-audit-log-reason": "a warm welcome" };
	return {
		path,
		general: channelNamed("general"),
		regular: role("Regular"),
		/** Adds text channels that everyone can view. */
		addChannels: (count: number) => Array.from({ length: count }, (_, index) => add(`open-${index}`)),
		put: (body: object) => alpha("PUT", path, body, reason),
		get: async () => (await alpha("GET", path)).json<APIGuildOnboarding>(),
	};
});

const option = { title: "Soup", role_ids: [], channel_ids: [] };
const prompt = { id: "1", title: "What do you cook?", options: [option] };

test("discord.js edits and fetches onboarding, with events and audit log entries", async (given) => {
	const { simulator, guild, general, regular, world, user } = given;
	const soup = world.emojis.add(guild, user("ada"), { name: "soup" });
	await using bot = await connect(simulator);
	const found = await bot.client.guilds.fetch(guild.id);
	const edited = await found.editOnboarding({
		prompts: [
			{
				title: "What do you cook?",
				singleSelect: true,
				inOnboarding: true,
				type: GuildOnboardingPromptType.Dropdown,
				options: [
					{ title: "Soup", roles: [regular.id], emoji: soup.id },
					{ title: "Bread", channels: [general.id], emoji: "🍞" },
					{ title: "Nothing", description: "I only eat" },
				],
			},
		],
		defaultChannels: [general.id],
		reason: "a warm welcome",
	});
	expect(edited).toMatchObject({ enabled: false, mode: 0 });
	expect([...edited.defaultChannels.keys()]).toEqual([general.id]);
	const fetched = await found.fetchOnboarding();
	const first = fetched.prompts.first();
	expect(first).toMatchObject({ singleSelect: true, required: false, type: 1 });
	expect(first?.options.map(({ emoji }) => emoji?.toString())).toEqual([`<:soup:${soup.id}>`, "🍞", undefined]);
	const told = await bot.event("GUILD_UPDATE");
	expect(told).not.toHaveProperty("onboarding");
	const changed = await bot.event("GUILD_ROLE_UPDATE");
	expect(changed.role).toMatchObject({ id: regular.id, flags: RoleFlags.InPrompt });
	const by = { user_id: user("alpha").id, reason: "a warm welcome" };
	const { OnboardingPromptCreate, OnboardingUpdate } = AuditLogEvent;
	expect(guild.auditLog).toMatchObject([
		{ ...by, action_type: OnboardingPromptCreate, target_id: first?.id },
		{ ...by, action_type: OnboardingUpdate, target_id: guild.id },
	]);
});

test("known prompts and options keep their ids, others get one; deleted prompts have no audit log entry", async (given) => {
	const { put, get, guild, regular } = given;
	const roles = { ...option, role_ids: [regular.id, regular.id] };
	await put({ prompts: [{ ...prompt, options: [roles, option] }, prompt] });
	const [first, second] = (await get()).prompts;
	const ids = [first, second].flatMap((one) => [one?.id, ...(one?.options.map(({ id }) => id) ?? [])]);
	expect(new Set(ids).size).toBe(5);
	expect(ids).not.toContain("1");
	expect(first).toEqual({
		id: ids[0],
		title: prompt.title,
		type: 0,
		single_select: false,
		required: false,
		in_onboarding: false,
		options: [
			{
				id: ids[1],
				title: "Soup",
				description: "",
				channel_ids: [],
				role_ids: [regular.id],
				emoji: { id: null, name: null, animated: false },
			},
			expect.objectContaining({ id: ids[2], role_ids: [] }),
		],
	} as never);
	guild.auditLog.length = 0;
	const options = [{ ...option, id: ids[2] }, { ...option, id: "7" }, option];
	await put({ prompts: [{ ...prompt, id: ids[0], options }] });
	const [kept, ...others] = (await get()).prompts;
	expect(others).toEqual([]);
	expect(kept?.id).toBe(String(ids[0]));
	const [same, ...made] = kept?.options.map(({ id }) => id) ?? [];
	expect(same).toBe(String(ids[2]));
	expect(new Set([...ids, "7", ...made]).size).toBe(8);
	expect(regular.flags).toBe(0);
	expect(guild.auditLog.map(({ action_type }) => action_type)).toEqual([
		AuditLogEvent.OnboardingPromptUpdate,
		AuditLogEvent.OnboardingUpdate,
	]);
	await put({});
	expect(guild.auditLog).toHaveLength(2);
	expect((await get()).prompts).toHaveLength(1);
});

test("only a community with seven default channels, five of them writable, enables onboarding", async (given) => {
	const { put, addChannels, deny, guild, world } = given;
	const channels = addChannels(7);
	const default_channel_ids = channels.map(({ id }) => id);
	const enable = async (ids: string[]) => (await put({ enabled: true, default_channel_ids: ids })).code;
	expect(await enable(default_channel_ids.slice(1))).toBe(350000);
	const [one, two, three] = channels;
	if (!one || !two || !three) throw new Error("there are seven");
	for (const channel of [one, two, three]) deny(channel, Permission.SendMessages, guild.id);
	expect(await enable(default_channel_ids)).toBe(350000);
	deny(one, 0n, guild.id);
	world.guilds.edit(guild, { features: [] });
	expect(await enable(default_channel_ids)).toBe(350000);
	expect(await put({ default_channel_ids })).toHaveProperty("status", 200);
	world.guilds.edit(guild, { features: ["COMMUNITY"] });
	expect((await put({ enabled: true })).json()).toMatchObject({ default_channel_ids, enabled: true });
	expect(await enable(default_channel_ids.slice(1))).toBe(350001);
	world.channels.remove(one);
	expect((await put({ mode: 0 })).code).toBe(350001);
	expect((await put({ enabled: false })).status).toBe(200);
});

test("in the advanced mode the channels of required prompts count, and a category stands for its channels", async (given) => {
	const { put, addChannels, world, guild } = given;
	const [a, b, c, ...five] = addChannels(8).map(({ id }) => id);
	const of = (...ids: unknown[]) => ({ ...option, channel_ids: ids });
	const asked = (...options: object[]) => [{ ...prompt, required: true, in_onboarding: true, options }];
	const enable = async (prompts: object[], mode = 1) => {
		const body = { prompts, mode, enabled: true, default_channel_ids: five };
		return (await put(body)).code;
	};
	expect(await enable(asked(of(a, b), of(c)))).toBe(350000);
	expect(await enable(asked(of(a, b), of(c, a)), 0)).toBe(350000);
	expect(await enable([{ ...asked(of(a, b))[0], required: false }])).toBe(350000);
	expect(await enable(asked(of(a, b), of(c, a)))).toBeUndefined();
	const box = world.channels.add(guild, { name: "Box", type: 4 });
	for (const { id } of guild.channels.values()) {
		const channel = guild.channels.get(id);
		if (channel && [a, b, c, ...five].includes(id)) world.channels.edit(channel, { parent_id: box.id });
	}
	const category = { mode: 0, prompts: [], default_channel_ids: [box.id] };
	expect((await put(category)).json()).toMatchObject({ enabled: true });
});

test("channels of onboarding stay readable by everyone", async (given) => {
	const { put, guild, general, world, alpha, role, addChannels } = given;
	const view = String(Permission.ViewChannel);
	const hidden = { type: 0, deny: view };
	const [other] = addChannels(1);
	await put({
		default_channel_ids: [general.id],
		prompts: [{ ...prompt, options: [{ ...option, channel_ids: [other?.id] }] }],
	});
	const box = world.channels.add(guild, {
		name: "Box",
		type: 4,
		permission_overwrites: [
			{ id: guild.id, type: 0, allow: "0", deny: view },
			{ id: role("alpha").id, type: 0, allow: view, deny: "0" },
		],
	});
	const hide = (id = general.id) => alpha("PUT", `/channels/${id}/permissions/${guild.id}`, hidden);
	const edit = { permission_overwrites: [{ id: guild.id, ...hidden }] };
	const move = { id: general.id, parent_id: box.id, lock_permissions: true };
	for (const answer of [
		await hide(),
		await hide(other?.id),
		await alpha("PATCH", `/channels/${general.id}`, edit),
		await alpha("PATCH", `/guilds/${guild.id}/channels`, [move]),
	])
		expect([answer.status, answer.code]).toEqual([400, 350003]);
	expect(general.parent_id).not.toBe(box.id);
	await put({ default_channel_ids: [], prompts: [] });
	expect((await hide()).status).toBe(204);
	expect((await put({ default_channel_ids: [general.id] })).code).toBe(350003);
});

test("invalid onboarding is refused, also without MANAGE_GUILD and MANAGE_ROLES", async (given) => {
	const { path, put, guild, role, world, alpha, as } = given;
	for (const [body, code, field] of [
		[{ mode: 2 }, 50035, "mode"],
		[{ default_channel_ids: [guild.id] }, 10003],
		[{ prompts: Array(16).fill(prompt) }, 50035, "prompts"],
		[{ prompts: [{ ...prompt, id: undefined }] }, 50035, "prompts.0.id"],
		[{ prompts: [{ ...prompt, title: "" }] }, 50035, "prompts.0.title"],
		[{ prompts: [{ ...prompt, options: [] }] }, 50035, "prompts.0.options"],
		[{ prompts: [{ ...prompt, options: [{ ...option, title: "" }] }] }, 50035, "prompts.0.options.0.title"],
		...(
			[
				[{ role_ids: ["1"] }, 10011],
				[{ channel_ids: ["1"] }, 10003],
				[{ emoji_id: "1" }, 10014],
			] as const
		).map(([more, code]) => [{ prompts: [{ ...prompt, options: [{ ...option, ...more }] }] }, code] as const),
	] as const) {
		const answer = await put(body);
		expect([answer.code, Object.keys(answer.faults)[0]]).toEqual([code, field]);
	}
	expect(guild.auditLog).toEqual([]);
	expect((await as("zoe")("GET", path)).code).toBe(50013);
	const own = role("alpha");
	const { ManageGuild, ManageRoles } = Permission;
	for (const bit of [ManageGuild, ManageRoles]) {
		const permissions = String(BigInt(own.permissions) & ~bit);
		const before = own.permissions;
		world.roles.edit(guild, own, { permissions });
		expect((await alpha("PUT", path, {})).code).toBe(50013);
		world.roles.edit(guild, own, { permissions: before });
	}
});

test("deleted channels and roles leave onboarding, which members can read while it is enabled", async (given) => {
	const { put, get, addChannels, regular, world, guild, as, path } = given;
	const channels = addChannels(7);
	const default_channel_ids = channels.map(({ id }) => id);
	const [gone] = channels;
	if (!gone) throw new Error("there are seven");
	const lost = { ...option, role_ids: [regular.id], channel_ids: [gone.id] };
	const prompts = [{ ...prompt, options: [lost] }];
	await put({ enabled: true, default_channel_ids, prompts });
	world.channels.remove(gone);
	world.roles.remove(guild, regular);
	const left = await get();
	expect(left).toMatchObject({
		enabled: true,
		default_channel_ids: default_channel_ids.slice(1),
		prompts: [{ options: [{ role_ids: [], channel_ids: [] }] }],
	});
	expect((await as("zoe")("GET", path)).json<unknown>()).toEqual(left);
});
