// Renders the list of guilds, and the open guild's channels with the members in voice.

import { element } from "../dom.js";
import { avatar } from "./messages.js";
import { channelTypes, direct, holdsPosts, isThread, isVoice, shownName } from "./world.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 * @typedef {import("./actions.js").Actions} Actions
 */

/**
 * Returns the buttons that open a guild or the direct messages.
 *
 * @param {World} world
 * @param {Actions} actions
 */
export function renderGuilds(world, actions) {
	const entries = [
		...world.guilds.map(({ id, name, channels, threads }) => ({
			id,
			name,
			initials: initialsOf(name),
			channelIds: [...channels, ...threads].map((one) => one.id),
		})),
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
					onclick: () => actions.openGuild(id),
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

/**
 * Returns the list of channels: categories with their channels, active threads, and who is in voice.
 *
 * @param {World} world
 * @param {Actions} actions
 */
export function renderChannels(world, actions) {
	if (world.guildId === direct) return directList(world, actions);
	const channels = [...(world.everything?.channels ?? [])].sort(inOrder);
	const within = (/** @type {string | null} */ parent) =>
		channels.filter(({ parent_id, type }) => (parent_id ?? null) === parent && type !== channelTypes.category);
	/** @param {Json[]} list */
	const listOf = (list) => element("ul.channels", ...list.map((one) => channelItem(world, one, actions)));
	return [
		listOf(within(null)),
		...channels
			.filter(({ type }) => type === channelTypes.category)
			.map(({ id, name }) =>
				element("section", { "aria-label": name }, element("h3.category", element("bdi", name)), listOf(within(id))),
			),
	];
}

/** @param {Json} a @param {Json} b */
function inOrder(a, b) {
	return Number(isVoice(a)) - Number(isVoice(b)) || a.position - b.position || a.id.localeCompare(b.id);
}

/**
 * @param {World} world
 * @param {Actions} actions
 */
function directList(world, actions) {
	const { conversations } = world;
	if (conversations.length === 0) return [element("p.quiet.empty", `${world.name} has no direct messages yet.`)];
	return [element("ul.channels", ...conversations.map((one) => channelItem(world, one, actions)))];
}

/**
 * @param {World} world
 * @param {Json} channel
 * @param {Actions} actions
 */
function channelItem(world, channel, actions) {
	const threads = (world.everything?.threads ?? []).filter(
		(/** @type {Json} */ { parent_id, thread_metadata }) => parent_id === channel.id && !thread_metadata?.archived,
	);
	const item = element("li", channelButton(world, channel, actions));
	if (isVoice(channel) && world.sees(channel.id)) item.append(...voice(world, channel, actions));
	if (threads.length > 0)
		item.append(
			element(
				"ul.channels.threads",
				...threads.map((/** @type {Json} */ thread) => element("li", channelButton(world, thread, actions))),
			),
		);
	return item;
}

/**
 * @param {World} world
 * @param {Json} channel
 * @param {Actions} actions
 */
function channelButton(world, channel, actions) {
	const { id, name } = channel;
	const unread = world.marks.get(id);
	const isHidden = channel.type !== channelTypes.dm && world.view?.is_member === true && !world.sees(id);
	return element(
		"button",
		{
			class: `channel ${unread === undefined ? "" : "new"} ${isHidden ? "hidden-channel" : ""}`,
			"data-key": `channel-${id}`,
			"aria-current": id === world.channelId ? "true" : undefined,
			onclick: () => actions.openChannel(id),
		},
		element("span.sign", { "aria-hidden": "true" }, signOf(channel)),
		element("bdi.name", name),
		isHidden && element("span.small.quiet", "hidden"),
		unread === 0 && element("span.count", "new"),
		unread && element("span.count", unread, element("span.visually-hidden", " new")),
	);
}

/**
 * Returns the symbol before a channel's name.
 * @param {Json} channel
 */
export function signOf(channel) {
	if (channel.type === channelTypes.dm) return "@";
	if (isVoice(channel)) return "♪";
	if (isThread(channel)) return "↳";
	return holdsPosts(channel) ? "☰" : "#";
}

/**
 * @param {World} world
 * @param {Json} channel
 * @param {Actions} actions
 */
function voice(world, channel, actions) {
	const states = (world.everything?.voice_states ?? []).filter(
		(/** @type {Json} */ { channel_id }) => channel_id === channel.id,
	);
	const isIn = states.some((/** @type {Json} */ { user_id }) => user_id === world.person?.id);
	return [
		element(
			"button.small-button",
			{
				"data-key": `voice-${channel.id}`,
				"aria-label": `${isIn ? "Leave" : "Join"} voice in ${channel.name}`,
				onclick: () => actions.joinVoice(isIn ? null : channel.id),
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
	].filter((one) => one instanceof HTMLElement);
}

/**
 * Returns the buttons for what a member does with the open guild.
 *
 * @param {World} world
 * @param {Actions} actions
 */
export function guildTools({ view, everything, person }, actions) {
	if (!view?.is_member) return [];
	const isOwner = everything?.guild.owner_id === person?.id;
	/** @param {string} text @param {() => void} act */
	const tool = (text, act) => element("button.small-button", { "data-key": text, onclick: act }, text);
	return [tool("Make an invite", () => actions.invite()), ...(isOwner ? [] : [tool("Leave", () => actions.leave())])];
}

/**
 * Returns the content in place of messages: why there are none, or the posts of a forum.
 * @param {World} world
 * @param {Actions} actions
 * @returns {HTMLElement[]}
 */
export function placeholder(world, actions) {
	const { unreadable, channel, view, everything, people } = world;
	if (unreadable === undefined) {
		if (channel && holdsPosts(channel)) return posts(world, channel, actions);
		const hint =
			"No messages yet. Write one, or ask your assistant for something: what a bot does appears here at once.";
		return world.messages.length > 0 ? [] : [element("p", hint)];
	}
	const text = element("p", unreadable);
	if (!channel || !everything) return [text];
	const [invite] = view?.is_member ? [] : everything.invites;
	const owner = people.find(({ id }) => id === everything.guild.owner_id);
	const buttons = [
		invite &&
			element(
				"button.main",
				{ onclick: () => void actions.joinWith(invite.code) },
				`Join with the invite ${invite.code}`,
			),
		owner &&
			owner !== world.person &&
			element("button", { onclick: () => actions.become(owner.id) }, `Act as ${shownName(owner)}, the owner`),
	];
	return [text, element("p.row", ...buttons)];
}

/**
 * Returns the posts of a forum as buttons that open them.
 * @param {World} world
 * @param {Json} forum
 * @param {Actions} actions
 */
function posts(world, forum, actions) {
	/** @type {Json[]} */
	const threads = world.everything?.threads ?? [];
	const found = threads.filter(({ parent_id }) => parent_id === forum.id);
	if (found.length === 0) return [element("p", "No posts yet.")];
	return found.map(({ id, name, message_count }) =>
		element(
			"button.post",
			{ onclick: () => actions.openChannel(id) },
			element("bdi", name),
			element("span.small.quiet", `${message_count} messages`),
		),
	);
}

/**
 * Returns the channels of the open guild without categories. Channels that the person sees come first.
 * @param {World} world
 */
export function channelsInOrder(world) {
	/** @type {Json[]} */
	const channels = world.everything?.channels ?? [];
	const rank = (/** @type {Json} */ one) => (world.sees(one.id) ? 0 : 100) + one.type;
	return channels
		.filter(({ type }) => type !== channelTypes.category)
		.toSorted((a, b) => rank(a) - rank(b) || a.position - b.position);
}
