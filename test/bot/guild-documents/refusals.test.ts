// Every reason for which a step of a plan is refused, with the real discord.js in front of the simulator.

import { describe, expect, test } from "bun:test";
import {
	AutoModerationActionType,
	ChannelType,
	GuildScheduledEventEntityType as EventType,
	type Guild,
	OverwriteType,
	PermissionFlagsBits as Permission,
	AutoModerationRuleTriggerType as Trigger,
} from "discord.js";
import { fixedRoles } from "../../../src/bot/guild-documents/plans/plans.ts";
import { readGuildState } from "../../../src/bot/guild-documents/read/read-guild.ts";
import { namesInTable, refusalsOf, requireStep, toolsOf } from "../../../src/bot/guild-documents/refusals/refusals.ts";
import { tools } from "../../../src/bot/tools/index.ts";
import { settingTools } from "../../../src/bot/tools/settings.ts";
import { type GuildDocument, partNames } from "../../../src/guild-document/format/document.ts";
import { allBits, bitsByName } from "../../../src/guild-document/names/permission-names.ts";
import { exportDocument } from "../../../src/guild-document/read/export.ts";
import { difference } from "../../../src/guild-document/steps/difference.ts";
import type {
	ApiRequest,
	GuildState,
	RawOverwrite,
	Step,
	StepAction,
	StepKind,
} from "../../../src/guild-document/steps.ts";
import { atOnce } from "../../../src/lib/slices.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { startConnection } from "../../support/connection.ts";
import { seeded } from "../../support/random.ts";
import { randomGuild } from "../../support/random-guild.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { channelNamed, memberNamed, roleNamed } from "../../support/world.ts";

const guildTest = testWith(startGuild);

/** All permissions that a bot needs, without ADMINISTRATOR. */
const enough =
	Permission.BanMembers |
	Permission.Connect |
	Permission.CreateEvents |
	Permission.CreateGuildExpressions |
	Permission.ManageChannels |
	Permission.ManageEvents |
	Permission.ManageGuild |
	Permission.ManageGuildExpressions |
	Permission.ManageRoles |
	Permission.ManageWebhooks |
	Permission.ModerateMembers |
	Permission.MoveMembers |
	Permission.MuteMembers |
	Permission.SendMessages |
	Permission.ViewAuditLog |
	Permission.ViewChannel;

/** Sets the permissions of the bot's own role. Those of @everyone are `common`. */
function permit(simulator: Simulator, own: bigint, common = 0n): void {
	const guild = simulator.guild("The Cooks");
	const { roles } = simulator.world;
	const set = (id: string, bits: bigint) => {
		const role = guild.roles.get(id);
		if (role) roles.edit(guild, role, { permissions: String(bits) });
	};
	set(guild.id, common);
	set(botRole(simulator), own);
}

function botRole(simulator: Simulator): string {
	const [id = ""] = memberNamed(simulator, "alpha").roles;
	return id;
}

async function startGuild(prepare: (simulator: Simulator) => void = () => {}) {
	const world = await startConnection((simulator) => {
		permit(simulator, enough);
		prepare(simulator);
	});
	const { connection, simulator } = world;
	await until("the bot is ready", () => connection.ready);
	await until("all members are loaded", () => connection.guilds.every((one) => connection.hasAllMembers(one)));
	const { id } = simulator.guild("The Cooks");
	const guild = present(connection.guilds.find((one) => one.id === id));
	const { state } = await readGuildState(guild, partNames, { connection });
	return { ...world, guild, state };
}

/** Ids in the guild, by name. */
class Names {
	constructor(
		readonly guild: Guild,
		readonly simulator: Simulator,
	) {}
	role(name: string): string {
		if (name === "bot") return botRole(this.simulator);
		return this.#find(this.guild.roles.cache.values(), name);
	}
	channel(name: string): string {
		// The bot does not know the names of channels that it cannot see.
		const { channels } = this.simulator.guild(this.guild.name);
		return this.#find(channels.values(), name);
	}
	user(username: string): string {
		return this.simulator.user(username).id;
	}
	#find(things: Iterable<{ id: string; name: string }>, name: string) {
		for (const thing of things) if (thing.name === name) return thing.id;
		throw new Error(`nothing is named ${name}`);
	}
}

type Given = Partial<Omit<Step, "request">> & { path?: string; body?: unknown; picture?: ApiRequest["picture"] };

/** A step as the difference makes it. */
function step(
	action: StepAction,
	kind: StepKind,
	name: string,
	{ path = "", body, picture, ...given }: Given = {},
): Step {
	const placeholder = action === "create" ? `+${kind}/${name}` : undefined;
	return {
		id: `${action} ${kind}/${name}`,
		action,
		kind,
		name,
		placeholder,
		changes: [],
		needs: [],
		guard: {},
		request: (ids) => ({
			method: "PATCH",
			path: filled(path, ids) as `/${string}`,
			body: filled(body, ids),
			...(picture && { picture }),
		}),
		...given,
	};
}

function filled(value: unknown, ids: ReadonlyMap<string, string>): unknown {
	if (typeof value === "string") return [...ids].reduce((text, [one, id]) => text.replace(one, id), value);
	if (Array.isArray(value)) return value.map((one) => filled(one, ids));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, ids)]));
}

const newRole = (name: string, permissions = 0n, body: object = {}) =>
	step("create", "role", name, {
		path: "/guilds/1/roles",
		guard: { roleIds: [] },
		body: { name, permissions: String(permissions), ...body },
	});

const editRole = (id: string, body: object = {}) =>
	step("edit", "role", id, { targetId: id, guard: { roleIds: [id] }, path: `/guilds/1/roles/${id}`, body });

const deleteRole = (id: string) => step("delete", "role", id, { targetId: id, guard: { roleIds: [id] } });

const orderRoles = (positions: Readonly<Record<string, number>>) =>
	step("order", "role", "roles", {
		targetId: "all",
		guard: { roleIds: Object.keys(positions) },
		path: "/guilds/1/roles",
		body: Object.entries(positions).map(([id, position]) => ({ id, position })),
	});

const newChannel = (
	name: string,
	body: object = {},
	overwrites?: readonly RawOverwrite[],
	needs: readonly string[] = [],
) =>
	step("create", "channel", name, {
		needs,
		path: "/guilds/1/channels",
		guard: {
			parentId: (body as { parent_id?: string }).parent_id,
			overwrites: overwrites && { before: [], after: overwrites },
		},
		body: { name, type: ChannelType.GuildText, ...body, permission_overwrites: overwrites && texts(overwrites) },
	});

const newCategory = (name: string, overwrites?: readonly RawOverwrite[]) => ({
	...newChannel(name, { type: ChannelType.GuildCategory }, overwrites),
	kind: "category" as const,
	placeholder: `+category/${name}`,
});

const editChannel = (id: string, body: object, guard: Step["guard"] = {}) =>
	step("edit", "channel", id, { targetId: id, path: `/channels/${id}`, guard, body });

const setAccess = (id: string, before: readonly RawOverwrite[], after: readonly RawOverwrite[]) =>
	editChannel(id, { permission_overwrites: texts(after) }, { overwrites: { before, after } });

const texts = (overwrites: readonly RawOverwrite[]) =>
	overwrites.map(({ allow, deny, ...rest }) => ({ ...rest, allow: String(allow), deny: String(deny) }));

const overwrite = (id: string, allow: bigint, deny = 0n): RawOverwrite => ({
	id,
	allow,
	deny,
	type: OverwriteType.Role,
});

const deleteChannel = (id: string) => step("delete", "channel", id, { targetId: id });

const newEmoji = (name: string) => step("create", "emoji", name, { body: { name } });

const newRule = (trigger: Trigger, actions: readonly object[] = [{ type: AutoModerationActionType.BlockMessage }]) =>
	step("create", "automod", "rule", { body: { name: "rule", trigger_type: trigger, actions } });

const newEvent = (body: object = {}, needs: readonly string[] = []) =>
	step("create", "event", "party", {
		needs,
		body: {
			name: "party",
			entity_type: EventType.External,
			channel_id: null,
			scheduled_start_time: "2040-01-01T00:00:00.000Z",
			...body,
		},
	});

const newWebhook = (channel: string, name = "news", needs: string[] = []) =>
	step("create", "webhook", name, { needs, path: `/channels/${channel}/webhooks`, body: { name } });

const settings = (body: object, fields: readonly string[] = []) =>
	step("edit", "settings", "settings", { guard: { fields }, body });

const onboarding = (body: object, roleIds: string[] = []) =>
	step("edit", "onboarding", "onboarding", { body, guard: { roleIds } });

const assign = (userId: string, roleId: string) =>
	step("assign", "member", "Role", { targetId: `${userId}/${roleId}`, guard: { roleIds: [roleId] } });

const ban = (userId: string) => step("ban", "ban", userId, { targetId: userId });

const many = <T>(count: number, make: (index: number) => T): T[] =>
	Array.from({ length: count }, (_, index) => make(index));

/** A change of the state, such as 250 roles. */
type Change = (state: GuildState) => GuildState;

const withRoles =
	(count: number): Change =>
	(state) => ({
		...state,
		guild: {
			...state.guild,
			roles: many(count, (index) => ({
				...(state.guild.roles[0] as (typeof state.guild.roles)[number]),
				id: index === 0 ? state.guild.id : `9${index}`,
			})),
		},
	});

const withChannels =
	(count: number, parent_id: string | null = null): Change =>
	(state) => ({
		...state,
		channels: many(count, (index) => ({
			...(state.channels[0] as (typeof state.channels)[number]),
			id: `9${index}`,
			type: ChannelType.GuildText as never,
			parent_id,
		})),
	});

interface Row {
	/** What is refused, as the rest of "is refused:". */
	name: string;
	prepare?: (simulator: Simulator) => void;
	change?: Change;
	denies?(name: string): boolean;
	steps: (names: Names, state: GuildState) => readonly Step[];
	/** Texts in the reason of the last step. Undefined: no step is refused. */
	reason?: string | RegExp;
	/** Text in the note on the last step, which is not refused. */
	note?: string | RegExp;
	/** False: only the plan as a whole is checked, not the last step right before it is sent. */
	live?: false;
}

const without = (bits: bigint) => (simulator: Simulator) => permit(simulator, enough & ~bits);

/** The permissions that the bot lacks in the guild, and the steps that need them. */
const needs: Record<string, Record<string, (names: Names) => Step>> = {
	MANAGE_ROLES: {
		"a new role": () => newRole("New"),
		"a changed role": (names) => editRole(names.role("Regular"), { name: "x" }),
		"a deleted role": (names) => deleteRole(names.role("Regular")),
		"the order of roles": (names) => orderRoles({ [names.role("Regular")]: 1 }),
		"the permissions of @everyone": (names) => ({
			...editRole(names.guild.id, { permissions: "0" }),
			kind: "everyone",
		}),
		"a member's role": (names) => assign(names.user("zoe"), names.role("Regular")),
		"the access to a channel": (names) =>
			setAccess(names.channel("general"), [], [overwrite(names.role("Regular"), Permission.SendMessages)]),
	},
	MANAGE_CHANNELS: {
		"a new channel": () => newChannel("new"),
		"a new category": () => newCategory("New"),
		"a changed channel": (names) => editChannel(names.channel("general"), { topic: "x" }),
		"a deleted channel": (names) => deleteChannel(names.channel("general")),
		"the order of channels": (names) =>
			step("order", "channel", "channels", { body: [{ id: names.channel("general"), position: 3 }] }),
	},
	MANAGE_GUILD: {
		settings: () => settings({ name: "x" }),
		"the welcome screen": () => step("edit", "welcome_screen", "welcome screen", { body: {} }),
		"an AutoMod rule": () => newRule(Trigger.Spam),
	},
	"MANAGE_GUILD, MANAGE_ROLES": { onboarding: () => onboarding({}) },
	MODERATE_MEMBERS: {
		"an AutoMod rule with a timeout": () => newRule(Trigger.Keyword, [{ type: AutoModerationActionType.Timeout }]),
	},
	CREATE_GUILD_EXPRESSIONS: { "a new emoji": () => newEmoji("new") },
	MANAGE_GUILD_EXPRESSIONS: { "a deleted emoji": () => step("delete", "emoji", "old", { targetId: "1" }) },
	CREATE_EVENTS: { "a new event": () => newEvent() },
	MOVE_MEMBERS: {
		"an event on a stage": () => newEvent({ entity_type: EventType.StageInstance, channel_id: "+channel/Stage" }),
	},
	CONNECT: {
		"an event in a voice channel": (names) =>
			newEvent({ entity_type: EventType.Voice, channel_id: names.channel("Lounge") }),
		"a changed voice channel": (names) => editChannel(names.channel("Lounge"), { user_limit: 5 }),
	},
	MANAGE_WEBHOOKS: { "a new webhook": (names) => newWebhook(names.channel("general")) },
	BAN_MEMBERS: { "a ban": (names) => ban(names.user("zoe")) },
	VIEW_AUDIT_LOG: { "anything new": () => newRole("New") },
};

const permissionRows = Object.entries(needs).flatMap(([lacked, steps]) =>
	Object.entries(steps).map(
		([what, make]): Row => ({
			name: `${what} without ${lacked}`,
			prepare: without(lacked.split(", ").reduce((bits, name) => bits | (bitsByName.get(name) ?? 0n), 0n)),
			steps: (names) => [make(names)],
			reason: `The bot lacks ${lacked} in `,
		}),
	),
);

const party = {
	name: "party",
	entity_type: EventType.External,
	entity_metadata: { location: "here" },
	scheduled_start_time: "2040-01-01T00:00:00.000Z",
	scheduled_end_time: "2040-01-02T00:00:00.000Z",
};

const rows: readonly Row[] = [
	...permissionRows,
	{
		name: "nothing that the bot may do",
		steps: (names) => [
			newRole("New", Permission.SendMessages),
			editRole(names.role("Regular"), { name: "x" }),
			orderRoles({ [names.role("Regular")]: 1 }),
			newCategory("New"),
			newChannel("new", { parent_id: "+category/New" }, [], ["+category/New"]),
			editChannel(names.channel("general"), { topic: "x" }),
			newEmoji("new"),
			newRule(Trigger.Spam),
			newEvent(),
			newWebhook("+channel/new", "news", ["+channel/new"]),
			assign(names.user("zoe"), names.role("Regular")),
			ban(names.user("zoe")),
			deleteChannel(names.channel("general")),
			deleteRole(names.role("Regular")),
		],
		live: false,
	},
	{
		name: "a channel that the bot cannot see",
		prepare: (simulator) => denied(simulator, Permission.ViewChannel),
		steps: (names) => [editChannel(names.channel("general"), { topic: "x" })],
		reason: "The bot lacks VIEW_CHANNEL in a channel that the bot cannot see",
	},
	{
		name: "a webhook in a channel where the bot lacks MANAGE_WEBHOOKS",
		prepare: (simulator) => denied(simulator, Permission.ManageWebhooks),
		steps: (names) => [newWebhook(names.channel("general"))],
		reason: "The bot lacks MANAGE_WEBHOOKS in #general",
	},
	{
		name: "a deleted event of someone else without MANAGE_EVENTS",
		prepare: (simulator) => {
			without(Permission.ManageEvents)(simulator);
			const guild = simulator.guild("The Cooks");
			simulator.world.scheduledEvents.add(guild, guild.owner_id, party);
		},
		steps: (names) => [
			step("delete", "event", "party", { targetId: names.guild.scheduledEvents.cache.firstKey() ?? "" }),
		],
		reason: "The bot lacks MANAGE_EVENTS in ",
	},
	{
		name: "a move into a category where the bot lacks MANAGE_CHANNELS",
		prepare: (simulator) => {
			simulator.world.channels.add(simulator.guild("The Cooks"), { name: "Closed", type: ChannelType.GuildCategory });
			denied(simulator, Permission.ManageChannels, "Closed");
		},
		steps: (names) => [editChannel(names.channel("Lounge"), {}, { parentId: names.channel("Closed") })],
		reason: "The bot lacks MANAGE_CHANNELS in #Closed",
	},
	{
		name: "enabling Community without ADMINISTRATOR",
		steps: () => [settings({ features: ["COMMUNITY"] }, ["community"])],
		reason: "The bot lacks ADMINISTRATOR in the guild",
	},
	// The role hierarchy.
	{
		name: "a changed role above the bot",
		prepare: (simulator) => above(simulator, "Staff"),
		steps: (names) => [editRole(names.role("Staff"), { name: "x" })],
		reason: "does not rank below the bot's highest role",
	},
	{
		name: "a deleted role above the bot",
		prepare: (simulator) => above(simulator, "Staff"),
		steps: (names) => [deleteRole(names.role("Staff"))],
		reason: "does not rank below the bot's highest role",
	},
	{
		name: "giving a role above the bot",
		prepare: (simulator) => above(simulator, "Staff"),
		steps: (names) => [assign(names.user("zoe"), names.role("Staff"))],
		reason: "does not rank below the bot's highest role",
	},
	{
		name: "giving the bot a role with permissions that it lacks",
		prepare: (simulator) => {
			const guild = simulator.guild("The Cooks");
			const role = roleNamed({ guild }, "Regular");
			const permissions = String(Permission.Administrator);
			simulator.world.roles.edit(guild, role, { permissions });
		},
		steps: (names) => [assign(names.simulator.bot("alpha").id, names.role("Regular"))],
		reason: "The bot can only give and deny permissions that it has itself, and it lacks ADMINISTRATOR.",
	},
	{
		name: "onboarding that gives a role above the bot",
		prepare: (simulator) => above(simulator, "Staff"),
		steps: (names) => [onboarding({}, [names.role("Staff")])],
		reason: "does not rank below the bot's highest role",
	},
	{
		name: "onboarding that gives a role of moderators, which is only noted",
		steps: () => [
			newRole("New", Permission.BanMembers),
			onboarding({ prompts: [{ options: [{ role_ids: ["+role/New"] }] }] }),
		],
		note: "Every new member can choose to get the role New with BAN_MEMBERS.",
		live: false,
	},
	{
		name: "banning someone above the bot",
		prepare: (simulator) => above(simulator, "Staff"),
		steps: (names) => [ban(names.user("jose.garcia"))],
		reason: "does not rank below the bot",
	},
	{ name: "banning the owner", steps: (names) => [ban(names.guild.ownerId)], reason: "owns the guild" },
	{ name: "banning the bot", steps: (names) => [ban(names.guild.client.user.id)], reason: "is the bot itself" },

	// Permissions that the bot does not have.
	{
		name: "a new role with a permission that the bot lacks",
		steps: () => [newRole("New", Permission.KickMembers)],
		reason: "The bot can only give and deny permissions that it has itself, and it lacks KICK_MEMBERS.",
	},
	{
		name: "giving a role a permission that the bot lacks",
		steps: (names) => [editRole(names.role("Regular"), { permissions: String(Permission.Administrator) })],
		reason: "it lacks ADMINISTRATOR.",
	},
	{
		name: "taking from a role a permission that the bot lacks",
		steps: (names) => [editRole(names.role("Staff"), { permissions: "0" })],
		reason: "The bot can only give and deny permissions that it has itself",
	},
	{
		name: "giving @everyone a permission that the bot lacks",
		steps: (names) => [
			{ ...editRole(names.guild.id, { permissions: String(Permission.KickMembers) }), kind: "everyone" },
		],
		reason: "it lacks KICK_MEMBERS.",
	},
	{
		name: "a new channel with an overwrite that the bot may not set",
		steps: (names) => [newChannel("new", {}, [overwrite(names.role("Regular"), Permission.KickMembers)])],
		reason: "it lacks KICK_MEMBERS.",
	},
	{
		name: "a new channel in which others may manage permissions",
		steps: (names) => [newChannel("new", {}, [overwrite(names.role("Regular"), Permission.ManageRoles)])],
		reason: "Only an administrator can allow or deny MANAGE_ROLES in a channel.",
	},
	{
		name: "access to a channel with a permission that the bot lacks",
		steps: (names) => [
			setAccess(names.channel("general"), [], [overwrite(names.role("Regular"), 0n, Permission.AttachFiles)]),
		],
		reason: "it lacks ATTACH_FILES.",
	},
	{
		name: "nothing that an administrator gives",
		prepare: (simulator) => permit(simulator, Permission.Administrator),
		steps: (names) => [
			newRole("New", Permission.Administrator),
			newChannel("new", {}, [overwrite(names.role("Regular"), Permission.ManageRoles)]),
			setAccess(names.channel("general"), [], [overwrite(names.guild.id, 0n, Permission.ViewChannel)]),
		],
		live: false,
	},

	// What the bot needs to go on.
	{
		name: "taking a channel from the bot",
		steps: (names) => [
			setAccess(names.channel("general"), [], [overwrite(names.guild.id, 0n, Permission.ViewChannel)]),
		],
		reason:
			/^This would take .*VIEW_CHANNEL.* in #general .* from the bot, which could not undo it\. Allow it there to @alpha/,
	},
	{
		name: "taking @everyone's permissions on which the bot relies",
		prepare: (simulator) => permit(simulator, enough & ~Permission.ViewChannel, Permission.ViewChannel),
		steps: (names) => [{ ...editRole(names.guild.id, { permissions: "0" }), kind: "everyone" }],
		reason: "This would take VIEW_CHANNEL from the bot, which needs that to change the guild. Give it to @alpha",
	},
	{
		name: "deleting a role on which the bot relies",
		prepare: (simulator) => {
			permit(simulator, enough & ~Permission.ManageChannels);
			giveToBot(simulator, "Regular", Permission.ManageChannels);
		},
		steps: (names) => [deleteRole(names.role("Regular"))],
		reason: "This would take MANAGE_CHANNELS from the bot",
	},
	{
		name: "nothing about a role of the bot that gives it nothing",
		prepare: (simulator) => giveToBot(simulator, "Regular", Permission.ViewChannel),
		steps: (names) => [deleteRole(names.role("Regular"))],
	},
	{
		name: "a new channel that hides from the bot, which is only noted",
		steps: (names) => [newChannel("secret", {}, [overwrite(names.guild.id, 0n, Permission.ViewChannel)])],
		note: /^The bot creates this, but cannot change it afterwards: its permission overwrites take VIEW_CHANNEL from the bot\. To keep it, allow it there to @alpha/,
		live: false,
	},

	{
		name: "a webhook in a new channel of a category that hides from the bot",
		steps: (names) => [
			newCategory("Secret", [overwrite(names.guild.id, 0n, Permission.ViewChannel)]),
			newChannel("secret", { parent_id: "+category/Secret" }),
			newWebhook("+channel/secret", "news", ["+channel/secret"]),
		],
		reason: "The bot will not be able to see or manage the new channel",
		live: false,
	},

	// What would be deleted without what replaces it.
	...(
		[
			["role", withRoles(250), () => newRole("New"), () => deleteRole("91")],
			["channel", withChannels(500), () => newChannel("new"), () => deleteChannel("91")],
			["channel", withChannels(500), () => newCategory("New"), () => deleteChannel("91")],
		] as const
	).map(
		([noun, change, make, remove]): Row => ({
			name: `a new ${make().kind} for which a plan deletes another ${noun} too late`,
			change,
			steps: () => [remove(), make()],
			reason: `and this one would have more until others are deleted. Delete some first.`,
			live: false,
		}),
	),

	// The operator's configuration.
	{
		name: "a deletion that the operator denies",
		denies: (name) => name === "delete_channel",
		steps: (names) => [deleteChannel(names.channel("general"))],
		reason: "The operator of this bot does not allow delete_channel, which does the same (config.toml).",
	},
	{
		name: "every step of a bot that only reads",
		denies: () => true,
		steps: () => [settings({ name: "x" })],
		reason: "does not allow edit_guild",
	},
	{
		name: "nothing for a denied tool that does something else",
		denies: (name) => name === "delete_channel",
		steps: () => [newChannel("new")],
	},
];

/** Denies the bot's role permissions in a channel. */
function denied(simulator: Simulator, bits: bigint, name = "general") {
	const channel = channelNamed(simulator, name);
	const id = botRole(simulator);
	simulator.world.channels.edit(channel, {
		permission_overwrites: [...channel.permission_overwrites, { id, type: 0, allow: "0", deny: String(bits) }],
	});
}

/** Moves a role above the bot's. */
function above(simulator: Simulator, name: string): void {
	const guild = simulator.guild("The Cooks");
	const role = roleNamed(simulator, name);
	simulator.world.roles.move(guild, new Map([[role, guild.roles.size]]));
}

/** Gives the bot a second role, with permissions. */
function giveToBot(simulator: Simulator, name: string, bits: bigint): void {
	const guild = simulator.guild("The Cooks");
	const role = roleNamed(simulator, name);
	simulator.world.roles.edit(guild, role, { permissions: String(bits) });
	const member = memberNamed({ guild }, "alpha");
	simulator.world.members.edit(guild, member, { roles: [...member.roles, role.id] });
}

describe("refused:", () => {
	test.each(rows)("$name", async (row) => {
		const { prepare, change = (state) => state, denies, reason, note } = row;
		await using world = await startGuild(prepare);
		const { guild, simulator } = world;
		const state = change(world.state);
		const names = new Names(guild, simulator);
		const steps = row.steps(names, state);
		const last = present(steps.at(-1));
		const refusals = atOnce(refusalsOf(steps, guild, state, denies));
		const found = refusals.find(({ stepId }) => stepId === last.id);
		if (reason === undefined) expect(refusals.filter(({ stepId }) => stepId)).toEqual([]);
		else if (typeof reason === "string") expect(found?.reason).toContain(reason);
		else expect(found?.reason).toMatch(reason);
		expect(found?.reason ?? "").not.toContain("Nothing was done");
		if (note) expect(refusals.at(-1)?.reason).toMatch(note);
		if (row.live === false) return;
		const now = requireStep(last, new Map(), guild, denies);
		if (reason === undefined) expect(now).toBeUndefined();
		else expect(found?.reason).toStartWith(now ?? "not refused");
	});
});

test("a role that the job has created is checked when it is given, as any other", async () => {
	await using world = await startGuild((simulator) => above(simulator, "Staff"));
	const names = new Names(world.guild, world.simulator);
	const given = assign(names.user("zoe"), "+role/New");
	const ids = new Map([["+role/New", names.role("Staff")]]);
	expect(requireStep(given, ids, world.guild)).toContain("does not rank below the bot's highest role");
});

guildTest("a step that needs something which does not exist is refused before it is sent", async (world) => {
	const made = newWebhook("+channel/new", "news", ["+channel/new"]);
	expect(requireStep(made, new Map(), world.guild)).toBe("It needs channel/new, which does not exist.");
	const general = new Names(world.guild, world.simulator).channel("general");
	const ids = new Map([["+channel/new", general]]);
	expect(requireStep(made, ids, world.guild)).toBeUndefined();
});

guildTest("a running job ends its steps when the operator forbids apply_guild", async (world) => {
	const denies = (name: string) => name === "apply_guild";
	const role = newRole("Mods");
	expect(requireStep(role, new Map(), world.guild, denies)).toContain("does not allow apply_guild");
	expect(atOnce(refusalsOf([role], world.guild, world.state, denies))).toEqual([]);
});

test("a refusal names what is refused", async () => {
	await using world = await startGuild(without(Permission.ManageRoles));
	const names = new Names(world.guild, world.simulator);
	const steps = [
		newRole("Mods"),
		orderRoles({ [names.role("Regular")]: 1 }),
		assign(names.user("zoe"), names.role("Regular")),
	];
	const refusals = atOnce(refusalsOf(steps, world.guild, world.state));
	expect(refusals.map(({ subject }) => subject)).toEqual([
		"role Mods",
		"order of the roles",
		expect.stringMatching(/^role Role of member \d+$/),
	]);
});

/** The guild after someone has deleted all that can be deleted. */
const wiped: Change = (state) => ({
	...state,
	guild: {
		...state.guild,
		roles: state.guild.roles.filter(({ id, managed }) => managed || id === state.guild.id),
		emojis: [],
	},
	channels: [],
});

test("nothing is refused to an administrator who restores a wiped guild", async () => {
	await using world = await startGuild((simulator) => permit(simulator, Permission.Administrator));
	const state = wiped(world.state);
	const document = exportDocument(world.state);
	const { steps } = difference(document, state, { prune: true });
	expect(steps.filter(({ action }) => action === "create").length).toBe(7);
	expect(atOnce(refusalsOf(steps, world.guild, state))).toEqual([]);
});

guildTest("a bot that may do less restores what it can, and says what it cannot", async (world) => {
	const state = wiped(world.state);
	const document = exportDocument(world.state);
	const { steps } = difference(document, state, { prune: true });
	const refusals = atOnce(refusalsOf(steps, world.guild, state));
	expect(refusals.map(({ subject, reason }) => `${subject}: ${reason}`)).toEqual([
		expect.stringMatching(
			/^role Staff: The bot can only give and deny permissions that it has itself, and it lacks KICK_MEMBERS, MANAGE_MESSAGES\./,
		),
	]);
	const ids = new Set(steps.map(({ id }) => id));
	for (const { stepId = "" } of refusals) expect(ids.has(stepId)).toBe(true);
});

function send(
	{ client: { rest } }: Guild,
	method: ApiRequest["method"],
	path: `/${string}`,
	body: unknown,
): Promise<unknown> {
	if (method === "POST") return rest.post(path, { body });
	if (method === "PATCH") return rest.patch(path, { body });
	return method === "PUT" ? rest.put(path, { body }) : rest.delete(path);
}

const png =
	"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** Sends the steps that are not refused. Returns what Discord refuses of them. */
async function carryOut(
	guild: Guild,
	steps: readonly Step[],
	refused: ReadonlySet<string | undefined>,
): Promise<string[]> {
	const ids = new Map<string, string>();
	const failures: string[] = [];
	for (const step of steps) {
		if (refused.has(step.id) || step.needs.some((need) => !ids.has(need))) continue;
		const { method, path, body, picture } = step.request(ids);
		const filled = picture ? { ...(body as object), [picture.field]: png } : body;
		try {
			const made = (await send(guild, method, path, filled)) as { id: string } | undefined;
			if (step.placeholder && made) ids.set(step.placeholder, made.id);
		} catch (error) {
			failures.push(`${step.id}: ${error}`);
		}
	}
	return failures;
}

describe("Discord accepts every step that is not refused", () => {
	const most = everythingBut(Permission.Administrator);
	const bots: readonly [string, bigint][] = [
		["an administrator", Permission.Administrator],
		["all other permissions", most],
		["what a bot needs", enough],
		...[...bitsByName]
			.filter(([, bit]) => (enough & bit) !== 0n)
			.map(([name, bit]): [string, bigint] => [`all but ${name}`, most & ~bit]),
		["nothing", 0n],
	];

	test.each(bots)("of a bot with %s", async (_, permissions) => {
		await using world = await startGuild((simulator) => {
			permit(simulator, permissions);
			addMore(simulator);
		});
		const { guild, simulator, state } = world;
		const lounge = new Names(guild, simulator).channel("Lounge");
		const document = {
			...exportDocument(state),
			...changes,
			bans: [{ id: simulator.user("bob_the_baker").id }],
			categories: [
				...(changes.categories ?? []),
				{ name: "Closed", channels: [{ name: "Lounge", id: lounge, kind: "voice" as const }] },
			],
		};
		const { steps } = difference(document, state, { prune: true, fixedRoles: fixedRoles(guild, state) });
		const refusals = atOnce(refusalsOf(steps, world.guild, world.state));
		const refused = new Set(refusals.map(({ stepId }) => stepId));
		expect(await carryOut(world.guild, steps, refused)).toEqual([]);
	});

	test.each(many(12, (index) => index + 1))("of the random guild %d, with a random bot", async (seed) => {
		const random = seeded(seed);
		const isAdministrator = random.chance(0.2);
		let permissions = isAdministrator ? Permission.Administrator : 0n;
		for (const bit of bitsByName.values())
			if (bit !== Permission.Administrator && random.chance(0.95)) permissions |= bit;
		await using world = await startGuild((simulator) => {
			permit(simulator, permissions, Permission.ViewChannel);
			addMore(simulator);
			// Random guilds have a channel of this name elsewhere.
			for (const channel of simulator.guild("The Cooks").channels.values())
				if (channel.name === "general") simulator.world.channels.edit(channel, { name: "lobby" });
		});
		const { guild, simulator, state } = world;
		const document = randomGuild(random, {
			roles: 12,
			channels: 40,
			memberIds: ["zoe", "liwei"].map((name) => simulator.user(name).id),
			community: isAdministrator,
		});
		const { steps } = difference(document, state, { prune: true, fixedRoles: fixedRoles(guild, state) });
		const refusals = atOnce(refusalsOf(steps, guild, state));
		const refused = new Set(refusals.map(({ stepId }) => stepId));
		expect(steps.length).toBeGreaterThan(40);
		expect(await carryOut(guild, steps, refused)).toEqual([]);
	});

	function everythingBut(bits: bigint): bigint {
		return allBits & ~bits;
	}
});

const asCommunity = (simulator: Simulator) => {
	const guild = simulator.guild("The Cooks");
	const id = (name: string) => [...guild.channels.values()].find((one) => one.name === name)?.id ?? null;
	simulator.world.guilds.edit(guild, {
		features: ["COMMUNITY"],
		verification_level: 1,
		explicit_content_filter: 2,
		rules_channel_id: id("general"),
		public_updates_channel_id: id("staff"),
	});
};
const external = {
	name: "e",
	entity_type: "external",
	location: "here",
	scheduled_start_time: "2040-01-01T00:00:00.000Z",
	scheduled_end_time: "2040-01-02T00:00:00.000Z",
} as const;

type Left = readonly [name: string, error: string, document: Partial<GuildDocument>];

describe("Discord says why it refuses", () => {
	const outside: readonly Left[] = [
		[
			"a 251st role",
			"Maximum number of guild roles reached (250)",
			{ roles: many(249, (index) => ({ name: `r${index}` })) },
		],
		[
			"a 501st channel",
			"Maximum number of server channels reached (500)",
			{ channels: many(499, (index) => ({ name: `c${index}` })) },
		],
		[
			"a 51st channel of a category",
			"parent_id[CHANNEL_PARENT_MAX_CHANNELS]: Maximum number of channels in category reached (50)",
			{ categories: [{ name: "New", channels: many(51, (index) => ({ name: `c${index}` })) }] },
		],
		[
			"a 51st emoji",
			"Maximum number of emojis reached (50)",
			{ emojis: many(51, (index) => ({ name: `emoji${index}`, picture: `${"0".repeat(31)}1` })) },
		],
		[
			"a second AutoMod rule against spam",
			"Maximum number of rules with trigger type 3 is 1",
			{ automod: many(2, (index) => ({ name: `rule${index}`, trigger: "spam", actions: ["block_message"] })) },
		],
		[
			"a 101st event",
			"Maximum number of uncompleted guild scheduled events reached (100)",
			{ events: many(101, (index) => ({ ...external, name: `e${index}` })) },
		],
		[
			"a 16th webhook of a channel",
			"Maximum number of webhooks reached (15)",
			{ webhooks: many(16, (index) => ({ name: `w${index}`, channel: "general" })) },
		],
		[
			"a webhook named for Discord",
			'Username cannot contain "discord"',
			{ webhooks: [{ name: "Discord news", channel: "general" }] },
		],
		[
			"a bitrate above the boost level",
			"bitrate[NUMBER_TYPE_MAX]",
			{ channels: [{ name: "Loud", kind: "voice", bitrate: 128_000 }] },
		],
		[
			"a user limit above 99",
			"user_limit[NUMBER_TYPE_MAX]",
			{ channels: [{ name: "Full", kind: "voice", user_limit: 100 }] },
		],
		[
			"a topic above 1,024 characters",
			"topic[BASE_TYPE_MAX_LENGTH]",
			{ channels: [{ name: "long", topic: "x".repeat(1025) }] },
		],
		["a role icon without boosts", "This server needs more boosts", { roles: [{ name: "New", icon: "🔥" }] }],
		[
			"a gradient without boosts",
			"This server needs more boosts",
			{ roles: [{ name: "New", color: "#8E44AD to #11806A" }] },
		],
		[
			"a stage channel outside of communities",
			"Cannot execute action on this channel type",
			{ channels: [{ name: "new", kind: "stage" }] },
		],
		[
			"an announcement channel outside of communities",
			"type[BASE_TYPE_CHOICES]",
			{ channels: [{ name: "new", kind: "announcement" }] },
		],
		[
			"onboarding outside of communities",
			"Cannot enable onboarding, requirements are not met",
			{ onboarding: { enabled: true } },
		],
		[
			"a new community without verification",
			"verification_level[BASE_TYPE_CHOICES]: A community cannot have this value.",
			{
				settings: {
					community: true,
					verification_level: "NONE",
					explicit_content_filter: "ALL_MEMBERS",
					rules_channel: "general",
					public_updates_channel: "staff",
				},
			},
		],
		["an AFK channel for text", "afk_channel_id[CHANNEL_INVALID]", { settings: { afk_channel: "general" } }],
		["a system channel for voice", "system_channel_id[CHANNEL_INVALID]", { settings: { system_channel: "Lounge" } }],
		[
			"an event in the past",
			"Cannot schedule event in the past.",
			{ events: [{ ...external, scheduled_start_time: "2020-01-01T00:00:00.000Z" }] },
		],
		[
			"an event that ends before it starts",
			"The event must end after it starts.",
			{ events: [{ ...external, scheduled_end_time: "2039-01-01T00:00:00.000Z" }] },
		],
		[
			"an AutoMod rule against spam with a timeout",
			"Rules with trigger type 3 cannot have actions of type 3.",
			{ automod: [{ name: "rule", trigger: "spam", actions: ["timeout"], duration: "60s" }] },
		],
		[
			"an AutoMod rule for words that blocks interactions",
			"Rules with trigger type 1 cannot have actions of type 4.",
			{ automod: [{ name: "rule", trigger: "keyword", keyword_filter: ["a"], actions: ["block_member_interaction"] }] },
		],
	];
	const inCommunities: readonly Left[] = [
		[
			"a community without verification",
			"verification_level[BASE_TYPE_CHOICES]: A community cannot have this value.",
			{ settings: { verification_level: "NONE" } },
		],
		[
			"a community without a rules channel",
			"rules_channel_id[BASE_TYPE_REQUIRED]",
			{ settings: { rules_channel: "" } },
		],
		["a rules channel for voice", "rules_channel_id[CHANNEL_INVALID]", { settings: { rules_channel: "Lounge" } }],
		[
			"the deletion of a rules channel",
			"Cannot delete a channel required for Community guilds",
			{ channels: [], categories: [] },
		],
		[
			"a rules channel that becomes an announcement channel",
			"Community server channels must be text channels",
			{ categories: [{ name: "Talk", channels: [{ name: "general", kind: "announcement" }] }] },
		],
		[
			"onboarding with too few channels",
			"Cannot enable onboarding, requirements are not met",
			{ onboarding: { enabled: true, default_channels: ["general"] } },
		],
		[
			"onboarding with a hidden channel",
			"Onboarding channels must be readable by everyone",
			{ onboarding: { default_channels: ["staff"] } },
		],
	];
	const all = [
		...outside.map((row) => [...row, () => {}] as const),
		...inCommunities.map((row) => [...row, asCommunity] as const),
	];
	test.each(all)("%s", async (name, error, document, prepare) => {
		await using world = await startGuild((simulator) => {
			permit(simulator, Permission.Administrator, Permission.ViewChannel);
			prepare(simulator);
		});
		const { guild, state } = world;
		const { steps } = difference({ version: 1, ...document }, state, { prune: name.includes("deletion") });
		expect(atOnce(refusalsOf(steps, guild, state)).filter(({ stepId }) => stepId)).toEqual([]);
		expect((await carryOut(guild, steps, new Set())).join("\n")).toContain(error);
	});
});

/** Adds a guild's things that the demo lacks. */
function addMore(simulator: Simulator): void {
	const guild = simulator.guild("The Cooks");
	const { world } = simulator;
	world.channels.add(guild, {
		name: "Closed",
		type: ChannelType.GuildCategory,
		permission_overwrites: [{ id: guild.id, type: 0, allow: "0", deny: String(Permission.ViewChannel) }],
	});
	const role = world.roles.add(guild, { name: "Chefs" });
	above(simulator, role.name);
}

/** What a document changes in the demo guild. */
const changes: Partial<GuildDocument> = {
	settings: { description: "cooks", verification_level: "MEDIUM" },
	everyone: ["VIEW_CHANNEL", "SEND_MESSAGES"],
	roles: [
		{ name: "Newcomer", permissions: ["KICK_MEMBERS"] },
		{ name: "Mods", permissions: ["@everyone", "MANAGE_MESSAGES"] },
		{ name: "Staff", permissions: [] },
		{ name: "Regular", color: "#123456" },
	],
	channels: [
		{ name: "welcome", overwrites: [{ role: "Mods", deny: ["SEND_MESSAGES"] }] },
		{ name: "Radio", kind: "voice", bitrate: 96_000 },
	],
	categories: [
		{
			name: "Mods",
			overwrites: [
				{ role: "@everyone", deny: ["VIEW_CHANNEL"] },
				{ role: "Mods", allow: ["VIEW_CHANNEL"] },
			],
			channels: [{ name: "mod-chat" }, { name: "help", kind: "forum" }],
		},
		{ name: "Talk", channels: [{ name: "general", topic: "new" }] },
	],
	automod: [
		{
			name: "words",
			trigger: "keyword",
			keyword_filter: ["bad"],
			actions: ["block_message", "timeout"],
			duration: "60s",
		},
	],
	events: [{ name: "party", entity_type: "voice", channel: "Radio", scheduled_start_time: "2040-01-01T00:00:00.000Z" }],
	webhooks: [{ name: "news", channel: "general" }],
	members: [],
};

guildTest("roles are put in order although one of them cannot be created", async (world) => {
	const { guild, state } = world;
	const document: GuildDocument = {
		version: 1,
		roles: [
			{ name: "Newcomer" },
			{ name: "Mods", permissions: ["KICK_MEMBERS"] },
			{ name: "Staff" },
			{ name: "Regular" },
		],
	};
	const { steps } = difference(document, state, { prune: false, fixedRoles: new Set([botRole(world.simulator)]) });
	const refusals = atOnce(refusalsOf(steps, guild, state));
	expect(refusals.map(({ subject }) => subject)).toEqual(["role Mods"]);
	const refused = new Set(refusals.map(({ stepId }) => stepId));
	expect(await carryOut(guild, steps, refused)).toEqual([]);
	const roles = [...world.simulator.guild("The Cooks").roles.values()];
	expect(roles.sort((a, b) => b.position - a.position).map(({ name, position }) => `${position} ${name}`)).toEqual([
		"4 alpha",
		"3 Newcomer",
		"2 Staff",
		"1 Regular",
		"0 @everyone",
	]);
});

describe("the tools that do what a step does", () => {
	test("exist", () => {
		const known = new Set([...tools, ...settingTools].map(({ name }) => name));
		expect(namesInTable.filter((name) => !known.has(name))).toEqual([]);
	});

	const cases: readonly [Step, string[]][] = [
		[editChannel("1", {}, { fields: ["tags"] }), ["edit_channel"]],
		[editChannel("1", {}, { fields: ["category"] }), ["edit_channel", "move_channels"]],
		[setAccess("1", [], []), ["edit_channel", "set_channel_permissions"]],
		[newChannel("1"), ["create_channel"]],
		[assign("1", "2"), ["bulk_role_update"]],
		[ban("1"), ["ban"]],
	];
	test.each(cases)("%#", (made, expected) => {
		expect(toolsOf(made)).toEqual(expected);
	});

	test("are known for every step of a plan", () => {
		const kinds: Record<StepAction, readonly StepKind[]> = {
			create: ["role", "emoji", "category", "channel", "automod", "event", "webhook"],
			edit: [
				...(["settings", "everyone", "role", "emoji", "category", "channel", "automod", "event"] as const),
				...(["webhook", "welcome_screen", "onboarding"] as const),
			],
			delete: ["role", "emoji", "category", "channel", "automod", "event", "webhook"],
			order: ["role", "channel"],
			assign: ["member"],
			ban: ["ban"],
		};
		const pairs = Object.entries(kinds).flatMap(([action, all]) =>
			all.map((kind) => [action as StepAction, kind] as const),
		);
		const unknown = pairs.filter(([action, kind]) => toolsOf(step(action, kind, "x")).length === 0);
		expect(unknown).toEqual([]);
	});
});
