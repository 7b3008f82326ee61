// The activity of the bots as sentences: the journal's entries, and refused requests.

import { element } from "../dom.js";
import { shortTime } from "./embeds.js";
import { renderLine } from "./markdown.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 */

/**
 * What a change of a member does, by the field of the request, if it is the only one of these.
 *
 * @type {Record<string, string>}
 */
const memberChanges = {
	roles: "changed the roles of {user}",
	nick: "changed the nickname of {user}",
	communication_disabled_until: "timed out {user}",
	channel_id: "moved {user} in voice",
	mute: "changed whether {user} is muted in voice",
	deaf: "changed whether {user} is deafened in voice",
};

/**
 * Sentences by route. {channel}, {user}, {role}, {emoji} and {bot} are filled in from the path, {name} from the body.
 * @type {Record<string, string>}
 */
const sentences = {
	"POST /channels/:channel_id/messages": "wrote in {channel}",
	"PATCH /channels/:channel_id/messages/:message_id": "edited a message in {channel}",
	"DELETE /channels/:channel_id/messages/:message_id": "deleted a message in {channel}",
	"POST /channels/:channel_id/messages/bulk-delete": "deleted {messages} messages in {channel}",
	"POST /channels/:channel_id/messages/:message_id/crosspost": "published a message of {channel}",
	"POST /channels/:channel_id/messages/:message_id/threads": "started the thread {name} in {channel}",
	"POST /channels/:channel_id/threads": "started the thread {name} in {channel}",
	"PUT /channels/:channel_id/messages/:message_id/reactions/:emoji/@me": "reacted with {emoji} in {channel}",
	"DELETE /channels/:channel_id/messages/:message_id/reactions/:emoji/@me": "took back {emoji} in {channel}",
	"DELETE /channels/:channel_id/messages/:message_id/reactions": "cleared the reactions of a message in {channel}",
	"PUT /channels/:channel_id/messages/pins/:message_id": "pinned a message in {channel}",
	"DELETE /channels/:channel_id/messages/pins/:message_id": "unpinned a message in {channel}",
	"POST /channels/:channel_id/polls/:message_id/expire": "ended a poll in {channel}",
	"PATCH /channels/:channel_id": "changed {channel}",
	"DELETE /channels/:channel_id": "deleted {channel}",
	"PUT /channels/:channel_id/permissions/:overwrite_id": "changed permissions in {channel}",
	"DELETE /channels/:channel_id/permissions/:overwrite_id": "removed permissions in {channel}",
	"POST /channels/:channel_id/invites": "made an invite to {channel}",
	"POST /channels/:channel_id/webhooks": "made the webhook {name} in {channel}",
	"PUT /channels/:channel_id/thread-members/:user_id": "added {user} to {channel}",
	"PUT /channels/:channel_id/thread-members/@me": "joined {channel}",
	"PUT /channels/:channel_id/voice-status": "set the status of {channel}",
	"PATCH /guilds/:guild_id": "changed the guild's settings",
	"POST /guilds/:guild_id/channels": "created the channel {name}",
	"PATCH /guilds/:guild_id/channels": "moved channels",
	"PATCH /guilds/:guild_id/members/@me": "changed its nickname",
	"DELETE /guilds/:guild_id/members/:user_id": "kicked {user}",
	"PUT /guilds/:guild_id/members/:user_id/roles/:role_id": "gave {user} the role {role}",
	"DELETE /guilds/:guild_id/members/:user_id/roles/:role_id": "took the role {role} from {user}",
	"POST /guilds/:guild_id/roles": "created the role {name}",
	"PATCH /guilds/:guild_id/roles": "moved roles",
	"PATCH /guilds/:guild_id/roles/:role_id": "changed the role {role}",
	"DELETE /guilds/:guild_id/roles/:role_id": "deleted the role {role}",
	"POST /guilds/:guild_id/emojis": "added the emoji {name}",
	"PUT /guilds/:guild_id/bans/:user_id": "banned {user}",
	"DELETE /guilds/:guild_id/bans/:user_id": "unbanned {user}",
	"POST /guilds/:guild_id/bulk-ban": "banned several users",
	"POST /guilds/:guild_id/prune": "pruned members",
	"POST /guilds/:guild_id/scheduled-events": "scheduled {name}",
	"POST /guilds/:guild_id/auto-moderation/rules": "created the AutoMod rule {name}",
	"POST /stage-instances": "opened a stage",
	"POST /users/@me/channels": "opened direct messages",
	"POST /interactions": "used a command or button",
	"POST /interactions/:interaction_id/:interaction_token/callback": "answered {user} in {channel}",
	"PATCH /webhooks/:application_id/:interaction_token/messages/@original": "completed its answer",
	"POST /webhooks/:application_id/:interaction_token": "answered once more",
	"PUT /applications/:application_id/commands": "registered its commands",
	"PUT /applications/:application_id/guilds/:guild_id/commands": "registered its commands for this guild",
	"DELETE /users/@me/guilds/:guild_id": "left the guild",
	"POST /invites/:invite_code": "joined by invite",
};

/** Routes that are not shown, because they are frequent and unimportant. */
const unshown = new Set(["POST /channels/:channel_id/typing"]);

/**
 * Whether to show an entry: actions of bots, and with `people` also those of people.
 * @param {World} world
 * @param {Json} entry
 * @param {boolean} people
 */
export function isShown(world, { route, actor }, people) {
	if (unshown.has(route)) return false;
	return people || !world.people.some(({ id }) => id === actor);
}

/**
 * Returns the id of the channel that an entry concerns; undefined if there is none.
 * @param {World} world
 * @param {Json} entry
 * @returns {string | undefined}
 */
export function channelOfEntry(world, { route, path }) {
	const params = paramsOf(route, path);
	return params.channel_id ?? world.interactions.get(params.interaction_id ?? "")?.channel_id;
}

/**
 * @param {string | undefined} route
 * @param {string} path
 * @returns {Record<string, string>}
 */
function paramsOf(route, path) {
	const parts = path.split("?")[0]?.split("/") ?? [];
	const names = (route ?? "").split(" ")[1]?.split("/") ?? [];
	return Object.fromEntries(
		names.flatMap((name, index) => (name.startsWith(":") ? [[name.slice(1), parts[index] ?? ""]] : [])),
	);
}

/**
 * Returns the list item for an entry of the journal or a refused request.
 *
 * @param {World} world
 * @param {Json} entry
 * @param {(channelId: string) => void} openChannel
 */
export function renderEntry(world, entry, openChannel) {
	const { at, actor, reason, status, fault } = entry;
	const isRefused = status !== undefined;
	return element(
		"li",
		{ class: isRefused ? "entry refused" : "entry" },
		element(
			"p",
			{},
			element("time", { datetime: at, class: "small quiet" }, shortTime(at)),
			" ",
			element("bdi", { class: "author" }, actor ? world.nameOf(actor) : "Nobody"),
			" ",
			isRefused && element("strong", {}, `${outcomeOf(status)} `),
			...sentence(world, entry, openChannel),
			guildOfEntry(world, entry),
		),
		excerpt(world, entry),
		fault && element("p", { class: "small" }, `by the fault: ${fault}`),
		reason && element("p", { class: "small quiet", dir: "auto" }, reason),
		entry.body !== undefined && entry.body !== null && detailsOf(entry),
	);
}

/**
 * Returns the beginning of the message that a request sends.
 * @param {World} world
 * @param {Json} entry
 */
function excerpt({ names }, { body }) {
	const { content, embeds } = body?.data ?? body ?? {};
	const text = content || embeds?.[0]?.title || embeds?.[0]?.description;
	if (typeof text !== "string") return undefined;
	const shown = renderLine(text.slice(0, 300), names);
	return element("p", { class: "small said", dir: "auto" }, shown);
}

/** @param {number | string} status */
function outcomeOf(status) {
	if (typeof status !== "number") return "got no response:";
	return status === 429 ? "was rate limited:" : `was refused (${status}):`;
}

/**
 * @param {string} route
 * @param {Json | null | undefined} body
 * @returns {string | undefined}
 */
function knownSentence(route, body) {
	if (route !== "PATCH /guilds/:guild_id/members/:user_id") return sentences[route];
	const fields = Object.keys(body ?? {}).filter((one) => one in memberChanges);
	const [field = ""] = fields;
	if (fields.length !== 1) return "changed {user}";
	const isEnded = body?.[field] === null;
	if (isEnded && field === "communication_disabled_until") return "ended the timeout of {user}";
	if (isEnded && field === "channel_id") return "disconnected {user} from voice";
	return memberChanges[field] ?? "changed {user}";
}

/**
 * The name of the guild that an entry is about, which is shown while another one is open.
 *
 * @param {World} world
 * @param {Json} entry
 */
function guildOfEntry(world, entry) {
	const params = paramsOf(entry.route, entry.path);
	const guildId = params.guild_id ?? world.guildOf(channelOfEntry(world, entry) ?? "");
	const guild = world.guilds.find(({ id }) => id === guildId);
	if (!guild) return undefined;
	return element(
		"span",
		{
			class: "small quiet",
			"data-guild": guild.id,
			hidden: guild.id === world.guildId,
		},
		" · ",
		element("bdi", {}, guild.name.slice(0, 100)),
	);
}

/**
 * Shows the guilds of entries, except for the one that is open.
 *
 * @param {World} world
 * @param {Element} list
 */
export function showGuildsOfEntries({ guildId }, list) {
	for (const one of list.querySelectorAll("[data-guild]"))
		one.toggleAttribute("hidden", one.getAttribute("data-guild") === guildId);
}

/**
 * @param {World} world
 * @param {Json} entry
 * @param {(channelId: string) => void} openChannel
 * @returns {(Node | string)[]}
 */
function sentence(world, entry, openChannel) {
	const { route, method, path, body } = entry;
	const known = knownSentence(route, body);
	if (known === undefined) return [element("code", {}, `${method} ${path}`)];
	const params = paramsOf(route, path);
	const channelId = channelOfEntry(world, entry) ?? "";
	const userId = params.user_id ?? world.interactions.get(params.interaction_id ?? "")?.user_id;
	/** @type {Record<string, () => Node | string>} */
	const words = {
		channel: () => channelLink(world, channelId, openChannel),
		user: () => name(userId ? world.nameOf(userId) : "someone"),
		role: () => name(world.names.role(params.role_id ?? "") ?? "a role"),
		emoji: () => name(decode(params.emoji ?? "").replace(/:\d+$/, "")),
		name: () => name(String(body?.name ?? "")),
		messages: () => String(body?.messages?.length ?? "several"),
	};
	return known.split(/\{(\w+)\}/).map((part, index) => (index % 2 ? (words[part]?.() ?? part) : part));
}

/** @param {string} text */
function decode(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** @param {string} text */
function name(text) {
	return element("bdi", { class: "named" }, text.slice(0, 100));
}

/**
 * @param {World} world
 * @param {string} channelId
 * @param {(channelId: string) => void} openChannel
 */
function channelLink(world, channelId, openChannel) {
	const known = world.names.channel(channelId);
	if (known === undefined) return "a channel";
	if (world.guildOf(channelId) === undefined) return name(`#${known}`);
	return element(
		"button",
		{ type: "button", class: "link", onclick: () => openChannel(channelId) },
		element("bdi", {}, `#${known}`),
	);
}

/** @param {Json} entry */
function detailsOf({ method, path, body }) {
	const text = JSON.stringify(body, undefined, 1) ?? "";
	const details = element("details", {}, element("summary", {}, "Request"));
	// The body is rendered only when the details are opened, because bodies can be large.
	details.addEventListener(
		"toggle",
		() => details.append(element("pre", { dir: "ltr" }, `${method} ${path}\n${text.slice(0, 4000)}`)),
		{ once: true },
	);
	return details;
}
