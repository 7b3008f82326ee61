// Renders the list of guilds, and the open guild's channels with the members in voice.

import { element } from "../dom.js";
import { avatar } from "./messages.js";
import { channelTypes, direct, holdsPosts, isThread, isVoice } from "./world.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 * @typedef {import("./actions.js").Actions} Actions
 */

/**
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
 * @param {World} world
 * @param {Actions} actions
 */
export function renderChannels(world, actions) {
	if (world.guildId === direct) return directList(world, actions);
	const channels = [...(world.view?.channels ?? [])].sort(inOrder);
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
	const threads = (world.view?.threads ?? []).filter(
		(/** @type {Json} */ { parent_id, thread_metadata }) => parent_id === channel.id && !thread_metadata?.archived,
	);
	const item = element("li", channelButton(world, channel, actions));
	if (isVoice(channel) && world.view?.is_member) item.append(...voice(world, channel, actions));
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
	return element(
		"button",
		{
			class: unread === undefined ? "channel" : "channel new",
			"data-key": `channel-${id}`,
			"aria-current": id === world.channelId ? "true" : undefined,
			onclick: () => actions.openChannel(id),
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

/**
 * @param {World} world
 * @param {Json} channel
 * @param {Actions} actions
 */
function voice(world, channel, actions) {
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
 * @param {World} world
 * @param {Actions} actions
 */
export function guildTools({ view, person }, actions) {
	if (!view?.is_member) return [];
	const isOwner = view.guild.owner_id === person?.id;
	/** @param {string} text @param {() => void} act */
	const tool = (text, act) => element("button.small-button", { "data-key": text, onclick: act }, text);
	return [tool("Make an invite", () => actions.invite()), ...(isOwner ? [] : [tool("Leave", () => actions.leave())])];
}

/**
 * @param {World} world
 * @param {Actions} actions
 * @returns {HTMLElement[]}
 */
export function placeholder(world, actions) {
	const { unreadable, channel, view } = world;
	if (unreadable === undefined) {
		const hint =
			channel && holdsPosts(channel)
				? "Posts are in the list of channels."
				: "No messages yet. Write one, or ask your assistant for something: what a bot does appears here at once.";
		return world.messages.length > 0 ? [] : [element("p", hint)];
	}
	const [invite] = view?.is_member ? [] : (view?.invites ?? []);
	const join = () => void actions.joinWith(invite.code);
	return [
		element("p", unreadable),
		...(invite ? [element("button.main", { onclick: join }, `Join with the invite ${invite.code}`)] : []),
	];
}

/** @param {World} world */
export function channelsInOrder(world) {
	/** @type {Json[]} */
	const channels = world.view?.channels ?? [];
	return channels
		.filter(({ type }) => type !== channelTypes.category)
		.toSorted((a, b) => a.type - b.type || a.position - b.position);
}
