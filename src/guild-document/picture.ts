// Pictures of emoji and icons as documents refer to them: by the start of their SHA-256.

import { basename, dirname, join } from "node:path";
import type { GuildDocument } from "./document.ts";

/** Maximum size of a picture in bytes. Discord accepts emoji of up to 256 KiB, and larger icons. */
export const maxPictureBytes = 10 * 1024 * 1024;

/** The media types of the image formats that Discord accepts, with the file extension of each. */
export const pictureTypes = {
	"image/png": "png",
	"image/jpeg": "jpg",
	"image/gif": "gif",
	"image/webp": "webp",
	"image/avif": "avif",
} as const;
export type PictureType = keyof typeof pictureTypes;

/** Returns the hash of a picture: the first 32 hexadecimal digits of its SHA-256. */
export function pictureHash(bytes: Uint8Array): string {
	return Bun.SHA256.hash(bytes, "hex").slice(0, 32);
}

/** Recognizes the media type of a picture by its first bytes. Undefined if it is none that Discord accepts. */
export function pictureType(bytes: Uint8Array): PictureType | undefined {
	const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
	if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
	if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
	if (/^GIF8[79]a/.test(start)) return "image/gif";
	if (/^RIFF.{4}WEBP/s.test(start)) return "image/webp";
	if (/^.{4}ftypavi[fs]/s.test(start)) return "image/avif";
	return undefined;
}

/**
 * Returns why a picture cannot be used under this hash: its size, its format, or other bytes. Undefined if it can be.
 */
export function pictureIssue(
	bytes: Uint8Array,
	hash: string,
): string | undefined {
	if (bytes.length > maxPictureBytes)
		return `it is larger than ${maxPictureBytes / 1024 / 1024} MiB`;
	if (pictureHash(bytes) !== hash)
		return "its content has another hash: the file was changed or renamed";
	if (!pictureType(bytes)) return "it is no PNG, JPEG, GIF, WebP or AVIF";
	return undefined;
}

/** Returns the directory of the pictures of the document in a file: "guild.pictures" beside "guild.yaml". */
export function picturesDirectoryOf(file: string): string {
	const name = basename(file).replace(/\.(ya?ml|json)$/i, "");
	return join(dirname(file), `${name}.pictures`);
}

/** Returns the hashes of the pictures that a document refers to, each once. */
export function picturesIn({
	settings,
	roles,
	emojis,
}: Pick<GuildDocument, "settings" | "roles" | "emojis">): string[] {
	const all = [
		settings?.icon,
		...(roles ?? []).map(({ icon }) => icon),
		...(emojis ?? []).map(({ picture }) => picture),
	];
	const hashes = all.filter((one) => /^[0-9a-f]{32}$/.test(one ?? ""));
	return [...new Set(hashes.map(String))];
}
