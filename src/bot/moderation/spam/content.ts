// Extracts the parts of a message that can repeat: its text, links and files. Only keyed hashes of them are kept, with
// a random key that lasts as long as the process.

import { createHmac, randomBytes } from "node:crypto";
import { domainToASCII } from "node:url";

/** Texts with fewer letters and digits are not compared, because people write words such as "lol" in many channels. */
const minTextLength = 20;
/** Texts with fewer letters and digits, such as greetings and bot commands, may repeat without being spam. */
const minRepeatedLength = 40;
const minCapitals = 10;
const maxSearched = 1_000;
const maxLinks = 5;
const maxFiles = 10;
const maxContentLength = 4_000;

const linkPattern = /(?:https?:\/\/|(?<![\w@.-])(?=[\w-]+(?:\.[\w-]+)*\.\p{L}{2,}\/))[^\s<>()[\]|"'`*]+/giu;

export type PartKind = "text" | "link" | "file";

export interface Part {
	kind: PartKind;
	/** Equal parts have equal hashes. That of a file is of its name, type, size and dimensions. */
	hash: string;
	/** Not spam even if it repeats. */
	isShort?: boolean;
	url?: string;
}

export interface PostedFile {
	url: string;
	name: string;
	size: number;
	width: number | null;
	height: number | null;
	contentType: string | null;
}

export interface Content {
	text: string;
	files: readonly PostedFile[];
}

export function createHash(): (kind: PartKind, value: string) => string {
	const key = randomBytes(32);
	return (kind, value) => createHmac("sha256", key).update(`${kind}\0${value}`).digest("base64url").slice(0, 22);
}

/** Without duplicates. With `isEager`, any text is a part. */
export function partsOf({ text, files }: Content, hash: ReturnType<typeof createHash>, isEager = false): Part[] {
	const content = text.slice(0, maxContentLength);
	const parts = new Map<string, Part>();
	const add = (part: Part) => parts.set(part.hash, part);
	const words = normalized(content);
	if (words.length >= (isEager ? 1 : minTextLength))
		add({ kind: "text", hash: hash("text", words), isShort: isShort(words) });
	const links = linksIn(content).filter((link) => !isMessageLink(link) && !gifHosts.test(hostOf(link)));
	for (const link of links.slice(0, maxLinks)) {
		// With the query, because on many sites only the query distinguishes two pages, such as two videos.
		const identity = `${hostOf(link)}${link.pathname.replace(/\/+$/, "")}${link.search}`;
		add({ kind: "link", hash: hash("link", identity) });
	}
	for (const { url, ...file } of files.slice(0, maxFiles)) {
		const { name, size, width, height, contentType } = file;
		add({ kind: "file", hash: hash("file", JSON.stringify([name, size, width, height, contentType])), url });
	}
	return [...parts.values()];
}

/** Its letters and digits in lower case, without links, mentions, custom emoji and timestamps. */
export function normalized(text: string): string {
	return lettersIn(text).toLowerCase();
}

function lettersIn(text: string): string {
	return text
		.replace(/<(?:@[!&]?|#|a?:\w{1,64}:|t:|id:|\/[^:>]{1,100}:)[^>]{0,64}>/g, "")
		.replace(linkPattern, "")
		.normalize("NFKC")
		.replace(/[^\p{L}\p{N}]/gu, "");
}

/** At least ten capitals, and four for each small letter. Letters without case do not count. */
export function isInCapitals(text: string): boolean {
	const [letters, capitals] = [lettersIn(text.slice(0, maxContentLength)), /\p{Lu}/gu];
	const count = letters.match(capitals)?.length ?? 0;
	return count >= minCapitals && count >= 4 * (letters.match(/\p{Ll}/gu)?.length ?? 0);
}

/** Repetitions inside the text count once, because people write "hahahahaha" and "GOOOOOAL". */
function isShort(words: string): boolean {
	return words.slice(0, maxSearched).replace(/(.{1,20}?)\1+/gu, "$1").length < minRepeatedLength;
}

/** Discord shows https links as links, and invites such as "discord.gg/name" also without https. */
export function linksIn(text: string): URL[] {
	return [...text.matchAll(linkPattern)].flatMap(([match]) => {
		const url = /^https?:/i.test(match) ? match : `https://${match}`;
		return URL.parse(url) ?? [];
	});
}

function isMessageLink({ hostname, pathname }: URL): boolean {
	return /^(?:\w+\.)?discord(?:app)?\.com$/.test(hostname) && pathname.startsWith("/channels/");
}

const gifHosts = /(?:^|\.)(?:tenor|giphy|klipy)\.com$/;

function hostOf({ hostname }: URL): string {
	return hostname.replace(/^www\./, "").replace(/\.$/, "");
}

/** A place is a host including its subdomains, or a host with the start of a path. */
export function hasListedLink(text: string, listed: readonly string[]) {
	if (listed.length === 0) return false;
	return linksIn(text.slice(0, maxContentLength)).some((link) => {
		const host = hostOf(link);
		const path = link.pathname.toLowerCase();
		return listed.some((entry) => {
			const [listedHost = "", ...rest] = entry.toLowerCase().split("/");
			const start = `/${rest.join("/")}`.replace(/\/+$/, "");
			// The URL class returns hosts in Punycode.
			const wanted = domainToASCII(listedHost);
			const isHost = host === wanted || host.endsWith(`.${wanted}`);
			// "discord.gg/free" is another invite than "discord.gg/freedom".
			return isHost && `${path}/`.startsWith(`${start}/`);
		});
	});
}
