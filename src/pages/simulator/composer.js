// The input field for messages, replies, and slash commands with their options.

import { byId, element } from "../dom.js";
import { run, suggest, write } from "./actions.js";
import { completionsOf, withMarkup } from "./mentions.js";
import { excerptOf } from "./message-state.js";
import { closableForm } from "./notices.js";
import { createInputs, optionField, showChoices, valuesOf } from "./options.js";
import { request } from "./server.js";
import { direct, world } from "./world.js";

/** @typedef {import("./server.js").Json} Json */

const maxSuggestions = 10;
const slash = 1;

const form = /** @type {HTMLFormElement} */ (byId("composer"));
const text = /** @type {HTMLTextAreaElement} */ (byId("text"));
const send = /** @type {HTMLButtonElement} */ (byId("send"));
const replyLine = byId("reply");
const suggestions = byId("suggestions");
const commandForm = byId("command");

/** @type {Json | undefined} */
let replyTo;
/** @type {Json[]} */
let commands = [];
/** The inputs of the command whose options are filled in. @type {import("./options.js").Input[]} */
let inputs = [];

form.addEventListener("submit", (event) => {
	event.preventDefault();
	void submit();
});
text.addEventListener("keydown", receiveKey);
suggestions.addEventListener("keydown", moveInSuggestions);
text.addEventListener("input", async () => {
	showSuggestions();
	// Bots register commands at any time.
	if (text.value !== "/" && (commands.length > 0 || !text.value.startsWith("/"))) return;
	await readCommands();
	showSuggestions();
});

/** @param {KeyboardEvent} event */
function receiveKey(event) {
	if (event.key === "Escape") reply(undefined);
	const isSend = event.key === "Enter" && !event.shiftKey && !event.isComposing;
	const isDown = event.key === "ArrowDown" && !suggestions.hidden;
	if (!isSend && !isDown) return;
	event.preventDefault();
	const { found } = completionsOf(typed());
	const isComplete = found.some(({ text }) => typed().endsWith(text));
	if (isDown) suggestions.querySelector("button")?.focus();
	else if (found[0] && !isComplete) complete(found[0]);
	else void submit();
}

async function submit() {
	const content = text.value.trim();
	if (content === "") return;
	if (content.startsWith("/")) await readCommands();
	// What a person pastes may be a command with its options. Everyone would read it as a message.
	const command = commands.find(({ name }) => `${content} `.startsWith(`/${name} `));
	if (command) return choose(command);
	if (!(await write(withMarkup(content), replyTo))) return;
	reply(undefined);
	clear();
}

function clear() {
	text.value = "";
	showSuggestions();
}

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

function typed() {
	return text.value.slice(0, text.selectionStart);
}

/** @param {import("./mentions.js").Mention} mention */
function complete(mention) {
	text.setRangeText(`${mention.text} `, completionsOf(typed()).start, text.selectionStart, "end");
	text.focus();
	showSuggestions();
}

/** Shows the commands or mentions that begin with what was typed, and fits the input field to the text. */
function showSuggestions() {
	text.style.height = "auto";
	text.style.height = `${Math.min(200, text.scrollHeight + 2)}px`;
	const [, name = ""] = /^\/([^\n]*)$/.exec(text.value) ?? [];
	const isCommand = text.value.startsWith("/");
	const mentions = isCommand ? [] : completionsOf(typed()).found;
	const found = isCommand ? commands.filter((one) => one.name.startsWith(name)) : [];
	const others = found.length - maxSuggestions;
	const note = found.length === 0 ? "No bot here has such a command." : `and ${others} others: type more of the name`;
	suggestions.hidden = isCommand ? found.length === 0 && name.includes(" ") : mentions.length === 0;
	suggestions.replaceChildren(
		...mentions.slice(0, maxSuggestions).map((one) => choice(one.text, one.names.at(1), "", () => complete(one))),
		...found.slice(0, maxSuggestions).map((one) => choice(`/${one.name}`, one.description, one.bot, () => choose(one))),
		...(isCommand && (found.length === 0 || others > 0) ? [element("li.quiet", note)] : []),
	);
}

/** Runs a command, or shows the inputs for its options. @param {Json} command */
async function choose(command) {
	clear();
	if ((command.options ?? []).length === 0) {
		text.focus();
		await run(command, []);
		return;
	}
	inputs = createInputs(command, (options) => suggest(command, options));
	const own = closableForm(
		{
			"aria-label": `Options of /${command.name}`,
			onkeydown: (/** @type {KeyboardEvent} */ event) => {
				if (event.key === "Escape") closeCommand();
			},
		},
		"Run",
		() => run(command, valuesOf(inputs)),
		closeCommand,
		element(
			"p",
			element("strong", `/${command.name}`),
			" ",
			element("span.quiet", { dir: "auto" }, command.description),
		),
		...inputs.map(optionField),
	);
	commandForm.replaceChildren(own);
	commandForm.hidden = false;
	form.hidden = true;
	inputs[0]?.control.focus();
}

/** Shows the suggestions of a bot for the option that the person is typing. @param {Json} interaction */
export function receiveChoices(interaction) {
	showChoices(inputs, interaction);
}

export function closeCommand() {
	if (commandForm.hidden) return;
	inputs = [];
	commandForm.replaceChildren();
	commandForm.hidden = true;
	form.hidden = false;
	text.focus();
}

/** Makes the next message a reply to this one, or to none. @param {Json | undefined} message */
export function reply(message) {
	replyTo = message;
	replyLine.hidden = !message;
	replyLine.replaceChildren();
	if (!message) return;
	const cancel = () => {
		reply(undefined);
		text.focus();
	};
	replyLine.append(
		"Reply to ",
		element("bdi.author", `${world.nameOf(message.author.id)}:`),
		element("bdi.excerpt", excerptOf(message)),
		element("button.link", { onclick: cancel }, "Cancel"),
	);
	text.focus();
}

/** After a change of the channel or person: whether the person can write there, and which commands they can use. */
export async function updateComposer() {
	const { channelId, mayWrite, name } = world;
	if (replyTo && replyTo.channel_id !== channelId) reply(undefined);
	text.disabled = send.disabled = !mayWrite;
	text.placeholder = mayWrite ? `Message as ${name}, or / for commands` : `${name} cannot write here`;
	commands = world.menuCommands = [];
	if (mayWrite) await readCommands();
	showSuggestions();
}

/** @param {string} name @param {string | undefined} description @param {string} bot @param {() => void} act */
function choice(name, description, bot, act) {
	return element(
		"li",
		element(
			"button",
			{ onclick: act },
			element("strong", name),
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
