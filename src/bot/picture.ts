// Pictures as tools take them: what they are is seen from their first bytes, whatever they are called.
// https://discord.com/developers/docs/reference#image-data

import * as v from "valibot";
import { readBase64 } from "./base64.ts";

/** A picture as a data URI or in base64; `what` says what it is for. Discord takes up to 256 KiB, a request to a bot less. */
export function picture(what: string) {
	return v.pipe(
		v.string(),
		v.check(
			(input) => dataUri(input) !== undefined,
			"expected a PNG, JPEG, GIF, WebP or AVIF in base64, by itself or as a data URI",
		),
		v.transform((input) => dataUri(input) ?? ""),
		v.description(
			`${what}: PNG, JPEG, GIF, WebP or AVIF in base64 or as a data URI, up to about 45 KB.`,
		),
	);
}

/** The picture as Discord takes it; undefined for what is none. */
function dataUri(text: string): string | undefined {
	const base64 = text.trim().replace(/^data:image\/\w+;base64,/, "");
	const kind = kindOf(readBase64(base64));
	return kind && `data:image/${kind};base64,${base64}`;
}

function kindOf(bytes: Uint8Array | undefined): string | undefined {
	const start = Buffer.from(bytes ?? []).toString("latin1", 0, 12);
	if (start.startsWith("\x89PNG\r\n\x1a\n")) return "png";
	if (start.startsWith("\xff\xd8\xff")) return "jpeg";
	if (/^GIF8[79]a/.test(start)) return "gif";
	if (start.startsWith("RIFF") && start.endsWith("WEBP")) return "webp";
	return /ftypavi[fs]$/.test(start) ? "avif" : undefined;
}
