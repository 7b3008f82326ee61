// What Discord demands of a person who does by hand what a tool does: a row for every tool. The test of this table tries
// each tool in the name of a person who has exactly that, and of people who lack some of it.

import { ChannelType, GuildScheduledEventEntityType, type PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../src/simulator/world/state/entities.ts";
import {
	type Args,
	adaIn,
	botUser,
	freshName,
	newChannel,
	newSpeaker,
	type Scene,
	written,
} from "./tool-rows/scene.ts";

export type Permission = keyof typeof PermissionFlagsBits;

/** A cell of the table that does not apply, and why. */
interface Inapplicable {
	why: string;
}

/** What becomes of a call if the person does not see the channel that it is about. */
export type Hidden =
	/** The argument with the channel: the error is that for a channel that does not exist. */
	| { argument: string }
	/** The error says that there is no such thing. `args` makes one in a hidden channel, if the row's call has none. */
	| { refusal: string; args?(scene: Scene, hidden: GuildChannel): Args }
	/** The result contains nothing of what `secrets` lists. The bot's own result does. */
	| { leavesOut(scene: Scene, hidden: GuildChannel): Listed; type?: ChannelType.GuildVoice }
	| Inapplicable;

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

const inChannel = (
	needs: readonly Permission[],
	hidden: Hidden = { argument: "channel_id" },
	more: Partial<Demand> = {},
): Demand => ({ needs, in: "the channel", hidden, ...more });

const inGuild = (needs: readonly Permission[], hidden: Hidden = noChannel, more: Partial<Demand> = {}): Demand => ({
	needs,
	in: "the guild",
	hidden,
	...more,
});

const anyMember = (hidden: Hidden = noChannel): Demand => ({ needs: "nothing", hidden });

const botManager: Demand = { needs: "to manage the bot", hidden: { why: "it is about the bot" } };

const noChannel = { why: "it is about no channel" };
const administrator = inGuild(["Administrator"], { why: "administrators see all channels" });

const speaks = { also: ["Connect"] as const };

/** What locking denies to @everyone, which only those can deny who have it. */
const lockable = [
	...(["SendMessages", "SendMessagesInThreads", "AddReactions"] as const),
	...(["CreatePublicThreads", "CreatePrivateThreads"] as const),
];

function eventIn({ world, guild }: Scene, channel: GuildChannel) {
	return world.simulator.world.scheduledEvents.add(guild, guild.owner_id, {
		name: freshName(),
		entity_type: GuildScheduledEventEntityType.Voice,
		channel_id: channel.id,
		scheduled_start_time: "2099-01-31T12:00:00.000Z",
	});
}

const hiddenEvent: Hidden = {
	refusal: "There is no scheduled event",
	args: (scene, hidden) => ({ event_id: eventIn(scene, hidden).id }),
};

const hiddenWebhook: Hidden = { refusal: "There is no webhook" };

export const demands: Record<string, Demand> = {
	list_guilds: anyMember(),
	get_guild_info: anyMember({
		leavesOut({ world, guild }, hidden) {
			const { guilds } = world.simulator.world;
			guilds.edit(guild, { system_channel_id: hidden.id });
			return { args: {}, secrets: [hidden.id] };
		},
	}),
	edit_guild: inGuild(["ManageGuild"], { argument: "system_channel_id" }),
	export_guild: administrator,
	plan_guild: administrator,
	apply_guild: administrator,
	get_job: administrator,
	cancel_job: administrator,
	list_backups: administrator,
	list_members: anyMember(),
	lookup_user_by_name: anyMember(),
	get_member: anyMember(),
	send_message: inChannel(["SendMessages"]),
	send_file: inChannel(["SendMessages", "AttachFiles"]),
	edit_message: inChannel(["ReadMessageHistory", "ManageMessages"], undefined, { also: ["ManageGuild"] }),
	delete_messages: inChannel(["ManageMessages"]),
	get_recent_messages: inChannel(["ReadMessageHistory"]),
	get_message: inChannel(["ReadMessageHistory"]),
	search_messages: inChannel(["ReadMessageHistory"], {
		leavesOut(scene, hidden) {
			const { id } = written(scene, hidden);
			return { args: { text: "secret" }, secrets: [id, hidden.id, hidden.name] };
		},
	}),
	add_reaction: inChannel(["ReadMessageHistory", "AddReactions"]),
	remove_reaction: inChannel(["ReadMessageHistory", "ManageMessages"]),
	get_reactions: inChannel(["ReadMessageHistory"]),
	pin_message: inChannel(["PinMessages", "ReadMessageHistory"]),
	list_pins: inChannel(["ReadMessageHistory"]),
	forward_message: inChannel(["SendMessages"], { argument: "to_channel_id" }, { also: ["ReadMessageHistory"] }),
	crosspost_message: inChannel([...(["SendMessages", "ReadMessageHistory"] as const), "ManageMessages"]),
	create_poll: inChannel(["SendMessages", "SendPolls"]),
	end_poll: inChannel(["ReadMessageHistory", "ManageMessages"]),
	get_poll_voters: inChannel(["ReadMessageHistory"]),
	create_thread: inChannel(["CreatePublicThreads"]),
	list_threads: inChannel(["ReadMessageHistory"], {
		leavesOut({ world }, hidden) {
			const { threads } = world.simulator.world;
			const thread = threads.add(hidden, adaIn(world), { name: freshName() });
			return { args: {}, secrets: [thread.id, thread.name, hidden.id, hidden.name] };
		},
	}),
	edit_thread: inChannel(["ManageThreads"], { argument: "thread_id" }),
	delete_thread: inChannel(["ManageThreads"], { argument: "thread_id" }),
	list_thread_members: anyMember({ argument: "thread_id" }),
	edit_thread_members: inChannel(["ManageThreads"], { argument: "thread_id" }),
	send_private_message: botManager,
	read_private_messages: botManager,
	edit_private_message: botManager,
	delete_private_message: botManager,
	list_channels: anyMember({ leavesOut: (_, hidden) => ({ args: {}, secrets: [hidden.id, hidden.name] }) }),
	get_channel: anyMember({ argument: "channel_id" }),
	create_channel: inGuild(["ManageChannels"], { argument: "below_channel_id" }),
	edit_channel: inChannel(["ManageChannels"]),
	move_channels: inChannel(["ManageChannels"], { argument: "channel_ids" }),
	clone_channel: inGuild(["ManageChannels"], { argument: "channel_id" }),
	delete_channel: inChannel(["ManageChannels"]),
	list_channel_permissions: inChannel(["ManageRoles"], {
		leavesOut({ world, guild }, hidden) {
			const overwrite = { id: guild.id, type: 0, allow: "0", deny: "2048" };
			world.simulator.world.channels.setOverwrite(hidden, { ...overwrite, type: 0 });
			return { args: {}, secrets: [hidden.id] };
		},
	}),
	set_channel_permissions: inChannel(["ManageRoles"], { argument: "channel_ids" }, { also: ["SendMessages"] }),
	copy_channel_permissions: inChannel(
		["ManageChannels", "ManageRoles"],
		{ argument: "target_channel_ids" },
		{ also: ["SendMessages"] },
	),
	lock_channel: inChannel(["ManageRoles"], { argument: "channel_ids" }, { also: lockable }),
	list_roles: anyMember(),
	create_role: inGuild(["ManageRoles"]),
	edit_role: inGuild(["ManageRoles"], noChannel, { below: "the role" }),
	move_roles: inGuild(["ManageRoles"], noChannel, { below: "the role" }),
	delete_role: inGuild(["ManageRoles"], noChannel, { below: "the role" }),
	bulk_role_update: inGuild(["ManageRoles"], noChannel, { below: "the role" }),
	ban: inGuild(["BanMembers"], noChannel, { below: "the member" }),
	unban: inGuild(["BanMembers"]),
	get_bans: inGuild(["BanMembers"]),
	kick: inGuild(["KickMembers"], noChannel, { below: "the member" }),
	prune_members: inGuild(["ManageGuild", "KickMembers"]),
	timeout: inGuild(["ModerateMembers"], noChannel, { below: "the member" }),
	remove_timeout: inGuild(["ModerateMembers"], noChannel, { below: "the member" }),
	set_nickname: inGuild(["ManageNicknames"], noChannel, { below: "the member" }),
	list_voice_members: anyMember({
		type: ChannelType.GuildVoice,
		leavesOut(scene, hidden) {
			const { id, member } = newSpeaker(scene, scene.guild);
			scene.world.simulator.world.voice.join(hidden, member);
			return { args: {}, secrets: [id, hidden.id, hidden.name] };
		},
	}),
	edit_voice_members: inChannel(["MuteMembers"], { refusal: "is not in a voice channel" }, speaks),
	set_stage: inChannel(["MuteMembers", "MoveMembers", "ManageChannels"], { argument: "channel_id" }, speaks),
	list_scheduled_events: anyMember({
		type: ChannelType.GuildVoice,
		leavesOut(scene, hidden) {
			const { id, name } = eventIn(scene, hidden);
			return { args: {}, secrets: [id, name, hidden.id, hidden.name] };
		},
	}),
	create_scheduled_event: inChannel(["CreateEvents"], { argument: "channel_id" }, speaks),
	edit_scheduled_event: inGuild(["ManageEvents"], hiddenEvent),
	delete_scheduled_event: inGuild(["ManageEvents"], hiddenEvent),
	get_event_users: anyMember(hiddenEvent),
	list_automod_rules: inGuild(["ManageGuild"], {
		leavesOut({ world, guild }, hidden) {
			world.simulator.world.autoModeration.add(guild, {
				name: freshName(),
				creator_id: guild.owner_id,
				enabled: true,
				event_type: 1,
				trigger_type: 1,
				exempt_roles: [],
				trigger_metadata: { keyword_filter: ["soup"] },
				actions: [{ type: 2, metadata: { channel_id: hidden.id } }],
				exempt_channels: [hidden.id],
			});
			// The id alone is shown as that of a deleted channel.
			return { args: {}, secrets: [hidden.name] };
		},
	}),
	set_automod_rule: inGuild(["ManageGuild"], { argument: "exempt_channel_ids" }),
	delete_automod_rule: inGuild(["ManageGuild"]),
	set_incident_actions: inGuild(["ManageGuild"]),
	get_audit_log: inGuild(["ViewAuditLog"], {
		leavesOut({ world, guild }, hidden) {
			const { channels } = world.simulator.world;
			const actor = { actor: guild.owner_id };
			channels.edit(hidden, { topic: "for few" }, actor);
			return { args: {}, secrets: [hidden.id, hidden.name, "for few"] };
		},
	}),
	list_invites: inChannel(
		["ManageChannels"],
		{
			leavesOut({ world }, hidden) {
				const inviter = botUser(world);
				const { code } = world.simulator.world.invites.add(hidden, { inviter });
				return { args: {}, secrets: [code, hidden.id, hidden.name] };
			},
		},
		// For the invites of all channels.
		{ also: ["ManageGuild"] },
	),
	create_invite: inChannel(["CreateInstantInvite"]),
	get_invite: anyMember({
		refusal: "There is no invite",
		args({ world }, hidden) {
			const inviter = botUser(world);
			const { code } = world.simulator.world.invites.add(hidden, { inviter });
			return { invite_code: code };
		},
	}),
	delete_invite: inChannel(["ManageChannels"], { refusal: "There is no invite" }),
	list_webhooks: inChannel(["ManageWebhooks"], {
		leavesOut({ world }, hidden) {
			const user = botUser(world);
			const name = freshName();
			const { webhooks } = world.simulator.world;
			const { id } = webhooks.add(hidden, { name, user });
			return { args: {}, secrets: [id, name, hidden.id, hidden.name] };
		},
	}),
	create_webhook: inChannel(["ManageWebhooks"]),
	edit_webhook: inChannel(["ManageWebhooks"], hiddenWebhook),
	delete_webhook: inChannel(["ManageWebhooks"], hiddenWebhook),
	send_webhook_message: inChannel(["ManageWebhooks"], hiddenWebhook),
	edit_webhook_message: inChannel(["ManageWebhooks"], hiddenWebhook),
	delete_webhook_message: inChannel(["ManageWebhooks"], hiddenWebhook),
	list_emojis: anyMember(),
	create_emoji: inGuild(["CreateGuildExpressions"]),
	edit_emoji: inGuild(["ManageGuildExpressions"]),
	delete_emoji: inGuild(["ManageGuildExpressions"]),
	list_recent_tool_calls: botManager,
	check_permissions: inChannel(["ManageRoles"], { argument: "channel_ids" }),
	get_bot_info: botManager,
	run_setup_check: {
		needs: "to manage the bot",
		hidden: {
			leavesOut(scene, hidden) {
				const deny = "1024";
				const { id } = botUser(scene.world);
				const overwrite = { id, type: 1, allow: "0", deny } as const;
				scene.world.simulator.world.channels.setOverwrite(hidden, overwrite);
				return { args: {}, secrets: [hidden.id] };
			},
		},
	},
	find_tools: anyMember(),
};

/** A channel that the person does not see. */
export function hiddenChannel(scene: Scene, personId: string, demand: Demand) {
	const { hidden } = demand;
	const type = "type" in hidden && hidden.type ? hidden.type : ChannelType.GuildText;
	const channel = newChannel(scene, type);
	hide(scene, channel, personId);
	return channel;
}

/** Hides a channel from a person until the result is disposed of. */
export function hide({ world }: Scene, channel: GuildChannel, personId: string): Disposable {
	const { channels } = world.simulator.world;
	const bits = { allow: "0", deny: "1024" };
	const overwrite = { id: personId, type: 1, ...bits } as const;
	channels.setOverwrite(channel, overwrite);
	return { [Symbol.dispose]: () => channels.removeOverwrite(channel, overwrite) };
}
