// Pictures of emoji and icons as documents refer to them: by the start of their SHA-256.

import { basename, dirname, join } from "node:path";
import type { GuildDocument } from "../format/document.ts";
import type { GuildState } from "../steps.ts";

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

/**
 * Stands in an export for the hash of an icon that was not loaded. A document in which left out fields have their default
 * value would otherwise delete the icon. It is never compared.
 */
export const unknownPicture = "0".repeat(32);

/** Returns a document in which each icon of the guild and of its roles is converted. */
function mapIcons(
	document: GuildDocument,
	convert: (
		icon: string | undefined,
		roleId: string | undefined,
	) => string | undefined,
): GuildDocument {
	const withIcon = <T extends { icon?: string | undefined }>(
		{ icon: before, ...rest }: T,
		roleId?: string,
	) => {
		const icon = convert(before, roleId);
		return { ...rest, ...(icon !== undefined && { icon }) } as T;
	};
	const { settings, roles } = document;
	return {
		...document,
		...(settings && { settings: withIcon(settings) }),
		...(roles && { roles: roles.map((role) => withIcon(role, role.id ?? "")) }),
	};
}

/** Marks the icons of a guild that have no hash, because they were not loaded. */
export function markUnknownIcons(
	document: GuildDocument,
	{ guild }: Pick<GuildState, "guild">,
): GuildDocument {
	const ids = new Set(
		guild.roles.filter(({ icon }) => icon).map(({ id }) => id),
	);
	const isUnknown = (roleId: string | undefined) =>
		roleId === undefined ? guild.icon !== null : ids.has(roleId);
	if (!guild.icon && ids.size === 0) return document;
	return mapIcons(
		document,
		(icon, roleId) => icon ?? (isUnknown(roleId) ? unknownPicture : undefined),
	);
}

/** Leaves out the icons that `markUnknownIcons` has marked. */
export function withoutUnknownIcons(document: GuildDocument): GuildDocument {
	return mapIcons(document, (icon) =>
		icon === unknownPicture ? undefined : icon,
	);
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
	const hashes = all.filter(
		(one) => /^[0-9a-f]{32}$/.test(one ?? "") && one !== unknownPicture,
	);
	return [...new Set(hashes.map(String))];
}
