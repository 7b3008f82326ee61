// Arguments in base64: images, whose type is detected from the first bytes, whatever type a data URI declares.
// https://discord.com/developers/docs/reference#image-data

import * as v from "valibot";

/** Undefined if invalid. */
export function readBase64(text: string): Buffer | undefined {
	return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, "base64") : undefined;
}

// First bytes in base64.
const signatures = {
	png: "iVBORw0KGg[o-r]",
	jpeg: "/9j/",
	gif: "R0lGOD[dl]h",
	webp: "UklGR[A-Za-z0-9+/]{7}RUJQ",
	avif: "AAAA..Z0eXBhdml[mz]",
};

const dataUriPrefix = "data:image/\\w+;base64,";
const anyImage = new RegExp(`^(?:${dataUriPrefix})?(?:${Object.values(signatures).join("|")})[A-Za-z0-9+/]*={0,2}$`);
const expected = "expected a PNG, JPEG, GIF, WebP or AVIF in base64 or as a data URI";

/** Base64 or a data URI. A request to the MCP gateway has at most 64 KiB, although Discord accepts 256 KiB. */
export const image = v.pipe(
	v.string(),
	v.regex(anyImage, expected),
	v.check((input) => readBase64(base64Of(input)) !== undefined, expected),
	v.transform((input) => {
		const base64 = base64Of(input);
		const [type] = Object.entries(signatures).find(([, one]) => new RegExp(`^${one}`).test(base64)) ?? [];
		return `data:image/${type};base64,${base64}`;
	}),
	v.description("PNG, JPEG, GIF, WebP or AVIF in base64, up to about 45 KB."),
);

function base64Of(input: string): string {
	return input.replace(new RegExp(`^${dataUriPrefix}`), "");
}
