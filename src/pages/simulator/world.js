// The data of the simulator's page: the state of the simulator, the open guild, and the messages of the open channel.

import { ephemeralMessages, messagesAfter } from "./message-state.js";
import { request, requestAs } from "./server.js";

/** @typedef {import("./server.js").Json} Json */
/** @typedef {import("./server.js").Person} Person */

const permissionBits = { addReactions: 1n << 6n, sendMessages: 1n << 11n, sendInThreads: 1n << 38n };

export const channelTypes = { text: 0, dm: 1, voice: 2, category: 4, stage: 13, forum: 15, media: 16 };

const pageSize = 50;
/** Maximum number of messages that the page keeps, so that it stays fast. */
const maxMessages = 300;

/** Stands for a guild's id where the direct messages are open. */
export const direct = "direct";

class World {
	/** @type {Person[]} */
	people = [];
	/** @type {string[]} the languages of Discord's clients */
	locales = [];
	/** @type {Json[]} */
	bots = [];
	/** @type {Json[]} */
	guilds = [];
	/** @type {string[][]} the steps of the tour */
	tour = [];
	/** @type {Json[]} */
	directChannels = [];
	/** @type {Set<string>} the bots with a connection */
	connected = new Set();
	/** @type {Map<string, Json>} */
	interactions = new Map();
	/** @type {Json[]} the commands in context menus that the person can use in the open channel */
	menuCommands = [];
	/** @type {Person | undefined} who the page acts as */
	person;
	/** The open guild's id, or `direct`. */
	guildId = "";
	channelId = "";
	/** @type {Json | undefined} the open guild as the person sees it, or with everything in it if they are no member */
	view;
	/** @type {Json[]} the messages of the open channel, oldest first */
	messages = [];
	hasOlder = false;
	/** @type {string | undefined} why the open channel's messages are not there */
	unreadable;
	/** @type {Map<string, number>} how many messages are new, by channel id; 0 for a new channel */
	marks = new Map();

	async loadState() {
		const state = await request("GET", `/simulator/state?user=${this.person?.id}`);
		this.people = state.users;
		this.locales = state.locales;
		this.bots = state.bots;
		this.guilds = state.guilds;
		this.tour = state.tour;
		this.directChannels = state.direct_channels;
		this.connected = new Set(state.connected);
	}

	async loadInteractions() {
		const interactions = await request("GET", "/simulator/interactions");
		this.interactions = new Map(interactions.map((/** @type {Json} */ one) => [one.id, one]));
	}

	async loadGuild() {
		const { guildId, person } = this;
		if (guildId === direct || guildId === "") {
			this.view = undefined;
			return;
		}
		const view = await request("GET", `/simulator/guild?id=${guildId}&user=${person?.id}`);
		if (this.guildId === guildId && this.person === person) this.view = view;
	}

	/** Loads the latest messages of the open channel, with the person's rights. */
	async loadMessages() {
		const { channelId } = this;
		this.messages = [];
		this.hasOlder = false;
		this.unreadable = this.whyUnreadable();
		if (this.unreadable !== undefined) return;
		try {
			await this.loadOlder();
		} catch (error) {
			if (this.channelId === channelId) this.unreadable = /** @type {Error} */ (error).message;
		}
	}

	async loadOlder() {
		const { channelId, person, messages } = this;
		if (!person) return;
		const before = messages[0] ? `&before=${messages[0].id}` : "";
		const found = await requestAs(person, "GET", `/channels/${channelId}/messages?limit=${pageSize}${before}`);
		if (this.channelId !== channelId || this.person !== person) return;
		const known = new Set(found.map((/** @type {Json} */ one) => one.id));
		// Those that came meanwhile stay.
		this.messages = [...found.reverse(), ...this.messages.filter(({ id }) => !known.has(id))];
		this.hasOlder = found.length === pageSize;
	}

	/** @returns {string | undefined} */
	whyUnreadable() {
		if (!this.channel) return "There is no channel here.";
		if (this.guildId === direct || this.view?.is_member) return undefined;
		return `${this.name} is not a member of ${this.view?.guild.name}.`;
	}

	get name() {
		return this.person ? this.nameOf(this.person.id) : "Nobody";
	}

	get channel() {
		return this.channelOf(this.channelId);
	}

	/** @param {string} id */
	channelOf(id) {
		const { view, directChannels, guilds } = this;
		const lists = [
			view?.channels ?? [],
			view?.threads ?? [],
			directChannels,
			...guilds.flatMap(({ channels, threads }) => [channels, threads]),
		];
		return /** @type {Json[]} */ (lists.flat()).find((one) => one.id === id);
	}

	/**
	 * Returns the id of the guild in which a channel is, `direct` for direct messages; undefined if it is unknown.
	 * @param {string} channelId
	 */
	guildOf(channelId) {
		const has = (/** @type {Json[]} */ list) => list.some(({ id }) => id === channelId);
		if (has(this.directChannels)) return direct;
		return this.guilds.find(({ channels, threads }) => has(channels) || has(threads))?.id;
	}

	get mayWrite() {
		if (!this.channel || !this.person) return false;
		if (this.guildId === direct) return true;
		const bit = isThread(this.channel) ? "sendInThreads" : "sendMessages";
		return this.#may(bit) && !holdsPosts(this.channel);
	}

	get mayReact() {
		return this.guildId === direct || this.#may("addReactions");
	}

	/** @param {keyof typeof permissionBits} name */
	#may(name) {
		return Boolean(BigInt(this.channel?.permissions ?? 0) & permissionBits[name]);
	}

	/** The person's DM channels, each with the name of the other user. @returns {Json[]} */
	get conversations() {
		const own = this.person?.username ?? "";
		return this.directChannels
			.filter(({ recipients }) => recipients.includes(own))
			.map((channel) => {
				const other = channel.recipients.find((/** @type {string} */ one) => one !== own) ?? own;
				const known = [...this.people, ...this.bots].find(({ username }) => username === other);
				return { ...channel, type: channelTypes.dm, name: known ? shownName(known) : other };
			});
	}

	/** @param {string} id */
	nameOf(id) {
		return this.findName(id) ?? `user ${id}`;
	}

	/** @param {string} id */
	findName(id) {
		const member = this.memberOf(id);
		if (member) return member.nick ?? shownName(member.user);
		for (const one of [...this.people, ...this.bots]) if (one.id === id) return shownName(one);
		const message = this.messages.find(({ author }) => author.id === id);
		return message && shownName(message.author);
	}

	/** @param {string} userId */
	memberOf(userId) {
		return this.view?.members.find((/** @type {Json} */ { user }) => user.id === userId);
	}

	/** @param {string} id */
	roleName(id) {
		const roles = /** @type {Json[]} */ (this.view?.guild.roles ?? []);
		return roles.find((role) => role.id === id)?.name;
	}

	/** Whether the guild has this emoji, so that there is a picture of it. @param {string} id */
	hasEmoji(id) {
		return this.view?.guild.emojis.some((/** @type {Json} */ emoji) => emoji.id === id) === true;
	}

	/**
	 * The ephemeral responses that the person sees in the open channel, and a placeholder for each that a bot has not
	 * sent yet, as messages.
	 */
	get ephemeral() {
		const all = [...this.interactions.values()]
			.filter(({ user_id, channel_id }) => user_id === this.person?.id && channel_id === this.channelId)
			.flatMap(ephemeralMessages);
		// A message that several interactions have updated is as the last one left it.
		return [...new Map(all.map((message) => [message.id, message])).values()];
	}

	/** @param {string} type @param {Json} data */
	applyMessageEvent(type, data) {
		const { messages, changed } = messagesAfter(this.messages, type, data, this.person?.id);
		const isFull = messages.length > maxMessages && type === "MESSAGE_CREATE";
		this.messages = isFull ? messages.slice(-maxMessages) : messages;
		this.hasOlder ||= isFull;
		return changed;
	}
}

export const world = new World();

/** @param {Json} user */
export function shownName({ global_name, username }) {
	return String(global_name ?? username);
}

/** @param {Json} channel */
export function isThread({ type }) {
	return type >= 10 && type <= 12;
}

/** @param {Json} channel */
export function isVoice({ type }) {
	return type === channelTypes.voice || type === channelTypes.stage;
}

/** @param {Json} channel */
export function holdsPosts({ type }) {
	return type === channelTypes.forum || type === channelTypes.media;
}
