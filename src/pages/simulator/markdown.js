// Renders Discord's markdown as elements. Strings become text nodes, never markup; only http and https URLs become
// links. https://support.discord.com/hc/en-us/articles/210298617-Markdown-Text-101

import { element } from "../dom.js";
import { world } from "./world.js";

/** Marks that are nested more deeply are shown as plain text. */
const maxDepth = 8;

/** @param {string} text */
export function renderMarkdown(text) {
	const fragment = document.createDocumentFragment();
	const parts = text.split(/```([\s\S]+?)```/);
	for (const [index, part] of parts.entries())
		if (index % 2 === 1) fragment.append(codeBlock(part));
		else if (part !== "") fragment.append(...blocks(part.replace(/^\n/, "").replace(/\n$/, "")));
	return fragment;
}

/** @param {string} text */
export function renderLine(text) {
	const fragment = document.createDocumentFragment();
	fragment.append(...inline(text, 0));
	return fragment;
}

/** @param {string} text */
function codeBlock(text) {
	const [, body = text] = /^[\w+-]*\n([\s\S]+)$/.exec(text) ?? [];
	const code = element("code", body.replace(/\n$/, ""));
	return element("pre", { dir: "ltr" }, code);
}

const lineKinds = /** @type {const} */ ([
	[/^### (.+)$/, "h6"],
	[/^## (.+)$/, "h5"],
	[/^# (.+)$/, "h4"],
	[/^-# (.+)$/, "small"],
	[/^> ?(.*)$/, "blockquote"],
	[/^\s*[-*] (.+)$/, "ul"],
	[/^\s*\d{1,9}\. (.+)$/, "ol"],
]);

/** @param {string} text @returns {HTMLElement[]} */
function blocks(text) {
	/** @type {{ kind: string, lines: string[] }[]} */
	const found = [];
	const lines = text.split("\n");
	for (const [index, line] of lines.entries()) {
		if (line.startsWith(">>> ")) {
			const rest = [line.slice(4), ...lines.slice(index + 1)];
			found.push({ kind: "blockquote", lines: rest });
			break;
		}
		const [kind, content] = kindOf(line);
		const last = found.at(-1);
		// A heading is a single line. Other blocks collect consecutive lines.
		if (last?.kind === kind && !/^h\d$/.test(kind)) last.lines.push(content);
		else found.push({ kind, lines: [content] });
	}
	return found.map(renderBlock);
}

/** @param {string} line @returns {[kind: string, content: string]} */
function kindOf(line) {
	for (const [pattern, kind] of lineKinds) {
		const [, content] = pattern.exec(line) ?? [];
		if (content !== undefined) return [kind, content];
	}
	return ["p", line];
}

/** @param {{ kind: string, lines: string[] }} block */
function renderBlock({ kind, lines }) {
	if (kind === "ul" || kind === "ol")
		return element(kind, ...lines.map((line) => element("li", { dir: "auto" }, renderLine(line))));
	// A heading inside a message must not be a heading of the page.
	const heading = /^h\d$/.test(kind);
	const tag = kind === "blockquote" ? "blockquote" : "p";
	return element(
		tag,
		{ dir: "auto", class: heading || kind === "small" ? kind : undefined },
		renderLine(lines.join("\n")),
	);
}

/**
 * Marks that enclose a text, the longest first, and what is shown for the text.
 * @type {[mark: string, render: (inner: (Node | string)[]) => Node][]}
 */
const pairs = [
	["***", (inner) => element("em", element("strong", ...inner))],
	["**", (inner) => element("strong", ...inner)],
	["__", (inner) => element("u", ...inner)],
	["~~", (inner) => element("s", ...inner)],
	["||", (inner) => element("details.spoiler", element("summary", "spoiler"), element("span", ...inner))],
	["*", (inner) => element("em", ...inner)],
	["_", (inner) => element("em", ...inner)],
];

const special = /[\\`*_~|<[@]|https?:\/\//g;

/** @param {string} text @param {number} depth @returns {(Node | string)[]} */
function inline(text, depth) {
	/** @type {(Node | string)[]} */
	const nodes = [];
	let plain = 0;
	let at = 0;
	while (at < text.length) {
		special.lastIndex = at;
		const next = special.exec(text)?.index;
		if (next === undefined) break;
		at = next;
		const found = depth < maxDepth ? markAt(text, at, depth) : undefined;
		if (found) {
			if (at > plain) nodes.push(text.slice(plain, at));
			nodes.push(found.node);
			at += found.length;
			plain = at;
		} else at += 1;
	}
	if (plain < text.length) nodes.push(text.slice(plain));
	return nodes;
}

/**
 * Returns the element that begins at position `at` of a text, and the number of characters that it takes; undefined if
 * plain text begins there.
 * @param {string} text
 * @param {number} at
 * @param {number} depth
 * @returns {{ node: Node | string, length: number } | undefined}
 */
function markAt(text, at, depth) {
	// Limits the work of the patterns: no mark is longer.
	const rest = text.slice(at, at + 2500);
	for (const [pattern, render] of patterns) {
		const found = pattern.exec(rest);
		if (found) return { node: render(found, depth), length: found[0].length };
	}
	return pair(rest, depth);
}

/** @type {[RegExp, (groups: any[], depth: number) => Node | string][]} */
const patterns = [
	[/^\\([^A-Za-z0-9\s])/, ([, character]) => character],
	[/^(`+)([^`]+)\1(?!`)/, ([, , content]) => element("code", content)],
	[/^@(?:everyone|here)\b/, ([everyone]) => chip(everyone)],
	[/^<#(\d{1,20})>/, ([, id]) => chip(`#${world.channelOf(id)?.name ?? "unknown"}`)],
	[/^<@&(\d{1,20})>/, ([, id]) => chip(`@${world.roleName(id) ?? "unknown role"}`)],
	[/^<@!?(\d{1,20})>/, ([, id]) => chip(`@${world.findName(id) ?? "unknown user"}`)],
	[/^<\/([^:<>\n]{1,100}):\d{1,20}>/, ([, name]) => chip(`/${name}`)],
	[/^<a?:(\w{1,32}):(\d{1,20})>/, ([, name, id]) => (world.hasEmoji(id) ? customEmoji(id, name) : `:${name}:`)],
	[/^<t:(-?\d{1,13})(?::([tTdDfFsSR]))?>/, ([, seconds, style = "f"]) => timestamp(Number(seconds), style)],
	[
		/^\[([^\]\n]{1,500})\]\(<?(https?:\/\/[^\s<>)]+)>?\)/,
		([, label, target], depth) => linkTo(target, ...inline(label, depth + 1)),
	],
	[/^<(https?:\/\/[^\s<>]+)>/, ([, target]) => linkTo(target, target)],
	[/^https?:\/\/[^\s<>]*[^\s<>.,:;"'!?)\]]/, ([target]) => linkTo(target, target)],
];

/** @param {string} rest @param {number} depth */
function pair(rest, depth) {
	for (const [mark, render] of pairs) {
		if (!rest.startsWith(mark)) continue;
		const end = rest.indexOf(mark, mark.length + 1);
		const content = rest.slice(mark.length, end);
		// Single marks must touch their text: "2 * 3 * 4" and snake_case_names contain no marks.
		const isLoose = /^\s|\s$/.test(content) || (mark === "_" && /\w/.test(rest[end + 1] ?? ""));
		if (end < 0 || (mark.length === 1 && isLoose)) continue;
		const inner = inline(content, depth + 1);
		return { node: render(inner), length: end + mark.length };
	}
	return undefined;
}

/**
 * Returns a link to an external page, or only the text if the URL is not http or https.
 * @param {string} address
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function linkTo(address, ...children) {
	const url = URL.parse(address);
	const safe = url && ["http:", "https:"].includes(url.protocol);
	if (!safe) return element("span", ...children);
	return element(
		"a",
		{ href: url.href, title: url.href, target: "_blank", rel: "noopener noreferrer nofollow" },
		...children,
	);
}

/** @param {string} text */
function chip(text) {
	return element("bdi.mention", text);
}

/** @param {string} id @param {string} name */
export function customEmoji(id, name) {
	return element("img.emoji", { src: `/emojis/${encodeURIComponent(id)}.png`, alt: `:${name}:`, title: `:${name}:` });
}

/**
 * https://docs.discord.com/developers/reference#message-formatting-timestamp-styles
 * @type {Record<string, Intl.DateTimeFormatOptions>}
 */
const timestampStyles = {
	t: { timeStyle: "short" },
	T: { timeStyle: "medium" },
	d: { dateStyle: "short" },
	D: { dateStyle: "long" },
	f: { dateStyle: "long", timeStyle: "short" },
	F: { dateStyle: "full", timeStyle: "short" },
	s: { dateStyle: "short", timeStyle: "short" },
	S: { dateStyle: "short", timeStyle: "medium" },
};

/** @param {number} seconds @param {string} style */
function timestamp(seconds, style) {
	const date = new Date(seconds * 1000);
	if (Number.isNaN(date.getTime())) return chip(`<t:${seconds}>`);
	const shown = style === "R" ? relative(seconds - Date.now() / 1000) : date.toLocaleString([], timestampStyles[style]);
	const title = date.toLocaleString([], timestampStyles.F);
	return element("time.mention", { datetime: date.toISOString(), title }, shown);
}

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const units = [
	["year", 31_536_000],
	["month", 2_592_000],
	["day", 86_400],
	["hour", 3_600],
	["minute", 60],
	["second", 1],
];

/** Such as "in 2 hours". @param {number} seconds */
function relative(seconds) {
	const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
	return new Intl.RelativeTimeFormat([]).format(Math.round(seconds / size), unit);
}
