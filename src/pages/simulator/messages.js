// Renders messages: author, reply, text, embeds, files, polls, reactions and buttons.

import { element } from "../dom.js";
import { dismiss, react, remove } from "./actions.js";
import { messageMenu, renderComponents, renderMenu } from "./components.js";
import { reply } from "./composer.js";
import { renderAttachment, renderEmbed, renderPoll, shortTime } from "./embeds.js";
import { customEmoji, renderLine, renderMarkdown } from "./markdown.js";
import { emojiKey, excerptOf, messageFlags, systemTexts } from "./message-state.js";
import { world } from "./world.js";

/** @typedef {import("./server.js").Json} Json */

const quickEmoji = ["👍", "❤️", "😂", "🎉", "😮", "😢", "✅", "❌"];

/** @param {Json} message */
function isEphemeral({ flags = 0 }) {
	return Boolean(flags & messageFlags.ephemeral);
}

/** @param {Json} message */
export function renderMessage(message) {
	const { id, author } = message;
	const name =
		message.webhook_id && !message.application_id ? author.username : (world.findName(author.id) ?? author.username);
	return element(
		"li",
		{ id: `message-${id}`, class: isEphemeral(message) ? "message ephemeral" : "message" },
		!isEphemeral(message) && reference(message),
		avatar(author, name),
		element(
			"div.body",
			heading(message, name),
			...content(message),
			reactions(message),
			isEphemeral(message) ? ephemeralNote(message) : tools(message, name),
		),
	);
}

/** @param {Json} message @param {string} name */
function heading({ author, timestamp, edited_timestamp }, name) {
	return element(
		"p.heading",
		element("bdi.author", name),
		author.bot && element("span.tag", "BOT"),
		element("time", { datetime: timestamp, title: new Date(timestamp).toLocaleString() }, shortTime(timestamp)),
		edited_timestamp && element("span.quiet", "(edited)"),
	);
}

/** @param {Json} user @param {string} name */
export function avatar({ id, bot }, name) {
	const initial = [...name.matchAll(/[\p{L}\p{N}]/gu)][0]?.[0] ?? "?";
	const disc = element("span", { class: bot ? "avatar bot" : "avatar", "aria-hidden": "true" }, initial.toUpperCase());
	disc.style.backgroundColor = `hsl(${(BigInt(id) * 137n) % 360n} 45% 30%)`;
	return disc;
}

/** @param {Json} message */
function reference(message) {
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
		element("bdi.excerpt", renderLine(excerptOf(found))),
	);
}

/** @param {Json} message */
function content(message) {
	const { embeds = [], attachments = [], components = [], poll } = message;
	if (message.flags & messageFlags.thinking) return [element("p.quiet.thinking", "is thinking…")];
	const system = systemTexts[message.type];
	const text = message.content || (system ?? "");
	return [
		text !== "" && element("div", { class: system ? "text quiet" : "text", dir: "auto" }, renderMarkdown(text)),
		...(message.message_snapshots ?? []).map((/** @type {Json} */ one) =>
			element("blockquote.text", element("p.quiet", "Forwarded"), renderMarkdown(one.message.content)),
		),
		...embeds.map(renderEmbed),
		...attachments.map(renderAttachment),
		poll && renderPoll(message),
		components.length > 0 && element("div.components", ...renderComponents(message)),
	];
}

/** @param {Json} message */
function reactions(message) {
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
					onclick: () => react(message, emojiKey(emoji), !me),
				},
				emoji.id && world.hasEmoji(emoji.id) ? customEmoji(emoji.id, emoji.name) : emoji.name,
				` ${count}`,
			),
		),
	);
}

/** @param {Json} message @param {string} name */
function tools(message, name) {
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
		world.mayWrite && tool("Reply", () => reply(message)),
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
								onclick: () => react(message, key, true),
							},
							shown,
						),
					),
				),
			),
		renderMenu(messageMenu, message.id, `the message of ${name}`),
		own && element("button", { "aria-label": "Delete your message", onclick: () => remove(message) }, "Delete"),
	);
}

/** @param {Json} message */
function ephemeralNote(message) {
	return element(
		"p.small.quiet",
		"Only you can see this · ",
		element("button.link", { onclick: () => dismiss(message) }, "Dismiss"),
	);
}
