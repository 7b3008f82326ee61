// The table of test/bot/tool-table.test.ts: a row for every tool. It says how a call of it succeeds, and what stands in
// its way; the test does the rest. A row that lacks a kind of case does not compile.

import { AuditLogEvent, ChannelType, PermissionFlagsBits } from "discord.js";
import type { Guild, GuildChannel } from "../../src/simulator/entities.ts";
import type { TestWorld } from "../support/world.ts";

export type Args = Record<string, unknown>;

/** Where the rows' calls happen: the bot is in both guilds. */
export interface Scene {
	world: TestWorld;
	/** The bot's own guild. */
	guild: Guild;
	/** Another one. */
	other: Guild;
}

/** One thing that a tool can do. It is made anew for each case, and is done by nobody else. */
export interface Act {
	args: Args;
	/** The request that does it, as a fault matches it: "PUT /guilds/1/bans/2". */
	request: string;
	/** Whether it has been done, as the platform has it. */
	done(): boolean;
}

/** Why any id will do. */
interface Any {
	anyWillDo: string;
}

/** What becomes of an id that names nothing, and of one that names something in another guild. */
export interface IdCase {
	/** What the refusal of an id that names nothing says. */
	unknown: string | Any;
	foreign: ForeignCase | Any;
}

interface ForeignCase {
	/** Makes such a thing in the other guild. */
	id(scene: Scene): string;
	/** What the refusal says. */
	refusal: string;
	/** Who refuses: the bot, before anything about it is sent, or Discord, whom it is sent to below its channel. */
	refusedBy: "the bot" | "Discord";
}

interface CommonRow {
	/** Every argument that is an id, or a list of ids, but guild_id. */
	ids: Record<string, IdCase>;
}

/** A tool that answers from what Discord's Gateway has told. */
export interface ReadingRow extends CommonRow {
	effect: "reads";
	args(scene: Scene): Args;
	/** What its answer must contain. */
	answer(scene: Scene): string[];
}

export interface WritingRow extends CommonRow {
	effect: "writes";
	act(scene: Scene): Act;
	/** The audit log entry that shows the reason, for a tool that takes one. */
	reason: AuditLogEvent | "Discord takes none";
	/** A permission that it cannot do without, and where that is asked for. */
	needs: {
		permission: keyof typeof PermissionFlagsBits;
		name: string;
		in: "the channel" | "the guild";
	};
	/** What a dry run of a destructive tool says. */
	dryRun: RegExp | "not destructive";
}

export type Row = ReadingRow | WritingRow;

let made = 0;
/** A name that nothing else has. */
export function freshName(): string {
	made += 1;
	return `thing-${made}`;
}

export function newChannel({ world, guild }: Scene): GuildChannel {
	return world.simulator.world.addChannel(guild, { name: freshName() });
}

export function newMember({ world }: Scene, guild: Guild) {
	const user = world.simulator.world.addUser({ username: freshName() });
	return world.simulator.world.addMember(guild, user);
}

function newRole({ world }: Scene, guild: Guild) {
	return world.simulator.world.addRole(guild, { name: freshName() });
}

function written({ world }: Scene, channel: GuildChannel) {
	const author = world.simulator.world.users.get(
		world.simulator.user("ada").id,
	);
	if (!author) throw new Error("ada has an account");
	return world.simulator.world.addMessage(channel, author, {
		content: "a secret text",
	});
}

function foreignChannel({ world, other }: Scene): GuildChannel {
	return world.simulator.world.addChannel(other, { name: freshName() });
}

/** The bot looks for it, and refuses what it does not find in the guild. */
function looked(refusal: string, id: (scene: Scene) => string): IdCase {
	return {
		unknown: refusal,
		foreign: { id, refusal, refusedBy: "the bot" },
	};
}

/** A message stands below its channel in the path or the body: Discord finds none that is elsewhere. */
function foundByDiscord(refusal: string): IdCase {
	return {
		unknown: refusal,
		foreign: {
			id: (scene) => written(scene, foreignChannel(scene)).id,
			refusal,
			refusedBy: "Discord",
		},
	};
}

const anyId = (why: string): IdCase => ({
	unknown: { anyWillDo: why },
	foreign: { anyWillDo: why },
});

const channelId = looked(
	"There is no channel",
	(scene) => foreignChannel(scene).id,
);
const categoryId = looked(
	"There is no channel",
	({ world, other }) =>
		world.simulator.world.addChannel(other, {
			name: freshName(),
			type: ChannelType.GuildCategory,
		}).id,
);
const roleId = looked(
	"There is no role",
	(scene) => newRole(scene, scene.other).id,
);

export const table: Record<string, Row> = {
	list_guilds: {
		effect: "reads",
		ids: {},
		args: () => ({}),
		answer: ({ guild, other }) => [
			"2 guild(s):",
			`${guild.name} | ID: ${guild.id}`,
			`${other.name} | ID: ${other.id}`,
		],
	},
	list_members: {
		effect: "reads",
		ids: { after: anyId("it is a place in the order of ids, and no thing") },
		args: () => ({ limit: 1000 }),
		answer: ({ guild }) => [
			`${guild.members.size} of ${guild.members.size} member(s):`,
			...[...guild.members.keys()].map((id) => `| ID: ${id} |`),
		],
	},
	lookup_user_by_name: {
		effect: "reads",
		ids: {},
		args: () => ({ query: "mona" }),
		answer: ({ world }) => [
			"1 match(es):",
			`MONA LISA (@mona_lisa) | ID: ${world.simulator.user("mona_lisa").id}`,
		],
	},
	send_message: {
		effect: "writes",
		ids: {
			channel_id: channelId,
			reply_to: foundByDiscord("Unknown message (code 50035)"),
		},
		act(scene) {
			const { id } = newChannel(scene);
			return {
				args: { channel_id: id, content: "hello" },
				request: `POST /channels/${id}/messages`,
				done: () => scene.world.simulator.world.messages.in(id).length === 1,
			};
		},
		reason: "Discord takes none",
		needs: {
			permission: "SendMessages",
			name: "SEND_MESSAGES",
			in: "the channel",
		},
		dryRun: "not destructive",
	},
	delete_messages: {
		effect: "writes",
		ids: {
			channel_id: channelId,
			message_ids: foundByDiscord("Unknown Message (code 10008)"),
			author_id: anyId("what nobody wrote is nothing to delete"),
		},
		act(scene) {
			const channel = newChannel(scene);
			const messages = [written(scene, channel), written(scene, channel)];
			const { simulator } = scene.world;
			return {
				args: {
					channel_id: channel.id,
					message_ids: messages.map(({ id }) => id),
				},
				request: `POST /channels/${channel.id}/messages/bulk-delete`,
				done: () => simulator.world.messages.in(channel.id).length === 0,
			};
		},
		reason: AuditLogEvent.MessageBulkDelete,
		needs: {
			permission: "ManageMessages",
			name: "MANAGE_MESSAGES",
			in: "the channel",
		},
		dryRun: /^Would delete 2 message\(s\) from #thing-\d+ \(ID: \d+\)\.$/m,
	},
	create_channel: {
		effect: "writes",
		ids: { category_id: categoryId, private_to_role_ids: roleId },
		act({ guild }) {
			const name = freshName();
			return {
				args: { name },
				request: `POST /guilds/${guild.id}/channels`,
				done: () =>
					[...guild.channels.values()].some((one) => one.name === name),
			};
		},
		reason: AuditLogEvent.ChannelCreate,
		needs: {
			permission: "ManageChannels",
			name: "MANAGE_CHANNELS",
			in: "the guild",
		},
		dryRun: "not destructive",
	},
	edit_channel: {
		effect: "writes",
		ids: { channel_id: channelId, category_id: categoryId },
		act(scene) {
			const channel = newChannel(scene);
			return {
				args: { channel_id: channel.id, topic: "changed" },
				request: `PATCH /channels/${channel.id}`,
				done: () => channel.topic === "changed",
			};
		},
		reason: AuditLogEvent.ChannelUpdate,
		needs: {
			permission: "ManageChannels",
			name: "MANAGE_CHANNELS",
			in: "the channel",
		},
		dryRun: "not destructive",
	},
	set_channel_permissions: {
		effect: "writes",
		ids: { channel_id: channelId, target_id: roleId },
		act(scene) {
			const channel = newChannel(scene);
			const role = newRole(scene, scene.guild);
			return {
				args: {
					channel_id: channel.id,
					target_type: "role",
					target_id: role.id,
					deny_names: ["SEND_MESSAGES"],
				},
				request: `PUT /channels/${channel.id}/permissions/${role.id}`,
				done: () =>
					channel.permission_overwrites.some(
						({ id, deny }) =>
							id === role.id &&
							deny === String(PermissionFlagsBits.SendMessages),
					),
			};
		},
		reason: AuditLogEvent.ChannelOverwriteCreate,
		needs: {
			permission: "ManageRoles",
			name: "MANAGE_ROLES",
			in: "the channel",
		},
		dryRun: "not destructive",
	},
	edit_role: {
		effect: "writes",
		ids: { role_id: roleId },
		act(scene) {
			const role = newRole(scene, scene.guild);
			return {
				args: { role_id: role.id, name: "changed" },
				request: `PATCH /guilds/${scene.guild.id}/roles/${role.id}`,
				done: () => role.name === "changed",
			};
		},
		reason: AuditLogEvent.RoleUpdate,
		needs: { permission: "ManageRoles", name: "MANAGE_ROLES", in: "the guild" },
		dryRun: "not destructive",
	},
	ban: {
		effect: "writes",
		ids: {
			user_id: {
				unknown: "Discord has no user",
				foreign: { anyWillDo: "people who are not members can be banned, too" },
			},
		},
		act(scene) {
			const { guild } = scene;
			const { user } = newMember(scene, guild);
			return {
				args: { user_id: user.id },
				request: `PUT /guilds/${guild.id}/bans/${user.id}`,
				done: () => guild.bans.has(user.id) && !guild.members.has(user.id),
			};
		},
		reason: AuditLogEvent.MemberBanAdd,
		needs: { permission: "BanMembers", name: "BAN_MEMBERS", in: "the guild" },
		dryRun: /^Would ban thing-\d+ \(@thing-\d+, ID: \d+\)\.$/m,
	},
	list_recent_tool_calls: {
		effect: "reads",
		ids: {},
		args: () => ({ before: "2000-01-01T00:00:00Z" }),
		answer: () => ["No call of a tool is on record that matches."],
	},
};
