// Channels that move into another category, by every front end: edit_channel, move_channels, and a guild document.

import { expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { shareWorld } from "../../support/shared-world.ts";
import { roleNamed, roleOverwrite, type TestWorld, writes } from "../../support/world.ts";

const { AddReactions, ManageRoles, ReadMessageHistory, SendMessages, ViewChannel } = PermissionFlagsBits;

const shared = shareWorld();

interface Move {
	world: TestWorld;
	channel: GuildChannel;
	category: GuildChannel;
	lock?: boolean | undefined;
}

const lockOf = ({ lock }: Move) => (lock === undefined ? {} : { lock_permissions: lock });

async function moveBy(move: Move, tool: string, args: object): Promise<string> {
	return (await move.world.call(tool, { ...args, ...lockOf(move) })).text;
}

/** Each front end moves the channel and returns all that it says. */
const frontEnds: Record<string, (move: Move) => Promise<string>> = {
	edit_channel: (move) => moveBy(move, "edit_channel", { channel_id: move.channel.id, category_id: move.category.id }),
	"edit_channel below another": (move) =>
		moveBy(move, "edit_channel", { channel_id: move.channel.id, below_channel_id: move.category.id }),
	move_channels: (move) =>
		moveBy(move, "move_channels", { channel_ids: [move.channel.id], category_id: move.category.id }),
	async "a document"(move) {
		const { channel, category, world } = move;
		const inside = { id: channel.id, name: channel.name, ...lockOf(move) };
		const planned = await world.call("plan_guild", {
			document: { categories: [{ id: category.id, name: category.name, channels: [inside] }] },
		});
		const [, plan_hash = ""] = /plan_hash=(\w+)/.exec(planned.text) ?? [];
		expect(writes(world)).toEqual([]);
		const applied = await world.call("apply_guild", { plan_hash });
		return `${planned.text}\n${applied.text}`;
	},
};

type Access = Record<string, { allow?: bigint; deny?: bigint }>;

interface Case {
	own?: Access;
	/** The overwrites of its old category; undefined if it is in none. */
	from?: Access;
	to: Access;
	lock?: boolean;
	/** Permissions that the bot lacks guild-wide. */
	lacks?: bigint;
	/** What becomes of it. */
	access: "follows" | "keeps" | "stays";
	/** What the front end says. */
	says?: RegExp;
	/** What it does not say. */
	never?: RegExp;
}

const open: Access = {};
const quiet: Access = { "@everyone": { deny: SendMessages } };
const closed: Access = {
	"@everyone": { deny: ViewChannel },
	Staff: { allow: ViewChannel },
	alpha: { allow: ViewChannel },
};

const cases: Record<string, Case> = {
	"without overwrites takes those of a private category": {
		to: closed,
		access: "follows",
		says: /gets the access of its category|access "as its category"/,
		never: /\bgain/,
	},
	"without overwrites takes those of a read-only category": { to: quiet, access: "follows", never: /\bgain/ },
	"synced with its old category takes those of the new one": { own: quiet, from: quiet, to: closed, access: "follows" },
	"with overwrites of its own keeps them": {
		own: { Regular: { deny: AddReactions } },
		to: closed,
		access: "keeps",
		says: /keeps its own/,
	},
	"with overwrites of its own takes others when asked": { own: quiet, to: closed, lock: true, access: "follows" },
	"keeps its own access when asked": { to: closed, lock: false, access: "keeps", says: /keeps its own/ },
	"does not show itself to everybody, and names who would gain": {
		own: closed,
		from: closed,
		to: open,
		access: "keeps",
		says: /keeps its own.*would gain access: "?@everyone"? \(VIEW_CHANNEL, READ_MESSAGE_HISTORY\).*lock_permissions: true/,
	},
	"shows itself to everybody when asked, and names who gains": {
		own: closed,
		from: closed,
		to: open,
		lock: true,
		access: "follows",
		says: /gain access: "?@everyone"? \(VIEW_CHANNEL, READ_MESSAGE_HISTORY\)/,
	},
	"does not show itself to one role, and names it": {
		own: { ...closed, Regular: { deny: ReadMessageHistory } },
		from: { ...closed, Regular: { deny: ReadMessageHistory } },
		to: { ...closed, Regular: { allow: ViewChannel } },
		access: "keeps",
		says: /would gain access: "?@?Regular"?.* \(VIEW_CHANNEL, READ_MESSAGE_HISTORY\)/,
		never: /gain access: [^\n]*@everyone/,
	},
	"stays where the bot does not see the category": {
		to: { "@everyone": { deny: ViewChannel } },
		access: "stays",
		says: /cannot see/,
	},
	"stays where the bot would lose what it needs to undo it": {
		own: { alpha: { allow: ManageRoles } },
		from: { alpha: { allow: ManageRoles } },
		to: quiet,
		access: "stays",
		says: /take the overwrite with MANAGE_ROLES in #place.* from the bot.*lock_permissions: false/s,
	},
	"moves without the sight of the bot at stake when asked": {
		to: { Staff: { allow: SendMessages } },
		lock: false,
		access: "keeps",
	},
	"stays where the bot lacks Manage Roles": {
		to: quiet,
		lacks: ManageRoles,
		access: "stays",
		says: /lacks MANAGE_ROLES.*lock_permissions: false/s,
	},
	"moves without Manage Roles if it keeps its access": { to: quiet, lacks: ManageRoles, lock: false, access: "keeps" },
};

test.each(Object.keys(frontEnds).flatMap((frontEnd) => Object.keys(cases).map((name) => [frontEnd, name] as const)))(
	"by %s a channel %s",
	async (frontEnd, name) => {
		const { own = {}, from, to, lock, lacks = 0n, ...expected } = cases[name] as Case;
		const world = await shared();
		const { guild, simulator } = world;
		const { channels, roles } = simulator.world;
		const listOf = (access: Access) =>
			Object.entries(access).map(([role, { allow = 0n, deny = 0n }]) =>
				roleOverwrite(role === "@everyone" ? guild.id : roleNamed(world, role).id, { allow, deny }),
			);
		const add = (name: string, type: 0 | 4, access: Access, parent?: string) =>
			channels.add(guild, { name, type, parent_id: parent ?? null, permission_overwrites: listOf(access) });
		const category = ChannelType.GuildCategory;
		const old = from && add("Old", category, from);
		const fresh = add("New", category, to);
		const channel = add("place", ChannelType.GuildText, own, old?.id);
		const role = roleNamed(world, "alpha");
		const { permissions } = role;
		roles.edit(guild, role, { permissions: String(BigInt(permissions) & ~lacks) });
		await world.heard();
		const text = await frontEnds[frontEnd]?.({ world, channel, category: fresh, lock });
		roles.edit(guild, role, { permissions });
		const parent = expected.access === "stays" ? (old?.id ?? null) : fresh.id;
		const access = expected.access === "follows" ? to : own;
		expect({ text, parent: channel.parent_id }).toEqual({ text, parent });
		expect({ text, has: channel.permission_overwrites }).toEqual({ text, has: expect.arrayContaining(listOf(access)) });
		expect(channel.permission_overwrites).toHaveLength(listOf(access).length);
		if (expected.says) expect(text).toMatch(expected.says);
		if (expected.never) expect(text).not.toMatch(expected.never);
		// The category and the access change in one request.
		const changing = writes(world).filter((one) => !one.endsWith("/channels"));
		expect(changing.length).toBeLessThanOrEqual(1);
		if (expected.access === "stays") expect(writes(world)).toEqual([]);
	},
);
