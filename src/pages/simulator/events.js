// Applies the simulator's events to the page. Events that arrive together are shown together, so that the page can
// handle many.

import { channelOfEntry } from "./activity.js";
import { suggestionType } from "./message-state.js";
import { announce } from "./notices.js";
import { direct } from "./world.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 */

/**
 * Parts of the page that events change.
 *
 * @typedef {object} Page
 * @property {(act: () => Promise<unknown>) => Promise<unknown>} attempt runs an action and shows its failure
 * @property {() => Promise<unknown>} loadAll
 * @property {(guildId: string) => Promise<void>} open
 * @property {() => Promise<void>} openMessages
 * @property {() => void} showPlaces
 * @property {() => void} showChannel
 * @property {(given?: { changed?: string[] }) => void} showMessages
 * @property {() => void} showFaults
 * @property {(entry: Json) => void} showEntry
 * @property {(interaction: Json) => void} receiveChoices takes a bot's suggestions
 * @property {(interaction: Json) => void} openModal
 */

/** Matches the events after which the open guild is loaded again. */
const structural = /^(GUILD_|CHANNEL_(CREATE|UPDATE|DELETE)|THREAD_|VOICE_|INVITE_)/;

/** Milliseconds for which changes are collected before they are shown. */
const showSoonMs = 30;

/** Receives the simulator's events and updates the page. */
export class Receiver {
	#world;
	#page;
	#isRefreshing = false;
	#isStale = false;
	/** Changes that arrived while `refresh` was running: new entries, and messages to show again. */
	#late = noNews();
	/** Changes that are not yet shown. */
	#unshown = noChange();
	#isShowingSoon = false;

	/**
	 * @param {World} world
	 * @param {Page} page
	 */
	constructor(world, page) {
		this.#world = world;
		this.#page = page;
	}

	/**
	 * Takes an event of the simulator's stream.
	 *
	 * @param {string} type
	 * @param {Json} data
	 */
	receive(type, data) {
		const world = this.#world;
		const page = this.#page;
		if (type === "reload") void page.attempt(page.loadAll);
		else if (type === "discord") this.#receiveDiscord(data);
		else if (type === "journal" || type === "request") this.#receiveEntry(data);
		else if (type === "interaction") this.#receiveInteraction(data);
		else if (type === "faults") {
			world.faults = /** @type {Json[]} */ (/** @type {unknown} */ (data));
			page.showFaults();
		} else if (type === "bots") {
			world.connected = new Set(data.connected);
			page.showFaults();
			page.showPlaces();
		}
	}

	/** @param {Json} event */
	#receiveDiscord({ type, channel_id, data }) {
		const world = this.#world;
		if (structural.test(type)) void this.#refresh();
		if (type === "CHANNEL_CREATE" || data.newly_created) world.markAsNew(data.id);
		if (!type.startsWith("MESSAGE_")) return;
		if (channel_id === world.channelId) {
			if (world.unreadable !== undefined) return;
			const changed = world.applyMessageEvent(type, data);
			if (changed.length > 0) this.#showSoon({ messages: changed });
			if (this.#isRefreshing) this.#late.messages.push(...changed);
			if (type === "MESSAGE_CREATE" && data.author.id !== world.person?.id) announce(world, data);
		} else if (type === "MESSAGE_CREATE") {
			world.mark(channel_id);
			if (world.guildOf(channel_id) === undefined) void this.#refresh();
			else this.#showSoon({ places: true });
		}
	}

	/**
	 * Shows an entry of the journal. If names in it are not yet known, keeps it until they are loaded.
	 * @param {Json} entry
	 */
	#receiveEntry(entry) {
		const world = this.#world;
		if (this.#isRefreshing) {
			this.#late.entries.push(entry);
			return;
		}
		world.addEntry(entry);
		this.#page.showEntry(entry);
		const channelId = channelOfEntry(world, entry);
		const isElsewhere = channelId && channelId !== world.channelId;
		if (!isElsewhere || !world.isBot(entry.actor)) return;
		world.mark(channelId, world.nameOf(entry.actor));
		this.#showSoon({ places: true });
	}

	/** @param {Json} interaction */
	#receiveInteraction(interaction) {
		const world = this.#world;
		if (interaction.type === suggestionType) {
			this.#page.receiveChoices(interaction);
			return;
		}
		const known = world.interactions.get(interaction.id);
		const isOwn = interaction.user_id === world.person?.id;
		if (isOwn && interaction.modal && !known?.modal) this.#page.openModal(interaction);
		const before = new Set(world.ephemeral.map(({ id }) => id));
		world.interactions.set(interaction.id, interaction);
		if (interaction.channel_id !== world.channelId) return;
		this.#page.showMessages();
		for (const message of world.ephemeral) if (!before.has(message.id) && message.content) announce(world, message);
	}

	/**
	 * Shows a change after a few milliseconds, together with others that arrive until then, so that the page can handle
	 * many changes.
	 * @param {{ places?: boolean, messages?: string[] }} change
	 */
	#showSoon({ places = false, messages = [] }) {
		this.#unshown.places ||= places;
		this.#unshown.messages.push(...messages);
		if (this.#isShowingSoon) return;
		this.#isShowingSoon = true;
		setTimeout(() => {
			const { places, messages } = this.#unshown;
			this.#unshown = noChange();
			this.#isShowingSoon = false;
			if (places) this.#page.showPlaces();
			if (messages.length > 0) this.#page.showMessages({ changed: messages });
		}, showSoonMs);
	}

	/** Loads the state and the open guild again. Changes that arrive meanwhile cause one more run. */
	async #refresh() {
		this.#isStale = true;
		if (this.#isRefreshing) return;
		this.#isRefreshing = true;
		while (this.#isStale) {
			this.#isStale = false;
			await this.#page.attempt(() => this.#refreshOnce());
		}
		this.#isRefreshing = false;
		const { entries, messages } = this.#late;
		this.#late = noNews();
		for (const entry of entries) this.#receiveEntry(entry);
		if (messages.length > 0) this.#page.showMessages({ changed: messages });
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

/** @returns {{ entries: Json[], messages: string[] }} */
function noNews() {
	return { entries: [], messages: [] };
}

/** @returns {{ places: boolean, messages: string[] }} */
function noChange() {
	return { places: false, messages: [] };
}
