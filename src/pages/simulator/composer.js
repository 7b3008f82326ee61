// The input field for messages, replies, and slash commands with their options.

import { byId, element } from "../dom.js";
import { excerptOf } from "./messages.js";
import { createInputs, optionField, valuesOf } from "./options.js";
import { request } from "./server.js";
import { direct } from "./world.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 */

const maxSuggestions = 10;
/** The type of slash commands. */
const slash = 1;

/**
 * Functions that send what the person wrote. They resolve with whether that succeeded.
 * @typedef {object} Sending
 * @property {(content: string, replyTo: Json | undefined) => Promise<boolean>} write
 * @property {(command: Json, options: Json[]) => Promise<boolean>} run
 * @property {(command: Json, options: Json[]) => Promise<Json[]>} suggest resolves with the bot's suggestions
 */

/**
 * Connects the composer of the page with the simulator.
 *
 * @param {World} world
 * @param {Sending} sending
 */
export function createComposer(world, sending) {
	const form = /** @type {HTMLFormElement} */ (byId("composer"));
	const text = /** @type {HTMLTextAreaElement} */ (byId("text"));
	const send = /** @type {HTMLButtonElement} */ (byId("send"));
	const reply = byId("reply");
	const suggestions = byId("suggestions");
	const commandForm = byId("command");
	/** @type {Json | undefined} */
	let replyTo;
	/** @type {Json[]} */
	let commands = [];

	const submit = async () => {
		const content = text.value.trim();
		if (content === "") return;
		const command = commandNamed(commands, content);
		if (command) return choose(command);
		if (await sending.write(content, replyTo)) {
			text.value = "";
			setReply(undefined);
			grow();
			suggest();
		}
	};
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		void submit();
	});
	text.addEventListener("keydown", (event) => {
		if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
			event.preventDefault();
			void submit();
		} else if (event.key === "Escape") setReply(undefined);
		else if (event.key === "ArrowDown" && !suggestions.hidden) {
			event.preventDefault();
			suggestions.querySelector("button")?.focus();
		}
	});
	suggestions.addEventListener("keydown", (event) => {
		const buttons = [...suggestions.querySelectorAll("button")];
		const at = buttons.findIndex((one) => one.matches(":focus"));
		if (event.key === "Escape" || (event.key === "ArrowUp" && at === 0)) text.focus();
		else if (event.key === "ArrowDown") buttons[at + 1]?.focus();
		else if (event.key === "ArrowUp") buttons[at - 1]?.focus();
		else return;
		event.preventDefault();
	});
	text.addEventListener("input", async () => {
		grow();
		suggest();
		if (text.value !== "/") return;
		// Bots register commands at any time.
		await readCommands();
		suggest();
	});

	async function readCommands() {
		const { person, channelId, guildId } = world;
		const guild = guildId === direct ? "" : `&guild=${guildId}`;
		const address = `/simulator/commands?channel=${channelId}&user=${person?.id}${guild}`;
		const found = await request("GET", address).catch(() => []);
		if (world.channelId !== channelId || world.person !== person) return;
		const isSlash = (/** @type {Json} */ { type }) => type === slash;
		commands = found.filter(isSlash);
		world.menuCommands = found.filter((/** @type {Json} */ one) => !isSlash(one));
	}

	function grow() {
		text.style.height = "auto";
		text.style.height = `${Math.min(200, text.scrollHeight + 2)}px`;
	}

	function suggest() {
		const [, typed = ""] = /^\/([^\n]*)$/.exec(text.value) ?? [];
		const isCommand = text.value.startsWith("/");
		const found = isCommand ? commands.filter(({ name }) => name.startsWith(typed)) : [];
		suggestions.hidden = !isCommand || (found.length === 0 && typed.includes(" "));
		suggestions.replaceChildren(
			...found
				.slice(0, maxSuggestions)
				.map((command) =>
					element(
						"li",
						{},
						element(
							"button",
							{ type: "button", onclick: () => choose(command) },
							element("strong", {}, `/${command.name}`),
							element("span", { class: "quiet", dir: "auto" }, command.description),
							element("span", { class: "small quiet" }, command.bot),
						),
					),
				),
		);
		if (found.length === 0) suggestions.append(element("li", { class: "quiet" }, "No bot here has such a command."));
		else if (found.length > maxSuggestions)
			suggestions.append(
				element("li", { class: "quiet" }, `and ${found.length - maxSuggestions} others: type more of the name`),
			);
	}

	/** @param {Json} command */
	async function choose(command) {
		text.value = "";
		grow();
		suggest();
		if ((command.options ?? []).length === 0) {
			text.focus();
			await sending.run(command, []);
			return;
		}
		const inputs = createInputs(world, command, (options) => sending.suggest(command, options));
		const own = element(
			"form",
			{
				class: "fields-form",
				"aria-label": `Options of /${command.name}`,
				onsubmit: async (/** @type {Event} */ event) => {
					event.preventDefault();
					if (await sending.run(command, valuesOf(inputs))) close();
				},
				onkeydown: (/** @type {KeyboardEvent} */ event) => {
					if (event.key === "Escape") close();
				},
			},
			element(
				"p",
				{},
				element("strong", {}, `/${command.name}`),
				" ",
				element("span", { class: "quiet", dir: "auto" }, command.description),
			),
			...inputs.map(optionField),
			element(
				"div",
				{ class: "row" },
				element("button", { class: "main" }, "Run"),
				element("button", { type: "button", onclick: close }, "Cancel"),
			),
		);
		commandForm.replaceChildren(own);
		commandForm.hidden = false;
		form.hidden = true;
		inputs[0]?.control.focus();
	}

	function close() {
		commandForm.replaceChildren();
		commandForm.hidden = true;
		form.hidden = false;
		text.focus();
	}

	/** @param {Json | undefined} message */
	function setReply(message) {
		replyTo = message;
		reply.hidden = !message;
		reply.replaceChildren();
		if (!message) return;
		const name = world.nameOf(message.author.id);
		reply.append(
			"Reply to ",
			element("bdi", { class: "author" }, `${name}:`),
			element("bdi", { class: "excerpt" }, excerptOf(message)),
			element(
				"button",
				{
					type: "button",
					class: "link",
					onclick: () => {
						setReply(undefined);
						text.focus();
					},
				},
				"Cancel",
			),
		);
		text.focus();
	}

	return {
		reply: setReply,
		/**
		 * Updates the composer after a change of the channel or person: whether the person can write there, and which
		 * commands they can use.
		 */
		async update() {
			const { channelId, mayWrite } = world;
			if (replyTo && replyTo.channel_id !== channelId) setReply(undefined);
			text.disabled = send.disabled = !mayWrite;
			text.placeholder = mayWrite ? `Message as ${world.name}, or / for commands` : `${world.name} cannot write here`;
			commands = [];
			world.menuCommands = [];
			if (mayWrite) await readCommands();
		},
		closeCommand: () => {
			if (!commandForm.hidden) close();
		},
	};
}

/**
 * Returns the command that a whole line names, such as "/ping".
 * @param {Json[]} commands
 * @param {string} line
 */
function commandNamed(commands, line) {
	return commands.find(({ name }) => line === `/${name}`);
}
