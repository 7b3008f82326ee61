// Entry point of the simulator's page: loads the state and shows changes. The page remembers names, not ids: after a
// restart of the simulator, which creates new ids, it opens the guild and channel of the same names as the same person.

import { byId, element, setChildren } from "../dom.js";
import { attempt, createPerson, join, page, speak } from "./actions.js";
import { closeCommand, updateComposer } from "./composer.js";
import { receive } from "./events.js";
import { channelsInOrder, guildTools, placeholder, renderChannels, renderGuilds, signOf } from "./guild.js";
import { renderMembers } from "./members.js";
import { renderMessage } from "./messages.js";
import { showConnection } from "./notices.js";
import { followEvents, rememberedNames, rememberNames } from "./server.js";
import { showTour } from "./tour.js";
import { direct, shownName, world } from "./world.js";

const narrow = matchMedia("(max-width: 60rem)");
const scroll = byId("scroll");
const localeChoice = /** @type {HTMLSelectElement} */ (byId("locale"));
const personChoice = /** @type {HTMLSelectElement} */ (byId("person"));
const viewButtons = [...byId("views").querySelectorAll("button")];
const newPerson = "new";

/** The items of the messages that are shown, by message id. @type {Map<string, HTMLLIElement>} */
let items = new Map();

// Opening

/** Loads view again, and opens the guild and channel with the remembered names. */
async function loadAll() {
	const before = rememberedNames();
	await world.loadState();
	await world.loadInteractions();
	world.marks.clear();
	world.person = world.people.find(({ username }) => username === before.person) ?? world.people[0];
	await world.loadState();
	const guild =
		before.guild === direct ? direct : (world.guilds.find(({ name }) => name === before.guild) ?? world.guilds[0])?.id;
	showPeople();
	await open(guild ?? direct, undefined, before.channel);
	showTour();
	// The tour takes room from the messages.
	scroll.scrollTop = scroll.scrollHeight;
	showConnection(true);
}

async function reload() {
	await world.loadState();
	showPeople();
}

/**
 * Opens a guild and one of its channels: the channel with this id or name, otherwise the first one that has messages.
 * @param {string} guildId
 * @param {string} [channelId]
 * @param {string} [channelName]
 */
async function open(guildId, channelId, channelName) {
	if (channelId !== undefined) setView("chat");
	const isOther = guildId !== world.guildId || !world.view;
	world.guildId = guildId;
	if (isOther) await attempt(() => world.loadGuild());
	const channels = guildId === direct ? world.conversations : channelsInOrder();
	const named = channels.find(({ name }) => name === channelName);
	world.channelId = channelId ?? (named ?? channels[0])?.id ?? "";
	world.marks.delete(world.channelId);
	closeCommand();
	rememberNames({
		person: world.person?.username,
		guild: guildId === direct ? direct : world.view?.guild.name,
		channel: world.channel?.name,
	});
	await openMessages();
	if (channelId !== undefined && narrow.matches) byId("channel-name").focus();
}

async function openMessages() {
	scroll.ariaBusy = "true";
	showPlaces();
	await world.loadMessages();
	showChannel();
	// Messages and members have commands in their menus.
	await updateComposer();
	items = new Map();
	showPlaces();
	showMessages({ atEnd: true });
	scroll.ariaBusy = "false";
}

/** @param {string} userId */
async function become(userId) {
	scroll.ariaBusy = "true";
	world.person = world.people.find(({ id }) => id === userId) ?? world.person;
	personChoice.value = world.person?.id ?? "";
	showLocale();
	await attempt(() => Promise.all([world.loadState(), world.loadGuild()]));
	const stays = world.guildId !== direct || world.conversations.some(({ id }) => id === world.channelId);
	await open(world.guildId, undefined, stays ? world.channel?.name : undefined);
}

// Showing

function showPeople() {
	personChoice.replaceChildren(
		...world.people.map((person) =>
			element("option", { value: person.id, selected: person.id === world.person?.id }, shownName(person)),
		),
		element("option", { value: newPerson }, "New person…"),
	);
	showLocale();
}

function showLocale() {
	const nameOf = new Intl.DisplayNames("en", { type: "language" });
	localeChoice.replaceChildren(
		...world.locales.map((code) =>
			element("option", { value: code, selected: code === world.person?.locale }, nameOf.of(code) ?? code),
		),
	);
}

function showPlaces() {
	const { guildId, view } = world;
	byId("guild-name").textContent = guildId === direct ? "Direct messages" : (view?.guild.name ?? "");
	setChildren(byId("guilds"), renderGuilds());
	setChildren(byId("channels"), renderChannels());
	setChildren(byId("member-list"), renderMembers());
	setChildren(byId("guild-tools"), guildTools());
}

/** Shows the name and topic of the open channel, and the placeholder if it has no messages. */
function showChannel() {
	const { channel, guildId } = world;
	const shown = guildId === direct ? world.conversations.find(({ id }) => id === world.channelId) : channel;
	const name = shown ? `${signOf(shown)} ${shown.name}` : "No channel";
	byId("channel-name").textContent = name;
	byId("topic").textContent = channel?.topic ?? "";
	scroll.setAttribute("aria-label", `Messages in ${name}`);
	byId("empty").replaceChildren(...placeholder());
}

/** @param {{ changed?: string[], atEnd?: boolean }} [given] */
function showMessages({ changed = [], atEnd = false } = {}) {
	const wasAtEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
	const ephemeral = world.unreadable === undefined ? world.ephemeral : [];
	const all = [...world.messages, ...ephemeral].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
	for (const id of changed) items.delete(id);
	const shown = all.map((message) => items.get(message.id) ?? renderMessage(message));
	items = new Map();
	for (const [index, item] of shown.entries()) items.set(all[index]?.id, item);
	setChildren(byId("messages"), shown);
	byId("older").hidden = !world.hasOlder;
	byId("empty").hidden = all.length > 0 && world.unreadable === undefined;
	if (atEnd || wasAtEnd) scroll.scrollTop = scroll.scrollHeight;
}

// Controls

/** @param {string} view */
function setView(view) {
	document.body.dataset.view = view;
	for (const button of viewButtons) button.ariaCurrent = String(button.dataset.view === view);
}

for (const button of viewButtons) button.addEventListener("click", () => setView(button.dataset.view ?? ""));
personChoice.addEventListener("change", async () => {
	if (personChoice.value !== newPerson) return become(personChoice.value);
	personChoice.value = world.person?.id ?? "";
	createPerson();
});
localeChoice.addEventListener("change", async () => {
	await speak(localeChoice.value);
	await openMessages();
});
byId("join").addEventListener("click", join);
byId("older").addEventListener("click", async () => {
	const height = scroll.scrollHeight;
	await attempt(() => world.loadOlder());
	showMessages();
	scroll.scrollTop += scroll.scrollHeight - height;
});
// Biome forbids tabindex in the markup, but a scrollable region must be reachable by keyboard.
scroll.tabIndex = 0;
setView("chat");

Object.assign(page, { loadAll, reload, open, openMessages, become, showPlaces, showChannel, showMessages });
await followEvents(receive, () => showConnection(false));
