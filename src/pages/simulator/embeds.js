// Renders the embeds, files and polls of messages.

import { element } from "../dom.js";
import { vote } from "./actions.js";
import { linkTo, renderLine, renderMarkdown } from "./markdown.js";

/** @typedef {import("./server.js").Json} Json */

/** @param {string} timestamp */
export function shortTime(timestamp) {
	const date = new Date(timestamp);
	const isToday = date.toDateString() === new Date().toDateString();
	return isToday
		? date.toLocaleTimeString([], { timeStyle: "short" })
		: date.toLocaleString([], { dateStyle: "short", timeStyle: "short" });
}

/** @param {Json} embed */
export function renderEmbed(embed) {
	const { title, url, description, author, fields = [], footer } = embed;
	const box = element(
		"article.embed",
		author && element("p.small", element("bdi", author.name)),
		title && element("p.title", { dir: "auto" }, url ? linkTo(url, title) : renderLine(title)),
		description && element("div", { dir: "auto" }, renderMarkdown(description)),
		fields.length > 0 &&
			element(
				"dl.fields",
				...fields.map((/** @type {Json} */ field) =>
					element(
						"div",
						{ class: field.inline ? "inline" : undefined },
						element("dt", { dir: "auto" }, renderLine(field.name)),
						element("dd", { dir: "auto" }, renderMarkdown(field.value)),
					),
				),
			),
		picture(embed.image?.url, "picture of the embed"),
		picture(embed.thumbnail?.url, "small picture of the embed"),
		footer && element("p.small.quiet", element("bdi", footer.text)),
		embed.timestamp && element("p.small.quiet", shortTime(embed.timestamp)),
	);
	if (embed.color) box.style.borderInlineStartColor = `#${embed.color.toString(16).padStart(6, "0")}`;
	return box;
}

/**
 * Returns a picture if the simulator serves it, otherwise a link: the page loads nothing from other servers.
 * @param {string | undefined} address
 * @param {string} alt
 */
function picture(address, alt) {
	if (!address) return undefined;
	const own = ownPath(address);
	return own ? element("img.picture", { src: own, alt }) : element("p.small", linkTo(address, `Picture: ${address}`));
}

/**
 * Returns the path of a file that the simulator serves, whatever host name its URL has; undefined for files of other
 * servers.
 * @param {string} address
 */
function ownPath(address) {
	const url = URL.parse(address);
	const isOwn = url?.port === location.port && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname);
	return isOwn ? url.pathname : undefined;
}

/** @param {Json} attachment */
export function renderAttachment({ url, filename, content_type = "", size, description }) {
	const isPicture = /^image\/(png|jpeg|gif|webp|avif)$/.test(content_type ?? "");
	if (isPicture && ownPath(url)) return picture(url, description || filename);
	return element("p.file", linkTo(url, element("bdi", filename)), ` ${Math.ceil(size / 1024)} KB`);
}

/** @param {Json} message */
export function renderPoll(message) {
	const { question, answers, results } = message.poll;
	return element(
		"fieldset.poll",
		element("legend", { dir: "auto" }, question.text),
		...answers.map((/** @type {Json} */ { answer_id, poll_media }) => {
			const counted = results?.answer_counts?.find((/** @type {Json} */ one) => one.id === answer_id);
			return element(
				"button",
				{
					"data-key": `vote-${message.id}-${answer_id}`,
					disabled: results?.is_finalized,
					"aria-pressed": String(counted?.me_voted === true),
					onclick: () => vote(message, answer_id),
				},
				element("bdi", poll_media.text ?? poll_media.emoji?.name ?? ""),
				` (${counted?.count ?? 0})`,
			);
		}),
	);
}
