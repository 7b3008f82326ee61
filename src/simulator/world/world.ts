// The world: accounts, guilds, members, bans and messages, on top of the guilds' structure. The only place that changes
// any of it; each change is told as the Gateway's event, and written to the audit log when someone did it. Permissions
// are not its business.

import { AuditLogEvent, ChannelType, MessageType } from "discord.js";
import { Commands } from "./accounts/commands.ts";
import { Structure } from "./channels/channels.ts";
import { Stages } from "./channels/stages.ts";
import { VoiceStatuses } from "./channels/voice-status.ts";
import { AutoModeration } from "./guilds/automod.ts";
import { Emojis } from "./guilds/emojis.ts";
import { Activity } from "./guilds/inactivity.ts";
import { Invites } from "./guilds/invites.ts";
import { ScheduledEvents } from "./guilds/scheduled-events.ts";
import { Webhooks } from "./guilds/webhooks.ts";
import { type NewMessage, newMessage } from "./messages/messages.ts";
import { Polls } from "./messages/polls.ts";
import { Threads } from "./messages/threads.ts";
import { changesBetween, roleChanges } from "./state/audit-log.ts";
import {
	everyonePermissions,
	newGuildSettings,
	newRole,
	newToken,
} from "./state/defaults.ts";
import type {
	Account,
	Ban,
	Channel,
	DmChannel,
	Emoji,
	Guild,
	GuildChannel,
	GuildPlace,
	GuildSettings,
	Member,
	Message,
	PrivilegedIntent,
	Reaction,
	User,
} from "./state/entities.ts";
import { inGuild, isThread } from "./state/entities.ts";
import * as present from "./state/serialize.ts";
import { timeOf } from "./state/snowflake.ts";
import { apply, type Changes, type Doing } from "./state/state.ts";

/** What may be changed of a guild. */
export type GuildChanges = Changes<
	GuildSettings & Pick<Guild, "owner_id" | "features" | "incidents_data">
>;
/** What may be changed of a member. */
export type MemberChanges = Changes<Omit<Member, "user" | "joined_at">>;
/** What may be changed of a message. */
export type MessageChanges = Changes<
	Pick<
		Message,
		| "content"
		| "embeds"
		| "components"
		| "attachments"
		| "flags"
		| "mentions"
		| "mention_roles"
		| "mention_everyone"
	>
>;

export class World extends Structure {
	readonly commands = new Commands(() => this.newId());
	readonly stages = new Stages(this);
	readonly voiceStatuses = new VoiceStatuses(this);
	readonly activity = new Activity();
	readonly webhooks = new Webhooks(this);
	readonly invites = new Invites(this);
	readonly scheduledEvents = new ScheduledEvents(this);
	readonly autoModeration = new AutoModeration(this);
	readonly emojis = new Emojis(this);
	readonly polls = new Polls(this);
	readonly threads = new Threads(this);
	/** How often a bot may identify, and has, by its id. A limit is reached when a test lowers it; the day never ends. */
	readonly sessionStarts = { total: 1_000, used: new Map<string, number>() };
	/** The ids of people who do not take direct messages. */
	readonly closedDms = new Set<string>();

	// Accounts

	/** Someone without a token, to fill guilds with. */
	addUser(given: { username: string; global_name?: string | null }): User {
		const user: User = {
			id: this.newId(),
			username: given.username,
			discriminator: "0",
			global_name: given.global_name ?? null,
			avatar: null,
			public_flags: 0,
		};
		this.users.set(user.id, user);
		return user;
	}

	/** A person with a token, who can be driven through the REST API. */
	addPerson(given: {
		username: string;
		global_name?: string | null;
		token?: string;
	}): Account {
		return this.#addAccount(this.addUser(given), given.token, []);
	}

	/** A bot; its application has the same id. Without `privilegedIntents` it is granted all of them. */
	addBot(given: {
		username: string;
		token?: string;
		privilegedIntents?: readonly PrivilegedIntent[];
	}): Account {
		const user = this.addUser(given);
		user.bot = true;
		user.discriminator = user.id.slice(-4);
		return this.#addAccount(
			user,
			given.token,
			given.privilegedIntents ?? [
				"GuildMembers",
				"GuildPresences",
				"MessageContent",
			],
		);
	}

	#addAccount(
		user: User,
		token = newToken(user.id),
		privilegedIntents: readonly PrivilegedIntent[],
	): Account {
		const account: Account = { token, user, privilegedIntents };
		this.accounts.set(token, account);
		return account;
	}

	// Guilds

	/** A guild with its @everyone role and its owner as the only member. */
	addGuild(given: { name: string; owner: User; everyone?: bigint }): Guild {
		const id = this.newId();
		const guild: Guild = {
			id,
			name: given.name,
			owner_id: given.owner.id,
			...newGuildSettings,
			features: [],
			incidents_data: null,
			roles: new Map(),
			channels: new Map(),
			threads: new Map(),
			members: new Map(),
			bans: new Map(),
			emojis: new Map(),
			voiceStates: new Map(),
			auditLog: [],
		};
		guild.roles.set(id, {
			...newRole(id),
			name: "@everyone",
			permissions: String(given.everyone ?? everyonePermissions),
		});
		this.guilds.set(id, guild);
		this.addMember(guild, given.owner);
		return guild;
	}

	editGuild(guild: Guild, changes: GuildChanges, doing?: Doing): void {
		const before = { ...guild };
		apply(guild, changes);
		this.tell("GUILD_UPDATE", guild, () => present.guild(guild));
		this.log(guild, doing, AuditLogEvent.GuildUpdate, guild.id, {
			changes: changesBetween(before, changes),
		});
	}

	/** Everyone leaves, and the guild is gone. */
	removeGuild(guild: Guild): void {
		this.tell("GUILD_DELETE", guild, () => ({ id: guild.id }));
		for (const id of [...guild.channels.keys(), ...guild.threads.keys()]) {
			this.channels.delete(id);
			this.messages.removeChannel(id);
		}
		this.guilds.delete(guild.id);
	}

	// Members

	/** A bot that joins brings a managed role of its own, with these permissions; bots are told of the guild they join. */
	addMember(
		guild: Guild,
		user: User,
		given: MemberChanges & { botPermissions?: bigint } = {},
	): Member {
		const known = guild.members.get(user.id);
		if (known) return known;
		const { botPermissions, ...changes } = given;
		const member: Member = {
			user,
			nick: null,
			roles: [],
			joined_at: new Date().toISOString(),
			communication_disabled_until: null,
			deaf: false,
			mute: false,
			pending: false,
		};
		apply(member, changes);
		if (user.bot && botPermissions !== undefined) {
			const role = this.addRole(guild, {
				name: user.username,
				permissions: String(botPermissions),
				bot_id: user.id,
			});
			member.roles = [...member.roles, role.id];
		}
		guild.members.set(user.id, member);
		this.tell(
			"GUILD_MEMBER_ADD",
			guild,
			() => ({ ...present.member(member), guild_id: guild.id }),
			{ except: user.id },
		);
		if (user.bot)
			this.tell("GUILD_CREATE", guild, () => this.guildCreate(guild, user), {
				only: [user.id],
			});
		return member;
	}

	/** Fills a guild with `count` people who hold no token, named `<prefix>1` and so on. */
	addMembers(guild: Guild, count: number, prefix = "member"): void {
		for (let number = 1; number <= count; number += 1)
			this.addMember(guild, this.addUser({ username: `${prefix}${number}` }));
	}

	editMember(
		guild: Guild,
		member: Member,
		changes: MemberChanges,
		doing?: Doing,
	): void {
		const before = { ...member };
		const { roles, ...others } = changes;
		apply(member, changes);
		this.tell(
			"GUILD_MEMBER_UPDATE",
			guild,
			() => ({ ...present.member(member), guild_id: guild.id }),
			{ always: member.user.id },
		);
		if (
			guild.voiceStates.has(member.user.id) &&
			(changes.mute !== undefined || changes.deaf !== undefined)
		)
			this.tellVoice(guild, member);
		const { MemberUpdate, MemberRoleUpdate } = AuditLogEvent;
		for (const [action, made] of [
			[MemberUpdate, changesBetween(before, others)],
			[MemberRoleUpdate, roles ? roleChanges(guild, before.roles, roles) : []],
		] as const)
			if (made.length > 0)
				this.log(guild, doing, action, member.user.id, { changes: made });
	}

	/** The member leaves, or is kicked when someone did it. */
	removeMember(guild: Guild, member: Member, doing?: Doing): void {
		this.#forgetMember(guild, member);
		this.log(guild, doing, AuditLogEvent.MemberKick, member.user.id);
	}

	#forgetMember(guild: Guild, member: Member): void {
		this.leaveVoice(guild, member);
		this.threads.leaveAll(guild, member.user);
		guild.members.delete(member.user.id);
		this.tell("GUILD_MEMBER_REMOVE", guild, () => ({
			guild_id: guild.id,
			user: member.user,
		}));
		if (member.user.bot)
			this.tell("GUILD_DELETE", guild, () => ({ id: guild.id }), {
				only: [member.user.id],
			});
	}

	// Bans

	/** Bans a user, member or not, and deletes what they wrote in the last `deleteSeconds` seconds. */
	addBan(guild: Guild, user: User, deleteSeconds = 0, doing?: Doing): Ban {
		const known = guild.bans.get(user.id);
		if (known) return known;
		const ban: Ban = { user, reason: doing?.reason ?? null };
		guild.bans.set(user.id, ban);
		const member = guild.members.get(user.id);
		if (member) this.#forgetMember(guild, member);
		this.tell("GUILD_BAN_ADD", guild, () => ({ guild_id: guild.id, user }));
		if (deleteSeconds > 0) this.#removeWritten(guild, user, deleteSeconds);
		this.log(guild, doing, AuditLogEvent.MemberBanAdd, user.id);
		return ban;
	}

	#removeWritten(guild: Guild, user: User, seconds: number): void {
		const since = Date.now() - seconds * 1000;
		const places = [...guild.channels.values(), ...guild.threads.values()];
		for (const channel of places) {
			const written = this.messages
				.in(channel.id)
				.filter(({ author, id }) => author === user && timeOf(id) > since);
			if (written.length > 0) this.removeMessages(channel, written);
		}
	}

	removeBan(guild: Guild, ban: Ban, doing?: Doing): void {
		guild.bans.delete(ban.user.id);
		this.tell("GUILD_BAN_REMOVE", guild, () => ({
			guild_id: guild.id,
			user: ban.user,
		}));
		this.log(guild, doing, AuditLogEvent.MemberBanRemove, ban.user.id);
	}

	// Messages

	addMessage(channel: Channel, author: User, given: NewMessage): Message {
		const id = given.id ?? this.newId();
		const message = newMessage(id, channel.id, author, given);
		this.messages.put(message);
		channel.last_message_id = this.messages.in(channel.id).at(-1)?.id ?? null;
		this.tellMessage("MESSAGE_CREATE", channel, message);
		if (isThread(channel)) this.threads.wrote(channel, message);
		return message;
	}

	editMessage(
		channel: Channel,
		message: Message,
		changes: MessageChanges,
	): void {
		apply(message, changes);
		message.edited_timestamp = new Date().toISOString();
		this.tellMessage("MESSAGE_UPDATE", channel, message);
	}

	removeMessage(channel: Channel, message: Message, doing?: Doing): void {
		this.#take(channel, message);
		this.tellIn("MESSAGE_DELETE", channel, () => ({ id: message.id }));
		// The log tells of messages that someone deleted for someone else.
		if (inGuild(channel) && doing?.actor !== message.author.id)
			this.log(
				this.guildOf(channel),
				doing,
				AuditLogEvent.MessageDelete,
				message.author.id,
				{ options: { channel_id: channel.id, count: "1" } },
			);
	}

	#take(channel: Channel, message: Message): void {
		this.messages.remove(message);
		if (isThread(channel) && message.id !== channel.id)
			channel.message_count -= 1;
	}

	removeMessages(
		channel: GuildPlace,
		messages: readonly Message[],
		doing?: Doing,
	): void {
		for (const message of messages) this.#take(channel, message);
		this.tellIn("MESSAGE_DELETE_BULK", channel, () => ({
			ids: messages.map(({ id }) => id),
		}));
		this.log(
			this.guildOf(channel),
			doing,
			AuditLogEvent.MessageBulkDelete,
			channel.id,
			{ options: { count: String(messages.length) } },
		);
	}

	/** Puts an emoji on a message; whoever has put it there already changes nothing. */
	addReaction(
		channel: Channel,
		message: Message,
		user: User,
		emoji: Emoji,
	): void {
		const known = reactionWith(message, emoji);
		if (known?.userIds.includes(user.id)) return;
		const userIds = [...(known?.userIds ?? []), user.id];
		message.reactions = known
			? message.reactions.map((one) =>
					one === known ? { emoji: one.emoji, userIds } : one,
				)
			: [...message.reactions, { emoji, userIds }];
		const guild = inGuild(channel) ? this.guildOf(channel) : undefined;
		const member = guild?.members.get(user.id);
		this.tellIn("MESSAGE_REACTION_ADD", channel, () => ({
			...reactionEvent(message, user, emoji),
			message_author_id: message.author.id,
			...(member ? { member: present.member(member) } : {}),
		}));
	}

	removeReaction(
		channel: Channel,
		message: Message,
		user: User,
		emoji: Emoji,
	): void {
		const known = reactionWith(message, emoji);
		if (!known?.userIds.includes(user.id)) return;
		const userIds = known.userIds.filter((id) => id !== user.id);
		message.reactions = message.reactions.flatMap((one) => {
			if (one !== known) return [one];
			return userIds.length > 0 ? [{ emoji: one.emoji, userIds }] : [];
		});
		this.tellIn("MESSAGE_REACTION_REMOVE", channel, () =>
			reactionEvent(message, user, emoji),
		);
	}

	/** Takes all reactions from a message, or all with one emoji. */
	clearReactions(channel: Channel, message: Message, emoji?: Emoji): void {
		const gone = emoji && reactionWith(message, emoji);
		message.reactions = emoji
			? message.reactions.filter((one) => one !== gone)
			: [];
		this.tellIn(
			emoji ? "MESSAGE_REACTION_REMOVE_EMOJI" : "MESSAGE_REACTION_REMOVE_ALL",
			channel,
			() => ({ message_id: message.id, ...(emoji ? { emoji } : {}) }),
		);
	}

	/** Pins a message, of which a message of Discord's own tells. */
	pin(channel: Channel, message: Message, by: User, doing?: Doing): void {
		this.#setPin(channel, message, new Date().toISOString());
		this.addMessage(channel, by, {
			content: "",
			type: MessageType.ChannelPinnedMessage,
			message_reference: {
				type: 0,
				message_id: message.id,
				channel_id: channel.id,
				...(inGuild(channel) ? { guild_id: channel.guild_id } : {}),
			},
		});
		this.#logPin(channel, message, AuditLogEvent.MessagePin, doing);
	}

	unpin(channel: Channel, message: Message, doing?: Doing): void {
		this.#setPin(channel, message, null);
		this.#logPin(channel, message, AuditLogEvent.MessageUnpin, doing);
	}

	#setPin(channel: Channel, message: Message, at: string | null): void {
		message.pinned_at = at;
		this.tellMessage("MESSAGE_UPDATE", channel, message);
		const [latest] = this.messages.pinned(channel.id);
		this.tellIn("CHANNEL_PINS_UPDATE", channel, () => ({
			last_pin_timestamp: latest?.pinned_at ?? null,
		}));
	}

	#logPin(
		channel: Channel,
		message: Message,
		action: AuditLogEvent,
		doing: Doing | undefined,
	): void {
		if (!inGuild(channel)) return;
		this.log(this.guildOf(channel), doing, action, message.author.id, {
			options: { channel_id: channel.id, message_id: message.id },
		});
	}

	/** Someone begins to type; nothing is kept. */
	startTyping(channel: Channel, user: User): void {
		const guild = inGuild(channel) ? this.guildOf(channel) : undefined;
		const member = guild?.members.get(user.id);
		this.tellIn("TYPING_START", channel, () => ({
			user_id: user.id,
			timestamp: Math.floor(Date.now() / 1000),
			...(member ? { member: present.member(member) } : {}),
		}));
	}

	/** A message as an account reads it, with the message it replies to. */
	readMessage(
		message: Message,
		reader: present.MessageReader,
	): Record<string, unknown> {
		const channel = this.channels.get(message.channel_id);
		const guildId = channel && inGuild(channel) ? channel.guild_id : undefined;
		const reference = message.message_reference;
		const referenced =
			reference?.type !== 0 || reference.message_id === undefined
				? undefined
				: (this.messages.get(reference.channel_id, reference.message_id) ??
					null);
		const thread = this.threads.startedFrom(message);
		return {
			...present.message(message, reader, guildId, referenced),
			...(thread ? { thread: present.thread(thread, reader.id) } : {}),
		};
	}

	/** Tells of a message as it is now. */
	tellMessage(
		type: "MESSAGE_CREATE" | "MESSAGE_UPDATE",
		channel: Channel,
		message: Message,
	): void {
		const guild = inGuild(channel) ? this.guildOf(channel) : undefined;
		const member = guild?.members.get(message.author.id);
		this.tellIn(type, channel, (reader) => ({
			...this.readMessage(message, reader),
			...(member ? { member: present.bareMember(member) } : {}),
			mentions: message.mentions.map((user) => present.mention(user, guild)),
		}));
	}

	/** Its threads go with it. */
	override removeChannel(channel: GuildChannel, doing?: Doing): void {
		this.threads.removeIn(channel);
		super.removeChannel(channel, doing);
	}

	// Direct channels, and what bots are told at their start

	/** The channel in which these two talk directly, if there is one. */
	directChannel(one: User, other: User): DmChannel | undefined {
		for (const channel of this.channels.values())
			if (
				!inGuild(channel) &&
				channel.recipients.includes(one) &&
				channel.recipients.includes(other)
			)
				return channel;
		return undefined;
	}

	/** The channel in which these two talk directly; made when they first do. */
	openDm(one: User, other: User): DmChannel {
		const known = this.directChannel(one, other);
		if (known) return known;
		const channel: DmChannel = {
			id: this.newId(),
			type: ChannelType.DM,
			recipients: [one, other],
			last_message_id: null,
		};
		this.channels.set(channel.id, channel);
		return channel;
	}

	/** What a bot is told of a guild that it joins or finds at its start. */
	guildCreate(
		guild: Guild,
		bot: User,
		members: Iterable<Member> = ownMember(guild, bot),
	): Record<string, unknown> {
		return {
			...present.guild(guild),
			joined_at: guild.members.get(bot.id)?.joined_at,
			large: guild.members.size > 50,
			unavailable: false,
			member_count: guild.members.size,
			members: Array.from(members, present.member),
			channels: Array.from(guild.channels.values(), present.guildChannel),
			threads: this.threads
				.active(guild, bot.id)
				.map((thread) => present.thread(thread, bot.id)),
			presences: [],
			voice_states: [...guild.voiceStates.keys()].flatMap((id) => {
				const member = guild.members.get(id);
				return member ? present.voiceState(guild, member) : [];
			}),
			stage_instances: this.stages.in(guild),
			guild_scheduled_events: this.scheduledEvents
				.in(guild)
				.map((event) => this.scheduledEvents.show(event)),
			soundboard_sounds: [],
		};
	}
}

/** The reaction with this emoji: of a guild's emoji only the id counts. */
export function reactionWith(
	{ reactions }: Message,
	{ id, name }: Emoji,
): Reaction | undefined {
	return reactions.find(({ emoji }) =>
		id === null ? emoji.id === null && emoji.name === name : emoji.id === id,
	);
}

function reactionEvent(message: Message, user: User, emoji: Emoji) {
	return {
		user_id: user.id,
		message_id: message.id,
		emoji,
		burst: false,
		type: 0,
	};
}

function* ownMember(guild: Guild, bot: User): Iterable<Member> {
	const own = guild.members.get(bot.id);
	if (own) yield own;
}
