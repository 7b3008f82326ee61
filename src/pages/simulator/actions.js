// Actions of the person in whose name the page acts: write, react, press buttons, choose in menus, vote, join and leave.
// Failures are shown.

import { element } from "../dom.js";
import { commandType, messageFlags, suggestionType } from "./message-state.js";
import { notify, showDialog } from "./notices.js";
import { request, requestAs } from "./server.js";
import { direct, world } from "./world.js";

/** @typedef {import("./server.js").Json} Json */

/**
 * Functions of main.js that other modules call. It imports these, so it sets them when it starts.
 * @typedef {object} Page
 * @property {() => Promise<void>} loadAll
 * @property {() => Promise<void>} reload Loads the people and guilds again.
 * @property {(guildId: string, channelId?: string) => Promise<void>} open
 * @property {() => Promise<void>} openMessages
 * @property {(userId: string) => Promise<void>} become
 * @property {() => void} showPlaces
 * @property {() => void} showChannel
 * @property {(given?: { changed?: string[] }) => void} showMessages
 */
export const page = /** @type {Page} */ ({});

/** @param {() => Promise<unknown>} act */
export async function attempt(act) {
	try {
		await act();
		return true;
	} catch (error) {
		notify(/** @type {Error} */ (error).message, true);
		return false;
	}
}

/** @param {string} method @param {string} path @param {unknown} [body] */
async function asPerson(method, path, body) {
	if (world.person) return requestAs(world.person, method, path, body);
}

/** @param {Json} body */
export function interact(body) {
	const { channelId, guildId } = world;
	const place = { channel_id: channelId, ...(guildId !== direct && { guild_id: guildId }) };
	return asPerson("POST", "/interactions", { ...body, ...place });
}

/** Changes the language of the person's client, in which bots answer. @param {string} locale */
export function speak(locale) {
	const { person } = world;
	return attempt(async () => {
		await request("POST", "/simulator/locale", { body: { user_id: person?.id, locale } });
		if (person) person.locale = locale;
	});
}

/** @param {string} content @param {Json | undefined} replyTo */
export function write(content, replyTo) {
	const reference = replyTo && { message_reference: { message_id: replyTo.id } };
	return attempt(() => asPerson("POST", `/channels/${world.channelId}/messages`, { content, ...reference }));
}

/** @param {Json} command @param {Json[]} options */
export function run(command, options) {
	return attempt(() => interact({ type: commandType, ...commandWith(command, options) }));
}

/** Asks a bot for suggestions. They arrive as an event. @param {Json} command @param {Json[]} options */
export async function suggest(command, options) {
	await interact({ type: suggestionType, ...commandWith(command, options) }).catch(() => undefined);
}

/** Uses a command in the context menu of a message or member. @param {Json} command @param {string} targetId */
export function useInMenu({ application_id, id, type }, targetId) {
	void attempt(() => interact({ type: commandType, application_id, data: { id, type, target_id: targetId } }));
}

/** Presses a button or chooses in a menu. @param {Json} message @param {Json} component @param {string[]} [values] */
export function use(message, { type, custom_id }, values) {
	const data = { component_type: type, custom_id, ...(values && { values }) };
	void attempt(() => interact({ type: 3, application_id: message.author.id, message_id: message.id, data }));
}

/** @param {Json} message */
export function remove(message) {
	void attempt(() => asPerson("DELETE", pathOf(message)));
}

/** @param {Json} message @param {string} emoji @param {boolean} add */
export function react(message, emoji, add) {
	const path = `${pathOf(message)}/reactions/${encodeURIComponent(emoji)}/@me`;
	void attempt(() => asPerson(add ? "PUT" : "DELETE", path));
}

/** @param {Json} message @param {number} answerId */
export function vote({ channel_id, id }, answerId) {
	const body = { username: world.person?.username, channel_id, message_id: id, answer_ids: [answerId] };
	void attempt(async () => {
		await request("POST", "/simulator/votes", { body });
		await page.open(world.guildId, world.channelId);
	});
}

/** @param {Json} message */
export function dismiss({ id, flags }) {
	for (const { reply, follow_ups } of world.interactions.values())
		for (const one of [reply, ...follow_ups]) if (one?.id === id) one.deleted = true;
	if (!(flags & messageFlags.thinking)) world.interactions.delete(id);
	page.showMessages();
}

/** @param {string | null} channelId */
export function joinVoice(channelId) {
	const body = { user_id: world.person?.id, channel_id: channelId };
	void attempt(() => request("POST", "/simulator/voice", { body }));
}

export function invite() {
	void attempt(async () => {
		const path = `/channels/${world.channelId}/invites`;
		const made = await asPerson("POST", path, { max_age: 0, max_uses: 0, unique: true });
		notify(made ? `Invite: ${made.code}. Act as somebody else to join with it.` : "Invites are paused here.");
	});
}

/** @param {string} guildId */
export function raid(guildId) {
	void attempt(async () => {
		const { accounts } = await request("POST", "/simulator/raid", { body: { guild_id: guildId } });
		notify(`A raid has begun: ${accounts} accounts join and advertise. Watch the channels.`);
	});
}

export function leave() {
	const { guildId, name } = world;
	void attempt(async () => {
		await asPerson("DELETE", `/users/@me/guilds/${guildId}`);
		notify(`${name} has left.`);
	});
}

/** Opens the direct messages with a user. @param {string} userId */
export function openDirect(userId) {
	void attempt(async () => {
		const channel = await asPerson("POST", "/users/@me/channels", { recipient_id: userId });
		await page.reload();
		await page.open(direct, channel.id);
	});
}

/** @param {string} given an invite's code, or an address that ends with it */
export function joinWith(given) {
	const code = given.trim().split("/").at(-1) ?? "";
	void attempt(async () => {
		const { guild, channel } = await asPerson("POST", `/invites/${encodeURIComponent(code)}`, {});
		await page.reload();
		await page.open(guild.id, channel?.id);
		notify(`${world.name} is in ${guild.name}.`);
	});
}

export function join() {
	ask("Join a guild", "Invite code", "Join", joinWith);
}

export function createPerson() {
	ask("A new person", "Username: lower-case letters, digits, _ and .", "Act as them", (username) =>
		attempt(async () => {
			const { id } = await request("POST", "/simulator/people", { body: { username } });
			await page.reload();
			await page.become(id);
		}),
	);
}

/** @param {Json} message */
function pathOf({ channel_id, id }) {
	return `/channels/${channel_id}/messages/${id}`;
}

/** @param {Json} command @param {Json[]} options */
function commandWith({ application_id, id, path }, options) {
	const nested = /** @type {string[]} */ (path).reduceRight((inner, name) => [{ name, options: inner }], options);
	return { application_id, data: { id, options: nested } };
}

/** @param {string} title @param {string} question @param {string} label @param {(answer: string) => void} act */
function ask(title, question, label, act) {
	const attributes = { required: true, autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
	const input = element("input", { id: "dialog-answer", ...attributes });
	async function submit() {
		act(input.value);
		return true;
	}
	showDialog(title, label, submit, element("label", { for: input.id }, question), input);
}
