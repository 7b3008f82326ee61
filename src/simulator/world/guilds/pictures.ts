// The pictures of custom emoji, guilds and roles, by their paths on Discord's CDN.
// https://discord.com/developers/docs/reference#image-formatting-cdn-endpoints

import { pictureType } from "../../../guild-document/read/picture.ts";

export interface Picture {
	format: string;
	/** Whether the picture is stored in an animated format, such as GIF. */
	animated: boolean;
	bytes: Uint8Array;
}

export function recognizePicture(bytes: Uint8Array): Picture | undefined {
	const type = pictureType(bytes);
	if (!type) return undefined;
	const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
	// Its flags: https://developers.google.com/speed/webp/docs/riff_container#extended_file_format
	const isAnimatedWebp = start.startsWith("VP8X", 12) && ((bytes[20] ?? 0) & 2) !== 0;
	// The brand of image sequences.
	const isSequence = start.startsWith("ftypavis", 4);
	const animated = type === "image/gif" || (type === "image/webp" && isAnimatedWebp) || isSequence;
	return { format: type.replace("image/", ""), animated, bytes };
}

/** By paths such as "emojis/123", without a file extension. */
export class Pictures extends Map<string, Picture> {
	/** Returns its hash, with "a_" if animated. A guess (icon-hash): equal icons have the same hash. */
	addIcon(
		kind: "icons" | "role-icons",
		ownerId: string,
		picture: Picture,
		{ animated = picture.animated } = {},
	): string {
		const hash = new Bun.CryptoHasher("md5").update(picture.bytes).digest("hex");
		const name = animated ? `a_${hash}` : hash;
		this.set(`${kind}/${ownerId}/${name}`, { ...picture, animated });
		return name;
	}
}

const pixel = {
	png: Buffer.from(
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
		"base64",
	),
	gif: Buffer.from(
		"R0lGODlhAQABAIAAAP///wAAACH5BAAyAAAALAAAAAABAAEAAAICRAEAIfkEADIAAAAsAAAAAAEAAQAAAgJMAQA7",
		"base64",
	),
};

/** A pixel, as a PNG or an animated GIF, and then bytes that depend only on `seed` and that are not shown. */
export function drawPicture(seed: string, animated: boolean): Picture {
	const format = animated ? "gif" : "png";
	const hash = new Bun.CryptoHasher("sha256").update(seed).digest();
	return { format, animated, bytes: Buffer.concat([pixel[format], hash]) };
}
