// Simulated guilds that are made from documents, and their state as Discord's API returns it.

import { expect } from "bun:test";
import { crc32, deflateSync } from "node:zlib";
import type { GuildDocument } from "../../src/guild-document/format/document.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
import type { GuildState, Step } from "../../src/guild-document/steps.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import type { Guild } from "../../src/simulator/world/state/entities.ts";
import { startSimulator } from "../support/simulator.ts";

/** Calls the simulated Discord as the owner of the guild. */
export async function request(
	simulator: Simulator,
	method: string,
	path: string,
	body?: unknown,
	reason?: string,
): Promise<unknown> {
	const response = await fetch(`${simulator.api}/v10${path}`, {
		method,
		headers: {
			authorization: "owner-token",
			"content-type": "application/json",
			...(reason && { "x-audit-log-reason": encodeURIComponent(reason) }),
		},
		...(body !== undefined && { body: JSON.stringify(body) }),
	});
	const text = await response.text();
	if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text} ${JSON.stringify(body)}`);
	return text === "" ? undefined : JSON.parse(text);
}

/** Pictures by their hashes, as a backup keeps them. */
export const pictures = new Map(
	Array.from({ length: 6 }, (_, shade) => {
		const bytes = png(shade * 40);
		return [hashOf(bytes), bytes] as const;
	}),
);

/** Returns a picture of one gray pixel. */
function png(shade: number): Uint8Array {
	const chunk = (type: string, data: Uint8Array) => {
		const body = Buffer.concat([Buffer.from(type), data]);
		const size = Buffer.alloc(4);
		size.writeUInt32BE(data.length);
		const check = Buffer.alloc(4);
		check.writeUInt32BE(crc32(body));
		return Buffer.concat([size, body, check]);
	};
	// 1 × 1 pixels of 8 bits, gray.
	const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
	return Buffer.concat([
		Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
		chunk("IHDR", header),
		chunk("IDAT", deflateSync(Buffer.from([0, shade]))),
		chunk("IEND", Buffer.alloc(0)),
	]);
}

function hashOf(bytes: Uint8Array): string {
	return new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 32);
}

/** Hashes of the pictures that the simulated CDN serves. */
async function hashesOf(
	{ cdn }: Simulator,
	{ id: guildId, icon, emojis, roles }: GuildState["guild"],
): Promise<Map<string, string>> {
	const paths = new Map<string, string>([
		...(icon ? [[icon, `icons/${guildId}/${icon}`] as const] : []),
		...emojis.map(({ id }) => [id ?? "", `emojis/${id}`] as const),
		...roles.flatMap(({ id, icon }) => (icon ? [[icon, `role-icons/${id}/${icon}`] as const] : [])),
	]);
	return new Map(
		await Promise.all(
			[...paths].map(async ([key, path]) => {
				const response = await fetch(`${cdn}/${path}.png`);
				return [key, hashOf(await response.bytes())] as const;
			}),
		),
	);
}

/** A community that never set a welcome screen has none, which is the same as an empty one. */
function emptyIfUnknown(error: Error) {
	if (!error.message.includes("10069")) throw error;
	return { description: null, welcome_channels: [] };
}

export async function stateOf(simulator: Simulator, { id, members }: Guild): Promise<GuildState> {
	const get = (path: string) => request(simulator, "GET", `/guilds/${id}${path}`);
	const guild = (await get("")) as GuildState["guild"];
	const isCommunity = guild.features.some((one) => one === "COMMUNITY");
	const ofCommunity = (path: string) => (isCommunity ? get(path) : undefined);
	return {
		guild,
		channels: (await get("/channels")) as GuildState["channels"],
		automod: (await get("/auto-moderation/rules")) as GuildState["automod"],
		events: (await get("/scheduled-events")) as GuildState["events"],
		webhooks: (await get("/webhooks")) as GuildState["webhooks"],
		welcomeScreen: (await ofCommunity("/welcome-screen")?.catch(emptyIfUnknown)) as GuildState["welcomeScreen"],
		onboarding: (await ofCommunity("/onboarding")) as GuildState["onboarding"],
		members: [...members.values()].map(({ user, roles }) => ({ id: user.id, roles: [...roles] })),
		bans: (await get("/bans")) as GuildState["bans"],
		pictures: await hashesOf(simulator, guild),
	};
}

/** Sends the request of a step, with its picture. */
export async function carryOut(simulator: Simulator, step: Step, ids: Map<string, string>): Promise<void> {
	const { method, path, body, picture, reason } = step.request(ids);
	const bytes = pictures.get(picture?.hash ?? "") ?? new Uint8Array();
	const image = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
	const made = (await request(
		simulator,
		method,
		path,
		picture ? { ...(body as object), [picture.field]: image } : body,
		reason,
	)) as { id: string };
	if (step.placeholder) ids.set(step.placeholder, made.id);
}

/**
 * Carries out all steps, and what differs after that. Returns how many rounds changed something, at most five.
 */
export async function build(
	simulator: Simulator,
	guild: Guild,
	document: GuildDocument,
	prune = true,
): Promise<number> {
	const ids = new Map<string, string>();
	const left = async () => difference(document, await stateOf(simulator, guild), { prune, ids });
	for (let round = 0; round < 5; round++) {
		const { steps, refusals } = await left();
		expect(refusals).toEqual([]);
		if (steps.length === 0) return round;
		for (const step of steps) await carryOut(simulator, step, ids);
	}
	const { steps } = await left();
	throw new Error(`still different: ${steps.map(({ id, changes }) => `${id} ${JSON.stringify(changes)}`).join("; ")}`);
}

/** A document without ids. */
export function withoutIds(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutIds);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([field]) => field !== "id")
			.map(([field, one]) => [field, withoutIds(one)]),
	);
}

export const usernames = ["owner", "anna", "ben", "cleo", "dora"];

/** Starts a simulator with two guilds that have the same members. */
export function startGuilds() {
	return startSimulator({
		seed: {
			bots: [],
			users: usernames.map((username) => ({ username, token: `${username}-token` })),
			guilds: ["First", "Second"].map((name) => ({
				name,
				owner: "owner",
				members: usernames.slice(1, 3).map((username) => ({ username })),
			})),
		},
	});
}
