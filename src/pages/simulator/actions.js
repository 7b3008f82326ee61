// Actions of a person: write, react, press buttons, choose in menus, vote, join and leave.

import { byId, element } from "../dom.js";
import { commandType, messageFlags, suggestionType } from "./message-state.js";
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

/** What the person does in whose name the page acts. Failures are shown. */
export class Actions {
	#world;
	#page;

	/**
	 * @param {World} world
	 * @param {Page} page
	 */
	constructor(world, page) {
		this.#world = world;
		this.#page = page;
	}

	/**
	 * Runs an action. Resolves with whether it succeeded. If it failed, shows the reason.
	 * @param {() => Promise<unknown>} act
	 * @param {string} [done]
	 */
	async attempt(act, done) {
		try {
			await act();
			if (done) this.#page.notify(done);
			return true;
		} catch (error) {
			this.#page.notify(/** @type {Error} */ (error).message, true);
			return false;
		}
	}

	/** @param {string} method @param {string} path @param {unknown} [body] */
	async #asPerson(method, path, body) {
		const { person } = this.#world;
		if (person) return requestAs(person, method, path, body);
	}

	/** @param {Json} body */
	#interact(body) {
		const { channelId, guildId } = this.#world;
		const place = { channel_id: channelId, ...(guildId !== direct && { guild_id: guildId }) };
		return this.#asPerson("POST", "/interactions", { ...body, ...place });
	}

	/** Changes the language of the person's client, in which bots answer. @param {import("./server.js").Person} person @param {string} locale */
	speak(person, locale) {
		return this.attempt(async () => {
			await request("POST", "/simulator/locale", { body: { user_id: person.id, locale } });
			person.locale = locale;
		});
	}

	/** @param {string} content @param {Json | undefined} replyTo */
	write(content, replyTo) {
		const reference = replyTo && { message_reference: { message_id: replyTo.id } };
		const path = `/channels/${this.#world.channelId}/messages`;
		return this.attempt(() => this.#asPerson("POST", path, { content, ...reference }));
	}

	/** @param {Json} command @param {Json[]} options */
	run(command, options) {
		return this.attempt(() => this.#interact({ type: commandType, ...commandWith(command, options) }));
	}

	/**
	 * Asks a bot for suggestions. They arrive as an event.
	 * @param {Json} command
	 * @param {Json[]} options
	 */
	async suggest(command, options) {
		await this.#interact({ type: suggestionType, ...commandWith(command, options) }).catch(() => undefined);
	}

	/**
	 * Uses a command in the context menu of a message or member.
	 * @param {Json} command
	 * @param {string} targetId
	 */
	useInMenu({ application_id, id, type }, targetId) {
		const data = { id, type, target_id: targetId };
		void this.attempt(() => this.#interact({ type: commandType, application_id, data }));
	}

	/** @param {Json} interaction */
	openModal({ id, application_id, modal }) {
		openModal(this.#world, modal, (components) => {
			const data = { id, custom_id: modal.custom_id, components };
			return this.attempt(() => this.#interact({ type: 5, application_id, data }));
		});
	}

	/**
	 * Presses a button or chooses in a menu.
	 * @type {import("./components.js").Use}
	 */
	use(message, { type, custom_id }, values) {
		const data = { component_type: type, custom_id, ...(values && { values }) };
		const body = { type: 3, application_id: message.author.id, message_id: message.id, data };
		void this.attempt(() => this.#interact(body));
	}

	/** @param {Json} message */
	reply(message) {
		this.#page.reply(message);
	}

	/** @param {Json} message */
	remove(message) {
		void this.attempt(() => this.#asPerson("DELETE", pathOf(message)));
	}

	/** @param {Json} message @param {string} emoji @param {boolean} add */
	react(message, emoji, add) {
		const path = `${pathOf(message)}/reactions/${encodeURIComponent(emoji)}/@me`;
		void this.attempt(() => this.#asPerson(add ? "PUT" : "DELETE", path));
	}

	/** @param {Json} message @param {number} answerId */
	vote({ channel_id, id }, answerId) {
		const { person, guildId, channelId } = this.#world;
		const body = { username: person?.username, channel_id, message_id: id, answer_ids: [answerId] };
		void this.attempt(async () => {
			await request("POST", "/simulator/votes", { body });
			await this.#page.open(guildId, channelId);
		});
	}

	/** @param {Json} message */
	dismiss({ id, flags }) {
		const { interactions } = this.#world;
		for (const { reply, follow_ups } of interactions.values())
			for (const one of [reply, ...follow_ups]) if (one?.id === id) one.deleted = true;
		if (!(flags & messageFlags.thinking)) interactions.delete(id);
		this.#page.showMessages();
	}

	/** @param {string} guildId */
	openGuild(guildId) {
		void this.#page.open(guildId);
	}

	/** @param {string} channelId */
	openChannel(channelId) {
		void this.#page.open(this.#world.guildId, channelId);
	}

	/** @param {string | null} channelId */
	joinVoice(channelId) {
		const body = { user_id: this.#world.person?.id, channel_id: channelId };
		void this.attempt(() => request("POST", "/simulator/voice", { body }));
	}

	invite() {
		void this.attempt(async () => {
			const path = `/channels/${this.#world.channelId}/invites`;
			const invite = await this.#asPerson("POST", path, { max_age: 0, max_uses: 0, unique: true });
			const made = invite && `Invite: ${invite.code}. Act as somebody else to join with it.`;
			this.#page.notify(made ?? "Invites are paused here.");
		});
	}

	leave() {
		const { guildId, name } = this.#world;
		void this.attempt(() => this.#asPerson("DELETE", `/users/@me/guilds/${guildId}`), `${name} has left.`);
	}

	/** @param {string} userId */
	become(userId) {
		void this.#page.become(userId);
	}

	/**
	 * Opens the direct messages with a user.
	 * @param {string} userId
	 */
	message(userId) {
		void this.attempt(async () => {
			const channel = await this.#asPerson("POST", "/users/@me/channels", { recipient_id: userId });
			await this.#page.reload();
			await this.#page.open(direct, channel.id);
		});
	}

	/** @param {string} given an invite's code, or an address that ends with it */
	joinWith(given) {
		const code = given.trim().split("/").at(-1) ?? "";
		return this.attempt(async () => {
			const { guild, channel } = await this.#asPerson("POST", `/invites/${encodeURIComponent(code)}`, {});
			await this.#page.reload();
			await this.#page.open(guild.id, channel?.id);
			this.#page.notify(`${this.#world.name} is in ${guild.name}.`);
		});
	}

	/** Asks for an invite's code or URL, and joins its guild. */
	async join() {
		const code = await ask({ title: "Join a guild", label: "Invite code", submit: "Join" });
		if (code) await this.joinWith(code);
	}

	/** Asks for a name, creates a person with it, and acts as this person. */
	async createPerson() {
		const label = "Username: lower-case letters, digits, _ and .";
		const username = await ask({ title: "A new person", label, submit: "Act as them" });
		if (!username) return;
		await this.attempt(async () => {
			const { id } = await request("POST", "/simulator/people", { body: { username } });
			await this.#page.reload();
			await this.#page.become(id);
		});
	}
}

/** @param {Json} message */
function pathOf({ channel_id, id }) {
	return `/channels/${channel_id}/messages/${id}`;
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

/**
 * Shows the dialog. Resolves with the entered text, or with undefined if the dialog was closed.
 * @param {{ title: string, label: string, submit: string }} question
 */
function ask({ title, label, submit }) {
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
			"form.fields-form",
			{ method: "dialog" },
			element("h2", { id: "dialog-title" }, title),
			element("label", { for: "dialog-answer" }, label),
			input,
			element(
				"div.row",
				element("button.main", { value: "submit" }, submit),
				element("button", { onclick: () => dialog.close("") }, "Cancel"),
			),
		),
	);
	dialog.returnValue = "";
	dialog.showModal();
	return new Promise((resolve) => {
		const done = () => resolve(dialog.returnValue === "submit" ? input.value : undefined);
		dialog.addEventListener("close", done, { once: true });
	});
}
