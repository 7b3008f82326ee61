// The table of actions: how an order of each succeeds, what Discord and the record then show, and what stands in its way.
// The tests try each row through each front end.

import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { CaseAction } from "../../../src/bot/tool/case-record.ts";
import type { Member } from "../../../src/simulator/world/state/entities.ts";
import type { Permission } from "../tool-rows/scene.ts";
import { type Args, botUser, newChannel, newMember, newRole, newSpeaker } from "../tool-rows/scene.ts";
import { type ActionScene, bitsOf } from "./action-world.ts";

/** An order that the bot can carry out, made anew for each test. */
export interface Made {
	/** The tool's arguments, without `guild_id`. */
	args: Args;
	/** The request that does it, in the form that faults match. Undefined: only the record shows it. */
	request: string | undefined;
	/** Whether Discord shows that it is done. */
	done(): boolean;
	/** The people to whom it is done. */
	users: readonly string[];
}

export interface ActionRow {
	/** Name of the action. */
	action: string;
	/** Name of the tool that the values of the order choose. */
	tool: string;
	/** How the record names it. */
	recordedAs: CaseAction;
	/** Makes an order about this many people. */
	make(scene: ActionScene, count?: number): Made | Promise<Made>;
	/** Whether it changes the whole guild, for which the tests then take one with few channels. */
	isGuildWide?: true;
	/** What people type for an option where it differs from the tool's argument. */
	typed?: Readonly<Record<string, string>>;
	/** The same for chat commands alone. */
	typedInChat?: Readonly<Record<string, string>>;
	/** What person and bot need. */
	needs: Permission;
	/** Whether the bot needs it, too. Default: true. */
	botNeeds?: false;
	/** What must rank below person and bot. */
	below?: "the member" | "the role";
	/** The argument with an id that may be wrong, and part of the answer. */
	unknown?: {
		argument: string;
		answer: string;
		/** What people read instead. */
		people?: string;
		/** Whether the id is that of somebody outside the guild. Otherwise nothing has it, and nobody can pick it. */
		isStranger?: true;
	};
	/** Whether the bot goes on until it is done if the outcome of the request is unknown. */
	finishes?: true;
	/** Whether people cannot write in the channel that it is about. */
	isSilent?: true;
	/** Why a front end has another text than the others. */
	ownText?: { frontEnd: string; why: string };
}

const stranger = (answer = "is not a member", people = "Not on this server") => ({
	argument: "user_ids",
	answer,
	people,
	isStranger: true as const,
});

const nobody = { argument: "user_ids", answer: "no user", people: "Discord does not know <@" };

/** Several members, and the request about the first of them. */
function members(
	scene: ActionScene,
	count: number,
	request: (id: string) => string,
	isDone: (member: Member) => boolean,
): Made {
	const made = Array.from({ length: count }, () => newMember(scene, scene.guild));
	const ids = made.map(({ user }) => user.id);
	return { args: { user_ids: ids }, request: request(ids[0] ?? ""), done: () => made.every(isDone), users: ids };
}

const memberOf = ({ guild }: ActionScene) => `/guilds/${guild.id}/members`;
const banOf = ({ guild }: ActionScene) => `/guilds/${guild.id}/bans`;

function banned(scene: ActionScene, count: number): Made {
	return members(
		scene,
		count,
		(id) => `PUT ${banOf(scene)}/${id}`,
		({ user }) => scene.guild.bans.has(user.id),
	);
}

function withRole(scene: ActionScene, count: number, has: boolean): Made {
	const { guild, world } = scene;
	const role = newRole(scene, guild);
	const made = members(
		scene,
		count,
		(id) => `${has ? "DELETE" : "PUT"} ${memberOf(scene)}/${id}/roles/${role.id}`,
		({ roles }) => roles.includes(role.id) !== has,
	);
	for (const id of made.users) {
		const member = guild.members.get(id);
		if (has && member) world.simulator.world.members.edit(guild, member, { roles: [role.id] });
	}
	return { ...made, args: { ...made.args, role_id: role.id } };
}

function speakers(scene: ActionScene, count: number, to: string | undefined) {
	const made = Array.from({ length: count }, () => newSpeaker(scene, scene.guild));
	const ids = made.map(({ id }) => id);
	return {
		args: { user_ids: ids },
		request: `PATCH ${memberOf(scene)}/${ids[0]}`,
		done: () => ids.every((id) => (scene.guild.voiceStates.get(id)?.channel_id ?? undefined) === to),
		users: ids,
	};
}

/** A channel whose overwrites let the bot write whatever is denied to everyone. */
function lockable(scene: ActionScene): Made {
	const channel = newChannel(scene);
	const { channels } = scene.world.simulator.world;
	const everyone = scene.guild.id;
	const { SendMessages } = PermissionFlagsBits;
	channels.setOverwrite(channel, {
		id: botUser(scene.world).id,
		type: 1,
		deny: "0",
		allow: String(
			bitsOf([
				...(["SendMessages", "SendMessagesInThreads", "AddReactions"] as const),
				...(["CreatePublicThreads", "CreatePrivateThreads"] as const),
			]),
		),
	});
	const denied = () =>
		(BigInt(channel.permission_overwrites.find(({ id }) => id === everyone)?.deny ?? 0) & SendMessages) !== 0n;
	return {
		args: { channel_ids: [channel.id] },
		request: `PUT /channels/${channel.id}/permissions/${everyone}`,
		done: denied,
		users: [],
	};
}

/** Members about whom there is then a case, and nothing else on Discord. */
function recorded(scene: ActionScene, count: number, args: Args): Made {
	const made = members(
		scene,
		count,
		() => "",
		({ user }) => scene.hasCase(user.id),
	);
	return { ...made, args: { ...made.args, ...args }, request: undefined };
}

/** Two messages of a new member in a new channel, to be deleted by a tool that chooses them by `args`. */
function written(scene: ActionScene, args: (authorId: string) => Args): Made {
	const { guild, world } = scene;
	const { messages } = world.simulator.world;
	const channel = newChannel(scene);
	const { user } = newMember(scene, guild);
	for (const content of ["one", "two"]) messages.add(channel, user, { content });
	return {
		args: { channel_ids: [channel.id], ...args(user.id) },
		request: `POST /channels/${channel.id}/messages/bulk-delete`,
		done: () => messages.in(channel.id).length === 0,
		users: [user.id],
	};
}

/** Calls a tool as the holder of the root key, to prepare an order. */
async function byRoot({ world, guild }: ActionScene, tool: string, args: Args): Promise<void> {
	// The bot has to hear of what was made before.
	await world.heard();
	const { text, isError } = await world.mcp.call(tool, { ...args, guild_id: guild.id });
	if (isError) throw new Error(text);
}

/** Turning raid mode on or off, whichever it is not. */
async function raid(scene: ActionScene, mode: "on" | "off"): Promise<Made> {
	const { guild } = scene;
	const isOn = () => guild.incidents_data?.invites_disabled_until != null;
	if (isOn() === (mode === "on")) await byRoot(scene, "raid_mode", { mode: mode === "on" ? "off" : "on" });
	return {
		args: { mode },
		// The work goes on after a lost response, as test/bot/moderation/raid shows.
		request: undefined,
		done: () => isOn() === (mode === "on"),
		users: [],
	};
}

export const actionRows: Record<string, ActionRow> = {
	ban: {
		action: "ban",
		tool: "ban",
		recordedAs: "ban",
		make: (scene, count = 1) => banned(scene, count),
		needs: "BanMembers",
		below: "the member",
		unknown: nobody,
		typedInChat: { duration: "forever" },
		ownText: { frontEnd: "chat command", why: "it asks for a duration" },
	},
	"temporary ban": {
		action: "ban",
		tool: "temp_ban",
		recordedAs: "temp_ban",
		make(scene, count = 1) {
			const made = banned(scene, count);
			return { ...made, args: { ...made.args, duration: "3d" } };
		},
		finishes: true,
		needs: "BanMembers",
		below: "the member",
		unknown: nobody,
	},
	unban: {
		action: "unban",
		tool: "unban",
		recordedAs: "unban",
		make(scene, count = 1) {
			const made = banned(scene, count);
			const { guild, world } = scene;
			for (const id of made.users) {
				const user = guild.members.get(id)?.user;
				if (user) world.simulator.world.bans.add(guild, user);
			}
			return {
				...made,
				request: made.request?.replace("PUT", "DELETE"),
				done: () => made.users.every((id) => !guild.bans.has(id)),
			};
		},
		needs: "BanMembers",
		unknown: stranger("not banned", "Not banned"),
	},
	kick: {
		action: "kick",
		tool: "kick",
		recordedAs: "kick",
		make: (scene, count = 1) =>
			members(
				scene,
				count,
				(id) => `DELETE ${memberOf(scene)}/${id}`,
				({ user }) => !scene.guild.members.has(user.id),
			),
		needs: "KickMembers",
		below: "the member",
		unknown: stranger(),
	},
	timeout: {
		action: "timeout",
		tool: "timeout",
		recordedAs: "timeout",
		make(scene, count = 1) {
			const made = members(
				scene,
				count,
				(id) => `PATCH ${memberOf(scene)}/${id}`,
				(member) => member.communication_disabled_until !== null,
			);
			return { ...made, args: { ...made.args, duration: "10m" } };
		},
		needs: "ModerateMembers",
		below: "the member",
		unknown: stranger(),
	},
	untimeout: {
		action: "untimeout",
		tool: "remove_timeout",
		recordedAs: "remove_timeout",
		make(scene, count = 1) {
			const made = members(
				scene,
				count,
				(id) => `PATCH ${memberOf(scene)}/${id}`,
				(member) => member.communication_disabled_until === null,
			);
			for (const id of made.users) {
				const member = scene.guild.members.get(id);
				if (!member) continue;
				scene.world.simulator.world.members.edit(scene.guild, member, {
					communication_disabled_until: "2099-01-01T00:00:00.000Z",
				});
			}
			return made;
		},
		needs: "ModerateMembers",
		below: "the member",
		unknown: stranger(),
	},
	nickname: {
		action: "nick",
		tool: "set_nickname",
		recordedAs: "nickname",
		make(scene) {
			const [id = ""] = members(
				scene,
				1,
				() => "",
				() => true,
			).users;
			return {
				args: { user_ids: id, nickname: "Chef" },
				request: `PATCH ${memberOf(scene)}/${id}`,
				done: () => scene.guild.members.get(id)?.nick === "Chef",
				users: [id],
			};
		},
		needs: "ManageNicknames",
		below: "the member",
		unknown: stranger(),
	},
	"giving a role": {
		action: "role add",
		tool: "bulk_role_update",
		recordedAs: "add_role",
		make(scene, count = 1) {
			const made = withRole(scene, count, false);
			return { ...made, args: { ...made.args, action: "add" } };
		},
		needs: "ManageRoles",
		below: "the role",
		unknown: { argument: "role_id", answer: "no role", people: "no such role" },
	},
	"taking a role": {
		action: "role remove",
		tool: "bulk_role_update",
		recordedAs: "remove_role",
		make(scene, count = 1) {
			const made = withRole(scene, count, true);
			return { ...made, args: { ...made.args, action: "remove" } };
		},
		needs: "ManageRoles",
		below: "the role",
		unknown: { argument: "role_id", answer: "no role", people: "no such role" },
	},
	move: {
		action: "move",
		tool: "edit_voice_members",
		recordedAs: "move",
		make(scene, count = 1) {
			const to = newChannel(scene, ChannelType.GuildVoice);
			const made = speakers(scene, count, to.id);
			return { ...made, args: { ...made.args, channel_id: to.id } };
		},
		needs: "MoveMembers",
		unknown: stranger(),
	},
	disconnect: {
		action: "disconnect",
		tool: "edit_voice_members",
		recordedAs: "disconnect",
		make(scene, count = 1) {
			const made = speakers(scene, count, undefined);
			return { ...made, args: { ...made.args, channel_id: "" } };
		},
		needs: "MoveMembers",
		unknown: stranger(),
	},
	lock: {
		action: "lock",
		tool: "lock_channel",
		recordedAs: "lock",
		make: (scene) => lockable(scene),
		needs: "ManageRoles",
		unknown: { argument: "channel_ids", answer: "no channel", people: "no such channel" },
	},
	unlock: {
		action: "unlock",
		tool: "lock_channel",
		recordedAs: "unlock",
		async make(scene) {
			const made = lockable(scene);
			await byRoot(scene, "lock_channel", made.args);
			return {
				...made,
				args: { ...made.args, unlock: true },
				request: made.request?.replace("PUT", "*"),
				done: () => !made.done(),
			};
		},
		isSilent: true,
		needs: "ManageRoles",
		unknown: { argument: "channel_ids", answer: "no channel", people: "no such channel" },
	},
	warn: {
		action: "warn",
		tool: "warn_member",
		recordedAs: "warn",
		make: (scene, count = 1) => recorded(scene, count, { reason: "rude" }),
		needs: "ModerateMembers",
		botNeeds: false,
		below: "the member",
		unknown: stranger(),
	},
	note: {
		action: "note",
		tool: "note_member",
		recordedAs: "note",
		make: (scene, count = 1) => recorded(scene, count, { note: "new here" }),
		needs: "ModerateMembers",
		botNeeds: false,
		below: "the member",
		unknown: nobody,
	},
	"slow mode": {
		action: "slowmode",
		tool: "edit_channel",
		recordedAs: "slow_mode",
		make(scene) {
			const channel = newChannel(scene);
			return {
				args: { channel_id: channel.id, slowmode: "30s" },
				request: `PATCH /channels/${channel.id}`,
				done: () => channel.rate_limit_per_user === 30,
				users: [],
			};
		},
		typed: { interval: "30s" },
		needs: "ManageChannels",
		unknown: { argument: "channel_id", answer: "no channel", people: "no such channel" },
	},
};

const purges: Record<string, (authorId: string) => Args> = {
	latest: () => ({ count: 2 }),
	user: (id) => ({ user_ids: [id], after: "1h" }),
	joined: () => ({ joined_after: "1h" }),
};

for (const [name, purge] of Object.entries(purges))
	actionRows[`purge ${name}`] = {
		make: (scene) => written(scene, purge),
		action: `purge ${name}`,
		tool: "purge",
		recordedAs: "purge",
		needs: "ManageMessages",
		unknown: { argument: "channel_ids", answer: "no channel", people: "no such channel" },
		isSilent: true,
	};

for (const mode of ["on", "off"] as const)
	actionRows[`raid mode ${mode}`] = {
		action: `raid ${mode}`,
		tool: "raid_mode",
		recordedAs: `raid_${mode}`,
		make: (scene) => raid(scene, mode),
		isGuildWide: true,
		needs: "ManageGuild",
	};

/** Actions that change nothing to which a case belongs, and why they have no row. */
export const withoutRow: Record<string, string> = {
	banlist: "it only reads",
	"raid status": "it only reads",
	case: "it only reads",
	cases: "it only reads",
	"edit-case": "the case has a history of its own",
	"delete-case": "the case has a history of its own",
};
