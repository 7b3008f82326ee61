// Renders the list of guilds, and the open guild's channels with the members in voice.

import { element } from "../dom.js";
import { invite, joinVoice, joinWith, leave, page, raid } from "./actions.js";
import { avatar } from "./messages.js";
import { channelTypes, direct, holdsPosts, isThread, isVoice, world } from "./world.js";

/** @typedef {import("./server.js").Json} Json */

export function renderGuilds() {
	const entries = [
		...world.guilds.map(({ id, name, channels, threads }) => {
			const seen = [...channels, ...threads].filter(({ hidden }) => !hidden);
			return { id, name, initials: initialsOf(name), channelIds: seen.map((one) => one.id) };
		}),
		{ id: direct, name: "Direct messages", initials: "DM", channelIds: world.conversations.map((one) => one.id) },
	];
	return entries.map(({ id, name, initials, channelIds }) => {
		const isNew = channelIds.some((one) => world.marks.has(one));
		return element(
			"li",
			element(
				"button",
				{
					class: isNew ? "guild new" : "guild",
					"data-key": `guild-${id}`,
					"aria-current": id === world.guildId ? "true" : undefined,
					title: name,
					onclick: () => page.open(id),
				},
				element("span", { "aria-hidden": "true" }, initials),
				element("span.visually-hidden", isNew ? `${name}, with news` : name),
			),
		);
	});
}

/** @param {string} name */
function initialsOf(name) {
	const words = name.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
	const letters = words.map((word) => [...word][0] ?? "");
	return letters.slice(-2).join("").toUpperCase() || "?";
}

/** Returns the list of channels: categories with their channels, active threads, and who is in voice. */
export function renderChannels() {
	const { conversations, guildId, name, view } = world;
	/** @param {Json[]} list */
	const listOf = (list) => element("ul.channels", ...list.map(channelItem));
	if (guildId === direct)
		return [
			conversations.length === 0
				? element("p.quiet.empty", `${name} has no direct messages yet.`)
				: listOf(conversations),
		];
	/** @type {Json[]} */
	const channels = [...(view?.channels ?? [])].sort(
		(a, b) => Number(isVoice(a)) - Number(isVoice(b)) || a.position - b.position || a.id.localeCompare(b.id),
	);
	const within = (/** @type {string | null} */ parent) =>
		channels.filter(({ parent_id, type }) => (parent_id ?? null) === parent && type !== channelTypes.category);
	return [
		listOf(within(null)),
		...channels
			.filter(({ type }) => type === channelTypes.category)
			.map(({ id, name }) =>
				element("section", { "aria-label": name }, element("h3.category", element("bdi", name)), listOf(within(id))),
			),
	];
}

/** @param {Json} channel */
function channelItem(channel) {
	const { threads = [], is_member } = world.view ?? {};
	/** @type {Json[]} */
	const active = threads.filter(
		(/** @type {Json} */ { parent_id, thread_metadata }) => parent_id === channel.id && !thread_metadata?.archived,
	);
	return element(
		"li",
		channelButton(channel),
		...(isVoice(channel) && is_member ? voice(channel) : []),
		active.length > 0 &&
			element("ul.channels.threads", ...active.map((thread) => element("li", channelButton(thread)))),
	);
}

/** @param {Json} channel */
function channelButton(channel) {
	const { id, name } = channel;
	const unread = world.marks.get(id);
	return element(
		"button",
		{
			class: unread === undefined ? "channel" : "channel new",
			"data-key": `channel-${id}`,
			"aria-current": id === world.channelId ? "true" : undefined,
			onclick: () => page.open(world.guildId, id),
		},
		element("span.sign", { "aria-hidden": "true" }, signOf(channel)),
		element("bdi.name", name),
		unread === 0 && element("span.count", "new"),
		unread && element("span.count", unread, element("span.visually-hidden", " new")),
	);
}

/** @param {Json} channel */
export function signOf(channel) {
	if (channel.type === channelTypes.dm) return "@";
	if (isVoice(channel)) return "♪";
	if (isThread(channel)) return "↳";
	return holdsPosts(channel) ? "☰" : "#";
}

/** @param {Json} channel */
function voice(channel) {
	const states = (world.view?.voice_states ?? []).filter(
		(/** @type {Json} */ { channel_id }) => channel_id === channel.id,
	);
	const isIn = states.some((/** @type {Json} */ { user_id }) => user_id === world.person?.id);
	return [
		element(
			"button.small-button",
			{
				"data-key": `voice-${channel.id}`,
				"aria-label": `${isIn ? "Leave" : "Join"} voice in ${channel.name}`,
				onclick: () => joinVoice(isIn ? null : channel.id),
			},
			isIn ? "Leave" : "Join",
		),
		states.length > 0 &&
			element(
				"ul.voice",
				{ "aria-label": `In ${channel.name}` },
				...states.map((/** @type {Json} */ state) => {
					const { user_id, mute, self_mute, deaf, self_deaf } = state;
					const name = world.nameOf(user_id);
					const isMuted = mute || self_mute;
					return element(
						"li",
						avatar({ id: user_id }, name),
						element("bdi.name", name),
						isMuted && element("span.small.quiet", "muted"),
						(deaf || self_deaf) && element("span.small.quiet", "deafened"),
					);
				}),
			),
	];
}

export function guildTools() {
	const { view, person } = world;
	if (!view?.is_member) return [];
	const isOwner = view.guild.owner_id === person?.id;
	/** @param {string} text @param {() => void} act */
	const tool = (text, act) => element("button.small-button", { "data-key": text, onclick: act }, text);
	const raidThis = tool("Start a raid", () => raid(world.guildId));
	return [tool("Make an invite", invite), ...(isOwner ? [] : [tool("Leave", leave)]), raidThis];
}

/** @returns {HTMLElement[]} */
export function placeholder() {
	const { unreadable, channel, view } = world;
	if (unreadable === undefined) {
		const hint =
			channel && holdsPosts(channel)
				? "Posts are in the list of channels."
				: "No messages yet. Write one, or ask your assistant for something: what a bot does appears here at once.";
		return world.messages.length > 0 ? [] : [element("p", hint)];
	}
	const [open] = view?.is_member ? [] : (view?.invites ?? []);
	return [
		element("p", unreadable),
		...(open
			? [element("button.main", { onclick: () => joinWith(open.code) }, `Join with the invite ${open.code}`)]
			: []),
	];
}

export function channelsInOrder() {
	/** @type {Json[]} */
	const channels = world.view?.channels ?? [];
	return channels
		.filter(({ type }) => type !== channelTypes.category)
		.toSorted((a, b) => a.type - b.type || a.position - b.position);
}
