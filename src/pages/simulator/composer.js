// The input field for messages, replies, and slash commands with their options.

import { byId, element } from "../dom.js";
import { excerptOf } from "./messages.js";
import { createInputs, optionField, showChoices, valuesOf } from "./options.js";
import { request } from "./server.js";
import { direct } from "./world.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 * @typedef {import("./actions.js").Actions} Actions
 */

const maxSuggestions = 10;
/** The type of slash commands. */
const slash = 1;

const form = /** @type {HTMLFormElement} */ (byId("composer"));
const text = /** @type {HTMLTextAreaElement} */ (byId("text"));
const send = /** @type {HTMLButtonElement} */ (byId("send"));
const reply = byId("reply");
const suggestions = byId("suggestions");
const commandForm = byId("command");

/** What the person writes: a message, perhaps a reply, or a command. */
export class Composer {
	#world;
	#actions;
	/** @type {Json | undefined} */
	#replyTo;
	/** @type {Json[]} */
	#commands = [];
	/** The inputs of the command whose options are filled in. @type {import("./options.js").Input[]} */
	#inputs = [];

	/**
	 * @param {World} world
	 * @param {Actions} actions
	 */
	constructor(world, actions) {
		this.#world = world;
		this.#actions = actions;
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			void this.#submit();
		});
		text.addEventListener("keydown", (event) => this.#receiveKey(event));
		suggestions.addEventListener("keydown", moveInSuggestions);
		text.addEventListener("input", async () => {
			this.#showSuggestions();
			if (text.value !== "/") return;
			// Bots register commands at any time.
			await this.#readCommands();
			this.#showSuggestions();
		});
	}

	/** @param {KeyboardEvent} event */
	#receiveKey(event) {
		if (event.key === "Escape") this.reply(undefined);
		const isSend = event.key === "Enter" && !event.shiftKey && !event.isComposing;
		const isDown = event.key === "ArrowDown" && !suggestions.hidden;
		if (!isSend && !isDown) return;
		event.preventDefault();
		if (isSend) void this.#submit();
		else suggestions.querySelector("button")?.focus();
	}

	async #submit() {
		const content = text.value.trim();
		if (content === "") return;
		const command = this.#commands.find(({ name }) => content === `/${name}`);
		if (command) return this.#choose(command);
		if (!(await this.#actions.write(content, this.#replyTo))) return;
		this.reply(undefined);
		this.#clear();
	}

	#clear() {
		text.value = "";
		this.#showSuggestions();
	}

	async #readCommands() {
		const world = this.#world;
		const { person, channelId, guildId } = world;
		const guild = guildId === direct ? "" : `&guild=${guildId}`;
		const address = `/simulator/commands?channel=${channelId}&user=${person?.id}${guild}`;
		const found = await request("GET", address).catch(() => []);
		if (world.channelId !== channelId || world.person !== person) return;
		const isSlash = (/** @type {Json} */ { type }) => type === slash;
		this.#commands = found.filter(isSlash);
		world.menuCommands = found.filter((/** @type {Json} */ one) => !isSlash(one));
	}

	/** Shows the commands whose names begin with the text, and fits the input field to the text. */
	#showSuggestions() {
		text.style.height = "auto";
		text.style.height = `${Math.min(200, text.scrollHeight + 2)}px`;
		const [, typed = ""] = /^\/([^\n]*)$/.exec(text.value) ?? [];
		const isCommand = text.value.startsWith("/");
		const found = isCommand ? this.#commands.filter(({ name }) => name.startsWith(typed)) : [];
		const others = found.length - maxSuggestions;
		const note = found.length === 0 ? "No bot here has such a command." : `and ${others} others: type more of the name`;
		suggestions.hidden = !isCommand || (found.length === 0 && typed.includes(" "));
		suggestions.replaceChildren(
			...found.slice(0, maxSuggestions).map((command) => suggestion(command, () => this.#choose(command))),
			...(found.length === 0 || others > 0 ? [element("li.quiet", note)] : []),
		);
	}

	/**
	 * Runs a command, or shows the inputs for its options.
	 * @param {Json} command
	 */
	async #choose(command) {
		const actions = this.#actions;
		this.#clear();
		if ((command.options ?? []).length === 0) {
			text.focus();
			await actions.run(command, []);
			return;
		}
		const close = () => this.closeCommand();
		const inputs = createInputs(this.#world, command, (options) => actions.suggest(command, options));
		this.#inputs = inputs;
		const own = element(
			"form.fields-form",
			{
				"aria-label": `Options of /${command.name}`,
				onsubmit: async (/** @type {Event} */ event) => {
					event.preventDefault();
					if (await actions.run(command, valuesOf(inputs))) close();
				},
				onkeydown: (/** @type {KeyboardEvent} */ event) => {
					if (event.key === "Escape") close();
				},
			},
			element(
				"p",
				element("strong", `/${command.name}`),
				" ",
				element("span.quiet", { dir: "auto" }, command.description),
			),
			...inputs.map(optionField),
			element("div.row", element("button.main", "Run"), element("button", { onclick: close }, "Cancel")),
		);
		commandForm.replaceChildren(own);
		commandForm.hidden = false;
		form.hidden = true;
		inputs[0]?.control.focus();
	}

	/**
	 * Shows the suggestions of a bot for the option that the person is typing.
	 * @param {Json} interaction
	 */
	receiveChoices(interaction) {
		showChoices(this.#inputs, interaction);
	}

	closeCommand() {
		if (commandForm.hidden) return;
		this.#inputs = [];
		commandForm.replaceChildren();
		commandForm.hidden = true;
		form.hidden = false;
		text.focus();
	}

	/**
	 * Makes the next message a reply to this one, or to none.
	 * @param {Json | undefined} message
	 */
	reply(message) {
		this.#replyTo = message;
		reply.hidden = !message;
		reply.replaceChildren();
		if (!message) return;
		const cancel = () => {
			this.reply(undefined);
			text.focus();
		};
		reply.append(
			"Reply to ",
			element("bdi.author", `${this.#world.nameOf(message.author.id)}:`),
			element("bdi.excerpt", excerptOf(message)),
			element("button.link", { onclick: cancel }, "Cancel"),
		);
		text.focus();
	}

	/**
	 * Updates the composer after a change of the channel or person: whether the person can write there, and which
	 * commands they can use.
	 */
	async update() {
		const world = this.#world;
		const { channelId, mayWrite, name } = world;
		if (this.#replyTo && this.#replyTo.channel_id !== channelId) this.reply(undefined);
		text.disabled = send.disabled = !mayWrite;
		text.placeholder = mayWrite ? `Message as ${name}, or / for commands` : `${name} cannot write here`;
		this.#commands = world.menuCommands = [];
		if (mayWrite) await this.#readCommands();
		this.#showSuggestions();
	}
}

/** @param {Json} command @param {() => void} choose */
function suggestion({ name, description, bot }, choose) {
	return element(
		"li",
		element(
			"button",
			{ onclick: choose },
			element("strong", `/${name}`),
			element("span.quiet", { dir: "auto" }, description),
			element("span.small.quiet", bot),
		),
	);
}

/** @param {KeyboardEvent} event */
function moveInSuggestions(event) {
	const buttons = [...suggestions.querySelectorAll("button")];
	const at = buttons.findIndex((one) => one.matches(":focus"));
	if (event.key === "Escape" || (event.key === "ArrowUp" && at === 0)) text.focus();
	else if (event.key === "ArrowDown") buttons[at + 1]?.focus();
	else if (event.key === "ArrowUp") buttons[at - 1]?.focus();
	else return;
	event.preventDefault();
}
