// Applies the simulator's events to the page. Events that arrive together are shown together, so that the page can
// handle many.

import { soon } from "../dom.js";
import { attempt, page } from "./actions.js";
import { receiveChoices } from "./composer.js";
import { ephemeralMessages, suggestionType } from "./message-state.js";
import { openModal } from "./modal.js";
import { announce } from "./notices.js";
import { direct, world } from "./world.js";

/** @typedef {import("./server.js").Json} Json */

const structural = /^(GUILD_|CHANNEL_(CREATE|UPDATE|DELETE)|THREAD_|VOICE_|INVITE_)/;

const showSoonMs = 30;

let isRefreshing = false;
let isStale = false;
/** The messages to show again after `refresh`. @type {string[]} */
let late = [];
/** The ids of messages whose changes are not yet shown. @type {string[]} */
let changed = [];
let arePlacesStale = false;

/** @param {string} type @param {Json} data */
export function receive(type, data) {
	// Of each connection. What happened before is in what is loaded now.
	if (type === "hello") void attempt(page.loadAll);
	else if (type === "discord") receiveDiscord(data);
	else if (type === "interaction") receiveInteraction(data);
	else if (type === "bots") {
		world.connected = new Set(data.connected);
		page.showPlaces();
	}
}

/** @param {Json} event */
function receiveDiscord({ type, channel_id, data }) {
	if (structural.test(type)) void refresh();
	if (type === "CHANNEL_CREATE" || data.newly_created) world.marks.set(data.id, 0);
	if (!type.startsWith("MESSAGE_")) return;
	if (channel_id === world.channelId) {
		if (world.unreadable !== undefined) return;
		const ids = world.applyMessageEvent(type, data);
		changed.push(...ids);
		showSoon();
		if (isRefreshing) late.push(...ids);
		if (type === "MESSAGE_CREATE" && data.author.id !== world.person?.id) announce(data);
	} else if (type === "MESSAGE_CREATE") {
		world.marks.set(channel_id, (world.marks.get(channel_id) ?? 0) + 1);
		if (world.guildOf(channel_id) === undefined) return void refresh();
		arePlacesStale = true;
		showSoon();
	}
}

/** @param {Json} interaction */
function receiveInteraction(interaction) {
	const known = world.interactions.get(interaction.id);
	const isOwn = interaction.user_id === world.person?.id;
	if (interaction.type === suggestionType) {
		if (isOwn) receiveChoices(interaction);
		return;
	}
	if (isOwn && interaction.modal && !known?.modal) openModal(interaction);
	const before = new Set(world.ephemeral.map(({ id }) => id));
	world.interactions.set(interaction.id, interaction);
	if (interaction.channel_id !== world.channelId) return;
	page.showMessages({ changed: ephemeralMessages(interaction).map(({ id }) => id) });
	for (const message of world.ephemeral) if (!before.has(message.id) && message.content) announce(message);
}

/** Shows changes together with others that arrive within a few milliseconds, so that the page can handle many. */
const showSoon = soon(showSoonMs, () => {
	const ids = changed;
	changed = [];
	if (arePlacesStale) page.showPlaces();
	arePlacesStale = false;
	if (ids.length > 0) page.showMessages({ changed: ids });
});

async function refresh() {
	isStale = true;
	if (isRefreshing) return;
	isRefreshing = true;
	while (isStale) {
		isStale = false;
		await attempt(refreshOnce);
	}
	isRefreshing = false;
	const ids = late;
	late = [];
	if (ids.length > 0) page.showMessages({ changed: ids });
}

async function refreshOnce() {
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
