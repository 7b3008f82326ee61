// Discord's CDN: the pictures of emoji, guilds and roles, without authorization.
// https://discord.com/developers/docs/reference#image-formatting
//
// A gap: The `size` of a picture has no effect, and animations stay in the format of their upload.

import type { Picture, Pictures } from "../world/guilds/pictures.ts";

const formats = { png: "png", jpg: "jpeg", jpeg: "jpeg", webp: "webp", gif: "gif" } as const;

type Format = (typeof formats)[keyof typeof formats];

/** Unknown paths and pictures get 404. A format to which Discord does not convert a picture gets 415. */
export async function servePicture(pictures: Pictures, { pathname, searchParams }: URL): Promise<Response> {
	const [, path = "", extension = ""] = /^\/((?:emojis|icons\/\d+|role-icons\/\d+)\/\w+)\.(\w+)$/.exec(pathname) ?? [];
	const picture = pictures.get(path);
	if (!picture) return refusal(404, "There is nothing here.");
	const format = Object.hasOwn(formats, extension) ? formats[extension as keyof typeof formats] : undefined;
	const isRoleIcon = path.startsWith("role-icons/");
	// https://docs.discord.food/resources/emoji#emoji-formats
	const isOnlyWebp = picture.format === "avif";
	// Only of animated pictures that were not uploaded as WebP: https://github.com/discord/discord-api-docs/issues/7567
	const hasGif = picture.animated && picture.format === "gif" && !isRoleIcon;
	if (!format || (format === "gif" && !hasGif) || (format !== "webp" && isOnlyWebp))
		return refusal(415, "Unsupported Media Type");
	const animated = format === "gif" || searchParams.get("animated") === "true";
	const served = await convert(picture, format, animated);
	return new Response(Buffer.from(served.bytes), { headers: { "content-type": `image/${served.format}` } });
}

function refusal(status: number, text: string): Response {
	return new Response(`${text}\n`, { status });
}

/** A still picture is the first frame. Animations, and what Bun cannot decode such as AVIF, keep their format. */
async function convert(picture: Picture, format: Format, animated: boolean) {
	const isStill = picture.format !== "gif" && !picture.animated;
	if (animated && picture.animated) return picture;
	if (isStill && picture.format === format) return picture;
	const still = new Bun.Image(Buffer.from(picture.bytes));
	try {
		if (format === "png") return { format, bytes: await still.png().bytes() };
		if (format === "jpeg") return { format, bytes: await still.jpeg().bytes() };
		return { format: "webp", bytes: await still.webp({ lossless: true }).bytes() };
	} catch {
		return picture;
	}
}
