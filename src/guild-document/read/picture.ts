// Pictures of emoji and icons as documents refer to them: by the start of their SHA-256.

import { basename, dirname, join } from "node:path";
import type { GuildDocument } from "../format/document.ts";
import type { GuildState } from "../steps.ts";

/**
 * Maximum size in bytes of the picture of an emoji or icon. Discord accepts emoji of up to 256 KiB, and larger icons.
 */
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

/**
 * Recognizes the media type of an image by its first bytes. Returns undefined if Discord does not accept the format.
 */
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
 * Returns why an image cannot be used for `hash`: it is too large, has another hash, or has an unsupported format.
 * Returns undefined if it can be used.
 */
export function pictureIssue(bytes: Uint8Array, hash: string): string | undefined {
	if (bytes.length > maxPictureBytes) return `it is larger than ${maxPictureBytes / 1024 / 1024} MiB`;
	if (pictureHash(bytes) !== hash) return "its content has another hash: the file was changed or renamed";
	if (!pictureType(bytes)) return "it is no PNG, JPEG, GIF, WebP or AVIF";
	return undefined;
}

/** Returns the directory with the pictures of a guild document: "guild.pictures" beside the file "guild.yaml". */
export function picturesDirectoryOf(file: string): string {
	const name = basename(file).replace(/\.(ya?ml|json)$/i, "");
	return join(dirname(file), `${name}.pictures`);
}

/**
 * The hash that an export has for an icon that was not downloaded. Such an icon is never compared. If the export lacked
 * the hash, applying it would delete the icon, because a missing field means its default value.
 */
export const unknownPicture = "0".repeat(32);

function mapIcons(
	document: GuildDocument,
	convert: (icon: string | undefined, roleId: string | undefined) => string | undefined,
): GuildDocument {
	const withIcon = <T extends { icon?: string | undefined }>({ icon: before, ...rest }: T, roleId?: string) => {
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

/**
 * Returns a copy of a guild document in which icons that the guild has, but that were not downloaded, are
 * `unknownPicture`.
 */
export function markUnknownIcons(document: GuildDocument, { guild }: Pick<GuildState, "guild">): GuildDocument {
	const ids = new Set(guild.roles.filter(({ icon }) => icon).map(({ id }) => id));
	const isUnknown = (roleId: string | undefined) => (roleId === undefined ? guild.icon !== null : ids.has(roleId));
	if (!guild.icon && ids.size === 0) return document;
	return mapIcons(document, (icon, roleId) => icon ?? (isUnknown(roleId) ? unknownPicture : undefined));
}

/** Returns a copy of a guild document without the icons that `markUnknownIcons` has set to `unknownPicture`. */
export function withoutUnknownIcons(document: GuildDocument): GuildDocument {
	return mapIcons(document, (icon) => (icon === unknownPicture ? undefined : icon));
}

/** Returns the hashes of the icons and emoji pictures in a guild document, each once. */
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
