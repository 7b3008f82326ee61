// Images in request bodies, as data URIs.
// https://discord.com/developers/docs/reference#image-data

import { type Picture, recognizePicture } from "../world/guilds/pictures.ts";
import { formError } from "./errors.ts";
import { refine, text } from "./fields/fields.ts";

// A character of base64 has 6 bits; the rest is for "data:image/…;base64,".
const maxLength = (maxBytes: number) => Math.ceil(maxBytes * 2);

/** A request field with an image of at most `maxBytes` bytes as a data URI. */
export function image(maxBytes: number) {
	return refine(text(0, maxLength(maxBytes)), (uri) => readImage(uri, maxBytes));
}

function readImage(uri: string, maxBytes: number): Picture {
	// The declared type does not matter: discord.js calls every image a JPEG.
	const [, data = ""] = /^data:image\/\w+;base64,([A-Za-z0-9+/]+={0,2})$/.exec(uri) ?? [];
	const bytes = Buffer.from(data, "base64");
	if (bytes.length > maxBytes)
		throw formError("BINARY_TYPE_MAX_SIZE", `File cannot be larger than ${maxBytes / 1024}.0 kb.`);
	const picture = recognizePicture(bytes);
	if (picture) return picture;
	throw formError("IMAGE_INVALID", "Invalid image data");
}
