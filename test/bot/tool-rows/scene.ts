// What a row of the tools' table says, and what rows of several nouns need: things of the simulated guild, made anew for
// each case, and what becomes of ids that name nothing or something elsewhere.

import {
	type AuditLogEvent,
	ChannelType,
	type PermissionFlagsBits,
} from "discord.js";
import { moderatorPermissions } from "../../../src/simulator/seed.ts";
import type {
	Channel,
	Guild,
	GuildChannel,
	GuildChannelType,
	User,
} from "../../../src/simulator/world/state/entities.ts";
import { startWorld, type TestWorld } from "../../support/world.ts";

export type Args = Record<string, unknown>;

/** Where the rows' calls happen: the bot is in both guilds. */
export interface Scene {
	world: TestWorld;
	/** The bot's own guild. */
	guild: Guild;
	/** Another one. */
	other: Guild;
}

/** A world in which the bot is in both guilds. */
export async function startScene(): Promise<Scene & AsyncDisposable> {
	const world = await startWorld();
	const { simulator } = world;
	const other = simulator.guild("The Bakers");
	simulator.world.members.add(other, userOf(world.simulator, "alpha"), {
		botPermissions: moderatorPermissions,
	});
	await world.heard();
	return {
		world,
		guild: world.guild,
		other,
		[Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
	};
}

function userOf({ world, user }: Scene["world"]["simulator"], name: string) {
	const found = world.users.get(user(name).id);
	if (!found) throw new Error(`${name} has an account`);
	return found;
}

/** One thing that a tool can do. It is made anew for each case, and is done by nobody else. */
export interface Act {
	args: Args;
	/** The request that does it, as a fault matches it: "PUT /guilds/1/bans/2". */
	request: string;
	/** Whether it has been done, as the platform has it. */
	done(): boolean;
	/** The channel that a permission is asked for in, where it is not the one that `channel_id` names. */
	channel?: string;
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
	/**
	 * Who refuses: the bot, before anything about it is sent; the bot, which has asked Discord what it is; or Discord, whom
	 * it is sent to below its channel.
	 */
	refusedBy: "the bot" | "the bot, which asks" | "Discord";
}

interface CommonRow {
	/** Every argument that is an id, a list of ids or a code, but guild_id. */
	ids: Record<string, IdCase>;
}

/** A tool that answers from what Discord's Gateway has told. */
export interface ReadingRow extends CommonRow {
	effect: "reads";
	args(scene: Scene): Args;
	/** What its answer must contain. */
	answer(scene: Scene): string[];
}

type Permission = keyof typeof PermissionFlagsBits;

/** What a tool cannot do without, and where that is asked for. */
interface Need {
	permission: Permission;
	name: string;
	in: "the channel" | "the guild";
	/** What it needs there as well, whatever its arguments, or `with` some more of them. */
	also?: readonly (Permission | { permission: Permission; with: Args })[];
}

/** A tool that asks Discord, and changes nothing. */
export interface AskingRow extends CommonRow {
	effect: "asks";
	/** What it asks about is made anew for each case. */
	ask(scene: Scene): Ask;
	needs: Need | "no permission";
}

export interface Ask {
	args: Args;
	/** The request that brings the answer, as a fault matches it. */
	request: string;
	/** What its answer must contain. */
	answer: string[];
	/** The channel that a permission is asked for in, where it is not the one that `channel_id` names. */
	channel?: string;
}

export interface WritingRow extends CommonRow {
	effect: "writes";
	act(scene: Scene): Act;
	/** The audit log entry that shows the reason, for a tool that takes one. */
	reason: AuditLogEvent | "Discord takes none";
	needs: Need | "no permission";
	/** What a dry run of a destructive tool says. */
	dryRun: RegExp | "not destructive";
}

export type Row = ReadingRow | AskingRow | WritingRow;

let made = 0;
/** A name that nothing else has. */
export function freshName(): string {
	made += 1;
	return `thing-${made}`;
}

export function newChannel(
	{ world, guild }: Scene,
	type: GuildChannelType = ChannelType.GuildText,
): GuildChannel {
	return world.simulator.world.channels.add(guild, { name: freshName(), type });
}

/** Someone in a new voice channel. */
export function newSpeaker(scene: Scene, guild: Guild) {
	const member = newMember(scene, guild);
	const channel = newChannel({ ...scene, guild }, ChannelType.GuildVoice);
	scene.world.simulator.world.voice.join(channel, member);
	return { ...member.user, member, channel };
}

export function newMember({ world }: Scene, guild: Guild) {
	const user = world.simulator.world.users.add({ username: freshName() });
	return world.simulator.world.members.add(guild, user);
}

export function newRole({ world }: Scene, guild: Guild) {
	return world.simulator.world.roles.add(guild, { name: freshName() });
}

export function written({ world }: Scene, channel: GuildChannel) {
	return world.simulator.world.messages.add(channel, adaIn(world), {
		content: "a secret text",
	});
}

export function adaIn({ simulator }: TestWorld): User {
	const user = simulator.world.users.get(simulator.user("ada").id);
	if (!user) throw new Error("ada has an account");
	return user;
}

/** A message that the bot wrote in a channel, or directly. */
export function writtenByBot({ world }: Scene, channel: Channel) {
	return world.simulator.world.messages.add(channel, botUser(world), {
		content: "said by the bot",
	});
}

export function botUser({ simulator }: TestWorld): User {
	const user = simulator.world.users.get(simulator.bot("alpha").id);
	if (!user) throw new Error("alpha has an account");
	return user;
}

/** A new member of the guild, with whom the bot has begun to talk directly. */
export function newTalk(scene: Scene) {
	const { user } = newMember(scene, scene.guild);
	const { world } = scene.world.simulator;
	return { user, channel: world.channels.openDm(botUser(scene.world), user) };
}

export function foreignChannel({ world, other }: Scene): GuildChannel {
	return world.simulator.world.channels.add(other, { name: freshName() });
}

/** The bot looks for it, and refuses what it does not find in the guild. */
export function looked(refusal: string, id: (scene: Scene) => string): IdCase {
	return {
		unknown: refusal,
		foreign: { id, refusal, refusedBy: "the bot" },
	};
}

/** The bot asks Discord for it, and refuses what is not in the guild. */
export function lookedFor(
	refusal: string,
	id: (scene: Scene) => string,
): IdCase {
	return {
		unknown: refusal,
		foreign: { id, refusal, refusedBy: "the bot, which asks" },
	};
}

/** A message stands below its channel in the path or the body: Discord finds none that is elsewhere. */
export function foundByDiscord(refusal: string): IdCase {
	return {
		unknown: refusal,
		foreign: {
			id: (scene) => written(scene, foreignChannel(scene)).id,
			refusal,
			refusedBy: "Discord",
		},
	};
}

export const memberId = looked(
	"is not a member of the guild",
	(scene) => newMember(scene, scene.other).user.id,
);
export const messageId = foundByDiscord("Unknown Message (code 10008)");
export const anyId = (why: string): IdCase => ({
	unknown: { anyWillDo: why },
	foreign: { anyWillDo: why },
});

export const channelId = looked(
	"There is no channel",
	(scene) => foreignChannel(scene).id,
);
export const categoryId = looked(
	"There is no channel",
	({ world, other }) =>
		world.simulator.world.channels.add(other, {
			name: freshName(),
			type: ChannelType.GuildCategory,
		}).id,
);
export const roleId = looked(
	"There is no role",
	(scene) => newRole(scene, scene.other).id,
);
export const voiceChannelId = looked(
	"There is no channel",
	(scene) =>
		newChannel({ ...scene, guild: scene.other }, ChannelType.GuildVoice).id,
);
