// Pictures as tools take them: what they are is seen from how they begin, whatever they are called.
// https://discord.com/developers/docs/reference#image-data

import * as v from "valibot";
import { readBase64 } from "./base64.ts";

/** How each kind of picture that Discord takes begins, in base64. */
const beginnings = {
	png: "iVBORw0KGg[o-r]",
	jpeg: "/9j/",
	gif: "R0lGOD[dl]h",
	webp: "UklGR[A-Za-z0-9+/]{7}RUJQ",
	avif: "AAAA..Z0eXBhdml[mz]",
};

const declared = "data:image/\\w+;base64,";
const anyPicture = new RegExp(
	`^(?:${declared})?(?:${Object.values(beginnings).join("|")})[A-Za-z0-9+/]*={0,2}$`,
);
const expected =
	"expected a PNG, JPEG, GIF, WebP or AVIF in base64, by itself or as a data URI";

/** A picture in base64 or as a data URI. Discord takes up to 256 KiB, but a request to a gateway has 64 KiB in all. */
export const picture = v.pipe(
	v.string(),
	v.regex(anyPicture, expected),
	v.check((input) => readBase64(withoutKind(input)) !== undefined, expected),
	v.transform((input) => {
		const data = withoutKind(input);
		return `data:image/${kindOf(data)};base64,${data}`;
	}),
	v.description("PNG, JPEG, GIF, WebP or AVIF in base64, up to about 45 KB."),
);

function withoutKind(text: string): string {
	return text.replace(new RegExp(`^${declared}`), "");
}

function kindOf(base64: string): string | undefined {
	return Object.entries(beginnings).find(([, beginning]) =>
		new RegExp(`^${beginning}`).test(base64),
	)?.[0];
}
