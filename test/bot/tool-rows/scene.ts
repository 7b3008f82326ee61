// The types of rows in the tools' table, and what rows of several nouns need: objects in the simulated guild, created anew
// for each case, and the results for unknown and foreign ids.

import { type AuditLogEvent, ChannelType, type PermissionFlagsBits } from "discord.js";
import type { Channel, Guild, GuildChannel, GuildChannelType } from "../../../src/simulator/world/state/entities.ts";
import { addToBakers, startWorld, type TestWorld, userNamed } from "../../support/world.ts";

export type Args = Record<string, unknown>;

/** The world of the rows' calls. The bot is in both guilds. */
export interface Scene {
	world: TestWorld;
	/** The bot's own guild. */
	guild: Guild;
	/** Another one. */
	other: Guild;
}

/** A world in which the bot is in both guilds. Only with a token does the bot accept calls in a person's name. */
export async function startScene(mcpToken?: string): Promise<Scene & AsyncDisposable> {
	const world = await startWorld({}, { mcpToken });
	const other = addToBakers(world);
	await world.heard();
	return { world, guild: world.guild, other, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

/** A write that a tool can make. It is created anew for each case. */
export interface Act {
	args: Args;
	/** The request, in the form that faults match: "PUT /guilds/1/bans/2". */
	request: string;
	/** Whether it has been done in the simulator. */
	done(): boolean;
	/** The channel in which permissions are checked. Default: that of `channel_id`. */
	channel?: string;
}

/** Why any id will do. */
interface Any {
	anyWillDo: string;
}

/** The results for an unknown id, and for the id of an object in another guild. */
export interface IdCase {
	/** The error for an unknown id. */
	unknown: string | Any;
	foreign: ForeignCase | Any;
}

interface ForeignCase {
	/** Creates such an object in the other guild. */
	id(scene: Scene): string;
	/** The error. */
	refusal: string;
	/** Who refuses it: the bot without a request, the bot after fetching the object, or Discord. */
	refusedBy: "the bot" | "the bot, which asks" | "Discord";
}

/** What becomes of a call if the person does not see the channel that it is about. */
export type Hidden =
	/** The argument with the channel: the error is that for a channel that does not exist. */
	| { argument: string }
	/** The error says that there is no such thing. `args` makes one in a hidden channel, if the row's call has none. */
	| { refusal: string; args?(scene: Scene, hidden: GuildChannel): Args }
	/** The result contains nothing of what `secrets` lists. The bot's own result does. */
	| { leavesOut(scene: Scene, hidden: GuildChannel): Listed; type?: ChannelType.GuildVoice }
	/** Why it does not apply. */
	| { why: string };

interface Listed {
	args: Args;
	secrets: readonly string[];
}

export interface Demand {
	/**
	 * What Discord asks of a person. "nothing": every member may. "to manage the bot": MANAGE_GUILD in the bot's own
	 * guild, since by hand only the bot's own account could do it.
	 */
	needs: readonly Permission[] | "nothing" | "to manage the bot";
	/** Where the permissions are needed. */
	in?: "the channel" | "the guild";
	/** Permissions that the call needs elsewhere, such as those that it gives to others. */
	also?: readonly Permission[];
	/** What must rank below the person. */
	below?: "the member" | "the role";
	hidden: Hidden;
}

/** Calls that only write, and calls that count as destructive, each with a part of the reason. */
export interface Effects {
	write: readonly Args[];
	destructive: readonly (readonly [reason: string, args: Args])[];
}

/** The ids of what effect-table.test.ts makes in a guild, by name. */
export interface Named {
	id: string;
	role(name: string): string;
	channel(name: string): string;
	user(name: string): string;
	event(name: string): string;
	rule(name: string): string;
	/** A message of the bot's in #general. */
	message: string | undefined;
}

export interface CommonRow {
	/** Every argument that is an id, a list of ids or a code, except guild_id. */
	ids: Record<string, IdCase>;
	/** What Discord demands of a person who does by hand what the tool does. */
	person: Demand;
	/** For a tool whose calls are destructive by their arguments: examples of both kinds. */
	effects?(guild: Named): Effects;
	/** A write that can do nothing but add. */
	adds?: true;
	/**
	 * Arguments, beside or in place of those of a call that succeeds, that are refused before Discord is asked, and what is
	 * said of them. Types and limits that tools/list publishes are tried in tools/arguments.test.ts.
	 */
	refuses?: readonly (readonly [args: Args, ...said: string[]])[];
}

/** A tool that reads from discord.js's cache. */
export interface ReadingRow extends CommonRow {
	args(scene: Scene): Args;
	/** Parts of its result. */
	answer(scene: Scene): string[];
}

export type Permission = keyof typeof PermissionFlagsBits;

/** The permissions that a tool requires, and where. */
interface Need {
	/** Needed whatever its arguments, or `with` some more of them. */
	permissions: readonly (Permission | { permission: Permission; with: Args })[];
	in: "the channel" | "the guild";
}

export const inChannel = (...permissions: Need["permissions"]): Need => ({ permissions, in: "the channel" });
export const inGuild = (...permissions: Need["permissions"]): Need => ({ permissions, in: "the guild" });

/** A tool that sends a read to Discord. */
export interface AskingRow extends CommonRow {
	/** The objects that it reads are created anew for each case. */
	ask(scene: Scene): Ask;
	needs: Need | "no permission";
}

export interface Ask {
	args: Args;
	/** The request, in the form that faults match. */
	request: string;
	/** Parts of its result. */
	answer: string[];
	/** The channel in which permissions are checked. Default: that of `channel_id`. */
	channel?: string;
}

export interface WritingRow extends CommonRow {
	act(scene: Scene): Act;
	/** The audit log entry that shows the reason, for a tool that takes one. */
	reason?: AuditLogEvent;
	needs: Need | "no permission";
	/** What a dry run says, for a destructive tool. */
	dryRun?: RegExp;
}

export type Row = ReadingRow | AskingRow | WritingRow;

let made = 0;
/** A unique name. */
export function freshName(): string {
	made += 1;
	return `thing-${made}`;
}

export function newChannel({ world, guild }: Scene, type: GuildChannelType = ChannelType.GuildText): GuildChannel {
	return world.simulator.world.channels.add(guild, { name: freshName(), type });
}

/** A member in a new voice channel. */
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

export function written({ world }: Scene, channel: GuildChannel, atMs?: number) {
	const { state, messages } = world.simulator.world;
	return messages.add(channel, adaIn(world), { content: "a secret text", id: state.newId(atMs) });
}

export const adaIn = (world: TestWorld) => userNamed(world, "ada");

/** A message by the bot in a channel or a DM channel. */
export function writtenByBot({ world }: Scene, channel: Channel) {
	return world.simulator.world.messages.add(channel, botUser(world), { content: "said by the bot" });
}

export const botUser = (world: TestWorld) => userNamed(world, "alpha");

/** A new member of the guild, with a DM channel. */
export function newTalk(scene: Scene) {
	const { user } = newMember(scene, scene.guild);
	const { world } = scene.world.simulator;
	return { user, channel: world.channels.openDm(botUser(scene.world), user) };
}

export function foreignChannel({ world, other }: Scene): GuildChannel {
	return world.simulator.world.channels.add(other, { name: freshName() });
}

/** The bot looks the id up in its cache, and refuses other guilds' ids without a request. */
export function refusedByBot(refusal: string, id: (scene: Scene) => string): IdCase {
	return { unknown: refusal, foreign: { id, refusal, refusedBy: "the bot" } };
}

/** The bot fetches the object from Discord, and refuses other guilds' ids. */
export function refusedAfterFetch(refusal: string, id: (scene: Scene) => string): IdCase {
	return { unknown: refusal, foreign: { id, refusal, refusedBy: "the bot, which asks" } };
}

/** A request for a message contains its channel: Discord refuses ids of other channels. */
export function refusedByDiscord(refusal: string): IdCase {
	return {
		unknown: refusal,
		foreign: { id: (scene) => written(scene, foreignChannel(scene)).id, refusal, refusedBy: "Discord" },
	};
}

export const memberId = refusedByBot("is not a member of the guild", (scene) => newMember(scene, scene.other).user.id);
export const messageId = refusedByDiscord("Unknown Message (code 10008)");
export const anyId = (why: string): IdCase => ({ unknown: { anyWillDo: why }, foreign: { anyWillDo: why } });

export const channelId = refusedByBot("There is no channel", (scene) => foreignChannel(scene).id);
export const categoryId = refusedByBot(
	"There is no channel",
	({ world, other }) =>
		world.simulator.world.channels.add(other, { name: freshName(), type: ChannelType.GuildCategory }).id,
);
export const roleId = refusedByBot("There is no role", (scene) => newRole(scene, scene.other).id);
export const voiceChannelId = refusedByBot(
	"There is no channel",
	(scene) => newChannel({ ...scene, guild: scene.other }, ChannelType.GuildVoice).id,
);
