// Applies the simulator's events to the page. Events that arrive together are shown together, so that the page can
// handle many.

import { soon } from "../dom.js";
import { ephemeralMessages, suggestionType } from "./message-state.js";
import { announce } from "./notices.js";
import { direct } from "./world.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 * @typedef {import("./actions.js").Actions} Actions
 * @typedef {import("./composer.js").Composer} Composer
 */

/**
 * Parts of the page that events change.
 *
 * @typedef {object} Page
 * @property {() => Promise<unknown>} loadAll
 * @property {(guildId: string) => Promise<void>} open
 * @property {() => Promise<void>} openMessages
 * @property {() => void} showPlaces
 * @property {() => void} showChannel
 * @property {(given?: { changed?: string[] }) => void} showMessages
 */

/** Matches the events after which the open guild is loaded again. */
const structural = /^(GUILD_|CHANNEL_(CREATE|UPDATE|DELETE)|THREAD_|VOICE_|INVITE_)/;

/** Milliseconds for which changes are collected before they are shown. */
const showSoonMs = 30;

/** Receives the simulator's events and updates the page. */
export class Receiver {
	#world;
	#actions;
	#composer;
	#page;
	#isRefreshing = false;
	#isStale = false;
	/** The messages to show again after `refresh`. @type {string[]} */
	#late = [];
	/** The ids of messages whose changes are not yet shown. @type {string[]} */
	#changed = [];
	#arePlacesStale = false;

	/**
	 * @param {World} world
	 * @param {Actions} actions
	 * @param {Composer} composer
	 * @param {Page} page
	 */
	constructor(world, actions, composer, page) {
		this.#world = world;
		this.#actions = actions;
		this.#composer = composer;
		this.#page = page;
	}

	/**
	 * @param {string} type
	 * @param {Json} data
	 */
	receive(type, data) {
		const world = this.#world;
		const page = this.#page;
		// Of each connection. What happened before is in what is loaded now.
		if (type === "hello") void this.#actions.attempt(page.loadAll);
		else if (type === "discord") this.#receiveDiscord(data);
		else if (type === "interaction") this.#receiveInteraction(data);
		else if (type === "bots") {
			world.connected = new Set(data.connected);
			page.showPlaces();
		}
	}

	/** @param {Json} event */
	#receiveDiscord({ type, channel_id, data }) {
		const world = this.#world;
		if (structural.test(type)) void this.#refresh();
		if (type === "CHANNEL_CREATE" || data.newly_created) world.marks.set(data.id, 0);
		if (!type.startsWith("MESSAGE_")) return;
		if (channel_id === world.channelId) {
			if (world.unreadable !== undefined) return;
			const changed = world.applyMessageEvent(type, data);
			this.#changed.push(...changed);
			this.#showSoon();
			if (this.#isRefreshing) this.#late.push(...changed);
			if (type === "MESSAGE_CREATE" && data.author.id !== world.person?.id) announce(world, data);
		} else if (type === "MESSAGE_CREATE") {
			world.marks.set(channel_id, (world.marks.get(channel_id) ?? 0) + 1);
			if (world.guildOf(channel_id) === undefined) return void this.#refresh();
			this.#arePlacesStale = true;
			this.#showSoon();
		}
	}

	/** @param {Json} interaction */
	#receiveInteraction(interaction) {
		const world = this.#world;
		const known = world.interactions.get(interaction.id);
		const isOwn = interaction.user_id === world.person?.id;
		if (interaction.type === suggestionType) {
			if (isOwn) this.#composer.receiveChoices(interaction);
			return;
		}
		if (isOwn && interaction.modal && !known?.modal) this.#actions.openModal(interaction);
		const before = new Set(world.ephemeral.map(({ id }) => id));
		world.interactions.set(interaction.id, interaction);
		if (interaction.channel_id !== world.channelId) return;
		this.#page.showMessages({ changed: ephemeralMessages(interaction).map(({ id }) => id) });
		for (const message of world.ephemeral) if (!before.has(message.id) && message.content) announce(world, message);
	}

	/** Shows changes together with others that arrive within a few milliseconds, so that the page can handle many. */
	#showSoon = soon(showSoonMs, () => {
		const messages = this.#changed;
		this.#changed = [];
		if (this.#arePlacesStale) this.#page.showPlaces();
		this.#arePlacesStale = false;
		if (messages.length > 0) this.#page.showMessages({ changed: messages });
	});

	/** Loads the state and the open guild again. Changes that arrive meanwhile cause one more run. */
	async #refresh() {
		this.#isStale = true;
		if (this.#isRefreshing) return;
		this.#isRefreshing = true;
		while (this.#isStale) {
			this.#isStale = false;
			await this.#actions.attempt(() => this.#refreshOnce());
		}
		this.#isRefreshing = false;
		const late = this.#late;
		this.#late = [];
		if (late.length > 0) this.#page.showMessages({ changed: late });
	}

	async #refreshOnce() {
		const world = this.#world;
		const page = this.#page;
		const couldRead = world.unreadable === undefined;
		const couldWrite = world.mayWrite;
		await world.loadState();
		await world.loadGuild();
		const isGone = world.guildId !== direct && !world.guilds.some(({ id }) => id === world.guildId);
		if (isGone || (world.channelId !== "" && !world.channel))
			return page.open(isGone ? (world.guilds[0]?.id ?? direct) : world.guildId);
		page.showPlaces();
		page.showChannel();
		const canRead = world.whyUnreadable() === undefined;
		if (canRead !== couldRead || couldWrite !== world.mayWrite) await page.openMessages();
	}
}
