// Actions of a person: write, react, press buttons, choose in menus, vote, join and leave.

import { byId, element } from "../dom.js";
import { messageFlags, suggestionType } from "./message-state.js";
import { openModal } from "./modal.js";
import { request, requestAs } from "./server.js";
import { direct } from "./world.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 */

/**
 * Functions of the page that actions call.
 * @typedef {object} Page
 * @property {(text: string, isError?: boolean) => void} notify
 * @property {(guildId: string, channelId?: string) => Promise<void>} open
 * @property {(userId: string) => Promise<void>} become
 * @property {() => Promise<void>} reload
 * @property {(message: Json) => void} reply
 * @property {() => void} showMessages
 */

/**
 * Returns all actions of a person.
 * @param {World} world
 * @param {Page} page
 */
export function createActions(world, page) {
	/**
	 * Runs an action. Resolves with whether it succeeded. If it failed, shows the reason.
	 * @param {() => Promise<unknown>} act
	 * @param {string} [done]
	 */
	const attempt = async (act, done) => {
		try {
			await act();
			if (done) page.notify(done);
			return true;
		} catch (error) {
			page.notify(/** @type {Error} */ (error).message, true);
			return false;
		}
	};
	/** @param {string} method @param {string} path @param {unknown} [body] */
	const asPerson = async (method, path, body) => {
		if (world.person) return requestAs(world.person, method, path, body);
	};
	/** @param {Json} message */
	const pathOf = ({ channel_id, id }) => `/channels/${channel_id}/messages/${id}`;
	/** @param {Json} body */
	const interact = (body) =>
		asPerson("POST", "/interactions", {
			...body,
			channel_id: world.channelId,
			...(world.guildId !== direct && { guild_id: world.guildId }),
		});

	const suggestions = createSuggestions();
	/** @param {Json} command @param {string} targetId */
	const useInMenu = ({ application_id, id, type }, targetId) =>
		void attempt(() =>
			interact({
				type: 2,
				application_id,
				data: { id, type, target_id: targetId },
			}),
		);

	return {
		attempt,
		/** @param {string} content @param {Json | undefined} replyTo */
		write: (content, replyTo) =>
			attempt(() =>
				asPerson("POST", `/channels/${world.channelId}/messages`, {
					content,
					...(replyTo && { message_reference: { message_id: replyTo.id } }),
				}),
			),
		/** @param {Json} command @param {Json[]} options */
		run: (command, options) => attempt(() => interact({ type: 2, ...commandWith(command, options) })),
		/** @param {Json} command @param {Json[]} options */
		suggest: async (command, options) => {
			const body = { type: suggestionType, ...commandWith(command, options) };
			const made = await interact(body).catch(() => undefined);
			return made ? suggestions.of(made.id) : [];
		},
		receiveChoices: suggestions.receive,
		/** @param {Json} interaction */
		openModal: ({ id, application_id, modal }) =>
			openModal(world, modal, (components) =>
				attempt(() =>
					interact({
						type: 5,
						application_id,
						data: { id, custom_id: modal.custom_id, components },
					}),
				),
			),
		/** @type {import("./messages.js").MessageActions} */
		ofMessages: {
			reply: page.reply,
			remove: (message) => void attempt(() => asPerson("DELETE", pathOf(message))),
			react: (message, emoji, add) => {
				const path = `${pathOf(message)}/reactions/${encodeURIComponent(emoji)}/@me`;
				void attempt(() => asPerson(add ? "PUT" : "DELETE", path));
			},
			use: (message, { type, custom_id }, values) =>
				void attempt(() =>
					interact({
						type: 3,
						application_id: message.author.id,
						message_id: message.id,
						data: {
							component_type: type,
							custom_id,
							...(values && { values }),
						},
					}),
				),
			useInMenu: (message, command) => useInMenu(command, message.id),
			vote: (message, answerId) => {
				const body = {
					username: world.person?.username,
					channel_id: message.channel_id,
					message_id: message.id,
					answer_ids: [answerId],
				};
				void attempt(async () => {
					await request("POST", "/simulator/votes", { body });
					await page.open(world.guildId, world.channelId);
				});
			},
			dismiss: (message) => {
				for (const { reply, follow_ups } of world.interactions.values())
					for (const one of [reply, ...follow_ups]) if (one?.id === message.id) one.deleted = true;
				const failed = world.interactions.get(message.id);
				if (failed && !(message.flags & messageFlags.thinking)) world.interactions.delete(message.id);
				page.showMessages();
			},
		},
		/** @type {import("./guild.js").GuildActions} */
		ofGuilds: {
			openGuild: (guildId) => void page.open(guildId),
			openChannel: (channelId) => void page.open(world.guildId, channelId),
			joinVoice: (channelId) =>
				void attempt(() =>
					request("POST", "/simulator/voice", {
						body: { user_id: world.person?.id, channel_id: channelId },
					}),
				),
			invite: () =>
				void attempt(async () => {
					const path = `/channels/${world.channelId}/invites`;
					const body = { max_age: 0, max_uses: 0, unique: true };
					const invite = await asPerson("POST", path, body);
					page.notify(
						invite ? `Invite: ${invite.code}. Act as somebody else to join with it.` : "Invites are paused here.",
					);
				}),
			leave: () =>
				void attempt(() => asPerson("DELETE", `/users/@me/guilds/${world.guildId}`), `${world.name} has left.`),
			joinWith: (code) => void attempt(() => joinGuild(world, page, code)),
			become: (userId) => void page.become(userId),
			useInMenu: (userId, command) => useInMenu(command, userId),
			message: (userId) =>
				void attempt(async () => {
					const body = { recipient_id: userId };
					const channel = await asPerson("POST", "/users/@me/channels", body);
					await page.reload();
					await page.open(direct, channel.id);
				}),
		},
		/** Asks for an invite's code or URL, and joins its guild. */
		join: async () => {
			const code = await ask({
				title: "Join a guild",
				label: "Invite code",
				submit: "Join",
				more: await knownInvites(world),
			});
			if (code) await attempt(() => joinGuild(world, page, code));
		},
		/** Asks for a name, creates a person with it, and acts as this person. */
		createPerson: async () => {
			const username = await ask({
				title: "A new person",
				label: "Username: lower-case letters, digits, _ and .",
				submit: "Act as them",
			});
			if (!username) return false;
			return attempt(async () => {
				const body = { username };
				const { id } = await request("POST", "/simulator/people", { body });
				await page.reload();
				await page.become(id);
			});
		},
	};
}

/**
 * Returns a command with its options in the form of a request. A subcommand's options are inside it and its group.
 * @param {Json} command
 * @param {Json[]} options
 */
function commandWith({ application_id, id, path }, options) {
	const nested = /** @type {string[]} */ (path).reduceRight((inner, name) => [{ name, options: inner }], options);
	return { application_id, data: { id, options: nested } };
}

/** Maximum number of answered requests for suggestions that are remembered. */
const maxSuggestions = 20;

/** Keeps the suggestions of bots until they are asked for. They can arrive before the id of their request. */
function createSuggestions() {
	/** @type {Map<string, Json[]>} */
	const arrived = new Map();
	/** @type {Map<string, (choices: Json[]) => void>} */
	const waiting = new Map();
	return {
		/** @param {Json} interaction */
		receive: ({ id, state, choices }) => {
			if (state === "waiting") return;
			const found = choices ?? [];
			waiting.get(id)?.(found);
			waiting.delete(id);
			arrived.set(id, found);
			const oldest = arrived.keys().next().value;
			if (arrived.size > maxSuggestions && oldest) arrived.delete(oldest);
		},
		/**
		 * Resolves with the suggestions of a request, with none if the bot does not respond.
		 * @param {string} id
		 * @returns {Promise<Json[]>}
		 */
		of: async (id) =>
			arrived.get(id) ??
			new Promise((resolve) => {
				waiting.set(id, resolve);
			}),
	};
}

/**
 * @param {World} world
 * @param {Page} page
 * @param {string} given a code, or an address that ends with it
 */
async function joinGuild(world, page, given) {
	const code = given.trim().split("/").at(-1) ?? "";
	const { person } = world;
	if (!person || code === "") return;
	const path = `/invites/${encodeURIComponent(code)}`;
	const { guild, channel } = await requestAs(person, "POST", path, {});
	await page.reload();
	await page.open(guild.id, channel?.id);
	page.notify(`${world.name} is in ${guild.name}.`);
}

/**
 * Resolves with a list of invites to the guilds that the person has not joined.
 * @param {World} world
 */
async function knownInvites({ guilds, person }) {
	const views = await Promise.all(
		guilds.map(({ id }) => request("GET", `/simulator/guild?id=${id}&user=${person?.id}`).catch(() => undefined)),
	);
	const invites = views
		.filter((view) => view && !view.is_member)
		.flatMap(({ guild, invites }) =>
			invites.slice(0, 5).map((/** @type {Json} */ { code }) => ({ code, name: guild.name })),
		);
	if (invites.length === 0) return undefined;
	return element(
		"p",
		{ class: "quiet" },
		"Invites: ",
		...invites.flatMap(({ code, name }, index) => [
			index > 0 ? ", " : "",
			element("code", {}, code),
			" to ",
			element("bdi", {}, name),
		]),
	);
}

/**
 * Shows the dialog. Resolves with the entered text, or with undefined if the dialog was closed.
 * @param {{ title: string, label: string, submit: string, more?: HTMLElement | undefined }} question
 * @returns {Promise<string | undefined>}
 */
function ask({ title, label, submit, more }) {
	const dialog = /** @type {HTMLDialogElement} */ (byId("dialog"));
	const input = element("input", {
		id: "dialog-answer",
		required: true,
		autocomplete: "off",
		autocapitalize: "off",
		spellcheck: "false",
	});
	dialog.replaceChildren(
		element(
			"form",
			{ method: "dialog", class: "fields-form" },
			element("h2", { id: "dialog-title" }, title),
			element("label", { for: "dialog-answer" }, label),
			input,
			more,
			element(
				"div",
				{ class: "row" },
				element("button", { class: "main", value: "submit" }, submit),
				element("button", { type: "button", onclick: () => dialog.close("") }, "Cancel"),
			),
		),
	);
	dialog.returnValue = "";
	dialog.showModal();
	return new Promise((resolve) => {
		dialog.addEventListener("close", () => resolve(dialog.returnValue === "submit" ? input.value : undefined), {
			once: true,
		});
	});
}
