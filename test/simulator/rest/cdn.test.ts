// The CDN: pictures of emoji, guilds and roles, and their formats.

import { expect } from "bun:test";
import { AuditLogEvent } from "discord.js";
import { connect, testWith } from "../support.ts";

const bytes = (base64: string) => Buffer.from(base64, "base64");
/** Images of one pixel. */
const png = bytes("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==");
const gif = bytes("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7");
const webp = bytes("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==");
/** The start of an animated WebP picture. */
const animatedWebp = Buffer.concat([Buffer.from("RIFFxxxxWEBPVP8X"), Buffer.from([10, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0])]);

const dataUri = (data: Buffer) => `data:image/png;base64,${data.toString("base64")}`;

const test = testWith(({ guild, alpha, simulator }) => ({
	path: `/guilds/${guild.id}`,
	/** Uploads an emoji and returns its id. */
	upload: async (image: Buffer) => {
		const body = { name: "soup", image: dataUri(image) };
		const answer = await alpha("POST", `/guilds/${guild.id}/emojis`, body);
		return answer.json<{ id: string }>().id;
	},
	/** Requests a picture without a token. Returns the status, or the media type and the bytes. */
	get: async (path: string) => {
		const response = await fetch(`${simulator.cdn}/${path}`);
		if (!response.ok) return response.status;
		return { type: response.headers.get("content-type"), bytes: Buffer.from(await response.arrayBuffer()) };
	},
}));

test("the CDN has an uploaded emoji until it is deleted", async ({ alpha, path, upload, get }) => {
	const id = await upload(png);
	const still = { type: "image/png", bytes: png };
	expect(await get(`emojis/${id}.png`)).toEqual(still);
	expect(await get(`emojis/${id}.png?size=128`)).toEqual(still);
	expect(await get(`emojis/${id}.webp`)).toMatchObject({ type: "image/webp" });
	expect(await get(`emojis/${id}.jpg`)).toMatchObject({ type: "image/jpeg" });
	expect(await get(`emojis/${id}.gif`)).toBe(415);
	expect(await get(`emojis/${id}.bmp`)).toBe(415);
	expect(await get(`emojis/${id}.constructor`)).toBe(415);
	expect(await get(`emojis/${id}`)).toBe(404);
	expect(await get("emojis/100000000000000000.png")).toBe(404);
	expect((await alpha("DELETE", `${path}/emojis/${id}`)).status).toBe(204);
	expect(await get(`emojis/${id}.png`)).toBe(404);
});

test("a still WebP emoji is converted to PNG", async ({ upload, get }) => {
	const id = await upload(webp);
	const converted = await get(`emojis/${id}.png`);
	expect(converted).toMatchObject({ type: "image/png" });
	expect(await get(`emojis/${id}.webp`)).toEqual({ type: "image/webp", bytes: webp });
});

test("an AVIF emoji is served only as WebP", async ({ upload, get }) => {
	const id = await upload(Buffer.from("....ftypavif...."));
	expect(await get(`emojis/${id}.png`)).toBe(415);
	// Bun cannot convert it.
	expect(await get(`emojis/${id}.webp`)).toMatchObject({ type: "image/avif" });
});

test("an animated emoji is still unless the request asks for the animation", async ({ guild, upload, get }) => {
	const fromGif = await upload(gif);
	expect(guild.emojis.get(fromGif)?.animated).toBe(true);
	const moving = { type: "image/gif", bytes: gif };
	expect(await get(`emojis/${fromGif}.gif`)).toEqual(moving);
	expect(await get(`emojis/${fromGif}.webp?animated=true`)).toEqual(moving);
	for (const format of ["webp", "png"])
		expect(await get(`emojis/${fromGif}.${format}`)).toMatchObject({ type: `image/${format}` });

	const fromWebp = await upload(animatedWebp);
	expect(guild.emojis.get(fromWebp)?.animated).toBe(true);
	expect(await get(`emojis/${fromWebp}.gif`)).toBe(415);
	expect(await get(`emojis/${fromWebp}.webp?animated=true`)).toEqual({ type: "image/webp", bytes: animatedWebp });
});

test("an emoji without a picture gets one that depends on its id alone", async ({ guild, user, world, get }) => {
	const add = (animated: boolean) => world.emojis.add(guild, user("ada"), { name: "soup", animated }).id;
	for (const [id, file, type] of [
		[add(false), "png", "image/png"],
		[add(true), "gif", "image/gif"],
	] as const) {
		const first = await get(`emojis/${id}.${file}`);
		expect(first).toMatchObject({ type });
		expect(await get(`emojis/${id}.${file}`)).toEqual(first);
		// It is a valid image.
		const still = await get(`emojis/${id}.webp`);
		expect(still).toMatchObject({ type: "image/webp" });
	}
	const [one, other] = [add(false), add(false)];
	expect(await get(`emojis/${one}.png`)).not.toEqual(await get(`emojis/${other}.png`));
});

test("discord.js sets, shows and removes a guild's icon", async ({ guild, simulator, get }) => {
	await using bot = await connect(simulator);
	const found = bot.client.guilds.cache.get(guild.id);
	await found?.setIcon(png, "a new look");
	const hash = guild.icon;
	expect(hash).toMatch(/^[0-9a-f]{32}$/);
	expect(await bot.event("GUILD_UPDATE")).toMatchObject({ icon: hash });
	expect(guild.auditLog.at(-1)).toMatchObject({
		action_type: AuditLogEvent.GuildUpdate,
		reason: "a new look",
		changes: [{ key: "icon_hash", new_value: hash }],
	});
	const url = `icons/${guild.id}/${hash}`;
	expect(await get(`${url}.png?size=1024`)).toEqual({ type: "image/png", bytes: png });
	expect(await get(`${url}.gif`)).toBe(415);
	// The same picture again keeps its hash.
	await found?.setIcon(png);
	expect(guild.icon).toBe(hash);
	await found?.setIcon(webp);
	expect(await get(`${url}.png`)).toBe(404);
	await found?.setIcon(null);
	expect(guild.icon).toBeNull();
});

test("an icon is animated only with ANIMATED_ICON", async ({ guild, alpha, path, world, get }) => {
	const set = () => alpha("PATCH", path, { icon: dataUri(gif) });
	expect((await set()).status).toBe(200);
	expect(guild.icon).not.toStartWith("a_");
	const still = `icons/${guild.id}/${guild.icon}`;
	expect(await get(`${still}.gif`)).toBe(415);
	expect(await get(`${still}.png`)).toMatchObject({ type: "image/png" });
	world.guilds.edit(guild, { features: ["ANIMATED_ICON"] });
	await set();
	expect(guild.icon).toStartWith("a_");
	expect(await get(`icons/${guild.id}/${guild.icon}.gif`)).toEqual({ type: "image/gif", bytes: gif });
});

test("an icon that is no image or too large is refused", async ({ guild, alpha, path }) => {
	const large = Buffer.concat([png, Buffer.alloc(10 * 1024 * 1024)]);
	for (const [icon, fault] of [
		["data:image/png;base64,AAAA", "IMAGE_INVALID"],
		["https://example.com/icon.png", "IMAGE_INVALID"],
		[dataUri(large), "BINARY_TYPE_MAX_SIZE"],
		[1, "STRING_TYPE_CONVERT"],
	] as const)
		expect((await alpha("PATCH", path, { icon })).faults).toEqual({ icon: fault });
	expect(guild.icon).toBeNull();
});

test("the CDN has the icon of a role until the role is deleted", async ({ guild, alpha, path, world, role, get }) => {
	world.guilds.edit(guild, { features: ["ROLE_ICONS"] });
	const { id } = role("Regular");
	const body = { icon: dataUri(png) };
	const { icon } = (await alpha("PATCH", `${path}/roles/${id}`, body)).json<{ icon: string }>();
	const url = `role-icons/${id}/${icon}.png`;
	expect(await get(url)).toEqual({ type: "image/png", bytes: png });
	await alpha("DELETE", `${path}/roles/${id}`);
	expect(await get(url)).toBe(404);
});
