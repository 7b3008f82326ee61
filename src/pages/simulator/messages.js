// Renders messages: author, reply, text, embeds, files, polls, reactions and buttons.

import { element } from "../dom.js";
import { messageMenu, renderComponents, renderMenu } from "./components.js";
import { renderAttachment, renderEmbed, renderPoll, shortTime } from "./embeds.js";
import { customEmoji, renderMarkdown } from "./markdown.js";
import { emojiKey, messageFlags } from "./message-state.js";

/**
 * @typedef {import("./world.js").Json} Json
 * @typedef {import("./world.js").World} World
 * @typedef {import("./actions.js").Actions} Actions
 */

/** The texts of system messages, by message type. @type {Record<number, string>} */
const systemTexts = {
	6: "pinned a message.",
	7: "joined the guild.",
	8: "boosted the guild.",
	12: "added a channel to follow.",
	18: "started a thread.",
	21: "started this thread.",
	27: "opened a stage.",
	46: "ended a poll.",
};

const quickEmoji = ["👍", "❤️", "😂", "🎉", "😮", "😢", "✅", "❌"];

/** @param {Json} message */
function isEphemeral({ flags = 0 }) {
	return Boolean(flags & messageFlags.ephemeral);
}

/**
 * @param {World} world
 * @param {Json} message
 * @param {Actions} actions
 */
export function renderMessage(world, message, actions) {
	const { id, author } = message;
	const name =
		message.webhook_id && !message.application_id ? author.username : (world.findName(author.id) ?? author.username);
	return element(
		"li",
		{ id: `message-${id}`, class: isEphemeral(message) ? "message ephemeral" : "message" },
		reference(world, message),
		avatar(author, name),
		element(
			"div.body",
			heading(message, name),
			...content(world, message, actions),
			reactions(world, message, actions),
			isEphemeral(message) ? ephemeralNote(message, actions) : tools(world, message, name, actions),
		),
	);
}

/**
 * @param {Json} message
 * @param {string} name
 */
function heading({ author, timestamp, edited_timestamp }, name) {
	return element(
		"p.heading",
		element("bdi.author", name),
		author.bot && element("span.tag", "BOT"),
		element("time", { datetime: timestamp, title: new Date(timestamp).toLocaleString() }, shortTime(timestamp)),
		edited_timestamp && element("span.quiet", "(edited)"),
	);
}

/**
 * Returns a circle with the initial of a user's name, in a color derived from the user's id.
 * @param {Json} user
 * @param {string} name
 */
export function avatar({ id, bot }, name) {
	const initial = [...name.matchAll(/[\p{L}\p{N}]/gu)][0]?.[0] ?? "?";
	const disc = element("span", { class: bot ? "avatar bot" : "avatar", "aria-hidden": "true" }, initial.toUpperCase());
	disc.style.backgroundColor = `hsl(${(BigInt(id) * 137n) % 360n} 45% 30%)`;
	return disc;
}

/**
 * Returns the line above a reply or a bot's response to a command, which names the message or command.
 * @param {World} world
 * @param {Json} message
 */
function reference(world, message) {
	const { message_reference, referenced_message, interaction } = message;
	const used = interaction ?? message.interaction_metadata;
	if (interaction)
		return element(
			"p.reference",
			element("bdi", world.findName(used.user.id) ?? used.user.username),
			` used /${interaction.name}`,
		);
	if (!message_reference || message_reference.type === 1) return undefined;
	const found = referenced_message ?? world.messages.find(({ id }) => id === message_reference.message_id);
	if (!found) return element("p.reference", "Reply to a message that is gone");
	return element(
		"p.reference",
		element("bdi", `${world.nameOf(found.author.id)}:`),
		element("bdi.excerpt", excerptOf(found)),
	);
}

/** @param {Json} message */
export function excerptOf(message) {
	const { content = "", embeds = [], attachments = [] } = message;
	const text = content || embeds[0]?.title || embeds[0]?.description;
	if (text) return String(text).replaceAll(/\s+/g, " ").slice(0, 200);
	if (attachments.length > 0) return "a file";
	return systemTexts[message.type] ?? "a message without text";
}

/**
 * @param {World} world
 * @param {Json} message
 * @param {Actions} actions
 */
function content(world, message, actions) {
	const { names } = world;
	const { embeds = [], attachments = [], components = [], poll } = message;
	if (message.flags & messageFlags.thinking) return [element("p.quiet.thinking", "is thinking…")];
	const system = systemTexts[message.type];
	const text = message.content || (system ?? "");
	return [
		text !== "" && element("div", { class: system ? "text quiet" : "text", dir: "auto" }, renderMarkdown(text, names)),
		...(message.message_snapshots ?? []).map((/** @type {Json} */ one) =>
			element("blockquote.text", element("p.quiet", "Forwarded"), renderMarkdown(one.message.content, names)),
		),
		...embeds.map((/** @type {Json} */ one) => renderEmbed(one, world)),
		...attachments.map(renderAttachment),
		poll && renderPoll(message, (answerId) => actions.vote(message, answerId)),
		components.length > 0 &&
			element("div.components", ...renderComponents(world, message, (...used) => actions.use(...used))),
	];
}

/**
 * @param {World} world
 * @param {Json} message
 * @param {Actions} actions
 */
function reactions(world, message, actions) {
	if (!message.reactions?.length) return undefined;
	return element(
		"div.reactions",
		...message.reactions.map((/** @type {Json} */ { emoji, count, me }) =>
			element(
				"button.reaction",
				{
					"data-key": `react-${message.id}-${emojiKey(emoji)}`,
					"aria-pressed": String(Boolean(me)),
					"aria-label": `${emoji.name}, ${count} ${count === 1 ? "reaction" : "reactions"}`,
					onclick: () => actions.react(message, emojiKey(emoji), !me),
				},
				emoji.id && world.names.emoji(emoji.id) ? customEmoji(emoji.id, emoji.name) : emoji.name,
				` ${count}`,
			),
		),
	);
}

/**
 * @param {World} world
 * @param {Json} message
 * @param {string} name
 * @param {Actions} actions
 */
function tools(world, message, name, actions) {
	const own = message.author.id === world.person?.id;
	/** @param {string} text @param {() => void} act */
	const tool = (text, act) =>
		element(
			"button",
			{ "data-key": `${text}-${message.id}`, "aria-label": `${text} to the message of ${name}`, onclick: act },
			text,
		);
	const custom = (world.view?.guild.emojis ?? []).slice(0, 12);
	const choices = [
		...quickEmoji.map((text) => ({ key: text, shown: text })),
		...custom.map((/** @type {Json} */ emoji) => ({ key: emojiKey(emoji), shown: customEmoji(emoji.id, emoji.name) })),
	];
	return element(
		"div.tools",
		world.mayWrite && tool("Reply", () => actions.reply(message)),
		world.mayReact &&
			element(
				"details",
				{ "data-key": `reactions-${message.id}` },
				element(
					"summary",
					{ "data-key": `react-${message.id}`, "aria-label": `React to the message of ${name}` },
					"React",
				),
				element(
					"div.emoji-choice",
					...choices.map(({ key, shown }) =>
						element(
							"button",
							{
								// After the reaction, the message is rendered again, and the focus moves to the first element with this
								// key: the summary.
								"data-key": `react-${message.id}`,
								"aria-label": `React with ${key}`,
								onclick: () => actions.react(message, key, true),
							},
							shown,
						),
					),
				),
			),
		renderMenu(world, messageMenu, message.id, `the message of ${name}`, (command) =>
			actions.useInMenu(command, message.id),
		),
		own && element("button", { "aria-label": "Delete your message", onclick: () => actions.remove(message) }, "Delete"),
	);
}

/**
 * @param {Json} message
 * @param {Actions} actions
 */
function ephemeralNote(message, actions) {
	return element(
		"p.small.quiet",
		"Only you can see this · ",
		element("button.link", { onclick: () => actions.dismiss(message) }, "Dismiss"),
	);
}
