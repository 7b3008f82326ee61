// The pictures of custom emoji, guilds and roles, by their paths on Discord's CDN.
// https://discord.com/developers/docs/reference#image-formatting-cdn-endpoints

import { deflateSync } from "node:zlib";

/** The image formats that Discord accepts. */
type PictureFormat = "png" | "jpeg" | "gif" | "webp" | "avif";

export interface Picture {
	format: PictureFormat;
	/** Whether the picture is stored in an animated format, such as GIF. */
	animated: boolean;
	bytes: Uint8Array;
}

/** Recognizes the format of an image by its first bytes. Returns undefined if Discord does not accept the format. */
export function recognizePicture(bytes: Uint8Array): Picture | undefined {
	const start = Buffer.from(bytes.subarray(0, 21)).toString("latin1");
	const picture = (format: PictureFormat, animated = false) => ({ format, animated, bytes });
	if (start.startsWith("\x89PNG\r\n\x1a\n")) return picture("png");
	if (start.startsWith("\xff\xd8\xff")) return picture("jpeg");
	if (/^GIF8[79]a/.test(start)) return picture("gif", true);
	// Its flags: https://developers.google.com/speed/webp/docs/riff_container#extended_file_format
	const isExtended = start.startsWith("VP8X", 12);
	if (start.startsWith("RIFF") && start.startsWith("WEBP", 8))
		return picture("webp", isExtended && ((bytes[20] ?? 0) & 2) !== 0);
	if (start.startsWith("ftypavif", 4)) return picture("avif");
	// The brand of image sequences.
	if (start.startsWith("ftypavis", 4)) return picture("avif", true);
	return undefined;
}

export class Pictures {
	readonly #all = new Map<string, Picture>();

	/** Returns the picture at a path such as "emojis/123", without a file extension. */
	get(path: string): Picture | undefined {
		return this.#all.get(path);
	}

	/** Stores the picture of an emoji. If `picture` is undefined, draws a small picture that depends only on the id. */
	addEmoji(id: string, animated: boolean, picture?: Picture): void {
		this.#all.set(`emojis/${id}`, picture ?? drawPicture(id, animated));
	}

	removeEmoji(id: string): void {
		this.#all.delete(`emojis/${id}`);
	}

	/**
	 * Stores the icon of a guild or role and returns its hash. The hash of an animated icon starts with "a_".
	 * A guess (icon-hash): equal icons have the same hash.
	 */
	addIcon(
		kind: "icons" | "role-icons",
		ownerId: string,
		picture: Picture,
		{ animated = picture.animated } = {},
	): string {
		const hash = new Bun.CryptoHasher("md5").update(picture.bytes).digest("hex");
		const name = animated ? `a_${hash}` : hash;
		this.#all.set(`${kind}/${ownerId}/${name}`, { ...picture, animated });
		return name;
	}

	/** Removes the former icon of a guild or role. A guess (cdn-deleted): Discord's CDN no longer serves such an icon. */
	removeIcon(kind: "icons" | "role-icons", ownerId: string, hash: string | null): void {
		this.#all.delete(`${kind}/${ownerId}/${hash}`);
	}
}

/** Draws a picture that depends only on `seed`: a PNG of 16 × 16 pixels, or a GIF with two frames of one pixel. */
export function drawPicture(seed: string, animated: boolean): Picture {
	const random = new Bun.CryptoHasher("sha256").update(seed).digest();
	const colors = random.subarray(0, 6);
	const bytes = animated ? gif(colors) : png(colors, random);
	return { format: animated ? "gif" : "png", animated, bytes };
}

const frame = (data: number) =>
	Buffer.from([...[0x21, 0xf9, 4, 0, 50, 0, 0, 0], ...[0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0], ...[2, 2, data, 1, 0]]);

function gif(colors: Uint8Array): Uint8Array {
	return Buffer.concat([
		Buffer.from("GIF89a"),
		Buffer.from([1, 0, 1, 0, 0x80, 0, 0]),
		colors,
		frame(0x44),
		frame(0x4c),
		Buffer.from([0x3b]),
	]);
}

function png(colors: Uint8Array, pixels: Uint8Array): Uint8Array {
	const lines = Array.from({ length: 16 }, (_, line) =>
		Buffer.concat([Buffer.from([0]), pixels.subarray(2 * line, 2 * line + 2)]),
	);
	return Buffer.concat([
		Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
		chunk("IHDR", Buffer.from([0, 0, 0, 16, 0, 0, 0, 16, 1, 3, 0, 0, 0])),
		chunk("PLTE", colors),
		chunk("IDAT", deflateSync(Buffer.concat(lines), { level: 0 })),
		chunk("IEND", Buffer.alloc(0)),
	]);
}

function chunk(type: string, data: Uint8Array): Buffer {
	const named = Buffer.concat([Buffer.from(type), data]);
	const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
	length.writeUInt32BE(data.length);
	checksum.writeUInt32BE(Bun.hash.crc32(named));
	return Buffer.concat([length, named, checksum]);
}
