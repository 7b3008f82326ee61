// Pictures of emoji and icons as documents refer to them: by the start of their SHA-256.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { GuildDocument } from "../format/document.ts";
import { mapDocument } from "../format/fields.ts";
import type { GuildState } from "../steps.ts";

/** Bytes. Discord accepts emoji of up to 256 KiB, and larger icons. */
export const maxPictureBytes = 10 * 1024 * 1024;

/** Those that Discord accepts, with file extensions. */
export const pictureTypes = {
	"image/png": "png",
	"image/jpeg": "jpg",
	"image/gif": "gif",
	"image/webp": "webp",
	"image/avif": "avif",
} as const;

/** The first 32 hexadecimal digits of the SHA-256. */
export function pictureHash(bytes: Uint8Array): string {
	return Bun.SHA256.hash(bytes, "hex").slice(0, 32);
}

/** By the first bytes; undefined if Discord does not accept the format. */
export function pictureType(bytes: Uint8Array): keyof typeof pictureTypes | undefined {
	const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
	if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
	if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
	if (/^GIF8[79]a/.test(start)) return "image/gif";
	if (/^RIFF.{4}WEBP/s.test(start)) return "image/webp";
	if (/^.{4}ftypavi[fs]/s.test(start)) return "image/avif";
	return undefined;
}

/** Too large, another hash, or an unsupported format; undefined if usable. */
export function pictureIssue(bytes: Uint8Array, hash: string): string | undefined {
	if (bytes.length > maxPictureBytes) return `it is larger than ${maxPictureBytes / 1024 / 1024} MiB`;
	if (pictureHash(bytes) !== hash) return "its content has another hash: the file was changed or renamed";
	if (!pictureType(bytes)) return "it is no PNG, JPEG, GIF, WebP or AVIF";
	return undefined;
}

/** "guild.pictures" beside the file "guild.yaml". */
export function picturesDirectoryOf(file: string): string {
	return join(dirname(file), `${basename(file).replace(/\.(ya?ml|json)$/i, "")}.pictures`);
}

/** Of such a directory: bytes, or why it cannot be used; undefined if it is not there. Throws errors of the system. */
export function pictureIn(directory: string, hash: string): { bytes: Uint8Array } | { issue: string } | undefined {
	const name = readdirSync(directory).find((one) => one.startsWith(`${hash}.`));
	if (name === undefined) return undefined;
	const path = join(directory, name);
	// The sender of a document may send a link to a device along with it.
	const found = statSync(path);
	if (!found.isFile() || found.size > maxPictureBytes)
		return { issue: `${path} is no file of at most ${maxPictureBytes / 1024 / 1024} MiB` };
	const bytes = readFileSync(path);
	const issue = pictureIssue(bytes, hash);
	return issue === undefined ? { bytes } : { issue: `${path}: ${issue}` };
}

/** For an icon that was not downloaded; never compared. A missing field would mean the default, and delete the icon. */
export const unknownPicture = "0".repeat(32);

/** Sets icons that the guild has, but that were not downloaded, to `unknownPicture`. */
export function markUnknownIcons(document: GuildDocument, { guild }: Pick<GuildState, "guild">): GuildDocument {
	const ids = new Set(guild.roles.filter(({ icon }) => icon).map(({ id }) => id));
	const mark = <T extends { icon?: string | undefined }>(thing: T, has: boolean): T =>
		has ? { ...thing, icon: thing.icon ?? unknownPicture } : thing;
	return mapDocument(document, {
		settings: (settings) => mark(settings, guild.icon !== null),
		roles: (role) => mark(role, ids.has(role.id ?? "")),
	});
}

/** Hashes of icons and emoji, each once. */
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
	const hashes = all.filter((one) => /^[0-9a-f]{32}$/.test(one ?? "") && one !== unknownPicture);
	return [...new Set(hashes.map(String))];
}
