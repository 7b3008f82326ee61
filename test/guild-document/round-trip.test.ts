// A guild made from a document has an export that is equal to it, but for ids.

import { expect, test } from "bun:test";
import { crc32, deflateSync } from "node:zlib";
import { difference } from "../../src/guild-document/difference.ts";
import {
	type GuildDocument,
	parseDocument,
	readDocument,
	toYaml,
} from "../../src/guild-document/document.ts";
import { exportDocument } from "../../src/guild-document/export.ts";
import type { GuildState, Step } from "../../src/guild-document/steps.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import type { Guild } from "../../src/simulator/world/state/entities.ts";
import { type Random, seeded } from "../support/random.ts";
import { randomGuild } from "../support/random-guild.ts";
import { startSimulator } from "../support/simulator.ts";

/** Calls the simulated Discord as the owner of the guild. */
async function request(
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
	if (!response.ok)
		throw new Error(
			`${method} ${path}: ${response.status} ${text} ${JSON.stringify(body)}`,
		);
	return text === "" ? undefined : JSON.parse(text);
}

/** Pictures by their hashes, as a backup keeps them. */
const pictures = new Map(
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
	return new Bun.CryptoHasher("sha256")
		.update(bytes)
		.digest("hex")
		.slice(0, 32);
}

/** Hashes of the pictures that the simulated CDN serves. */
async function hashesOf(
	{ cdn }: Simulator,
	{ id: guildId, icon, emojis, roles }: GuildState["guild"],
): Promise<Map<string, string>> {
	const paths = new Map<string, string>([
		...(icon ? [[icon, `icons/${guildId}/${icon}`] as const] : []),
		...emojis.map(({ id }) => [id ?? "", `emojis/${id}`] as const),
		...roles.flatMap(({ id, icon }) =>
			icon ? [[icon, `role-icons/${id}/${icon}`] as const] : [],
		),
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

async function stateOf(
	simulator: Simulator,
	{ id, members }: Guild,
): Promise<GuildState> {
	const get = (path: string) =>
		request(simulator, "GET", `/guilds/${id}${path}`);
	const guild = (await get("")) as GuildState["guild"];
	const isCommunity = guild.features.some((one) => one === "COMMUNITY");
	const ofCommunity = (path: string) => (isCommunity ? get(path) : undefined);
	return {
		guild,
		channels: (await get("/channels")) as GuildState["channels"],
		automod: (await get("/auto-moderation/rules")) as GuildState["automod"],
		events: (await get("/scheduled-events")) as GuildState["events"],
		webhooks: (await get("/webhooks")) as GuildState["webhooks"],
		welcomeScreen: (await ofCommunity(
			"/welcome-screen",
		)) as GuildState["welcomeScreen"],
		onboarding: (await ofCommunity("/onboarding")) as GuildState["onboarding"],
		members: [...members.values()].map(({ user, roles }) => ({
			id: user.id,
			roles: [...roles],
		})),
		bans: (await get("/bans")) as GuildState["bans"],
		pictures: await hashesOf(simulator, guild),
	};
}

/** Sends the request of a step, with its picture. */
async function carryOut(
	simulator: Simulator,
	step: Step,
	ids: Map<string, string>,
): Promise<void> {
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
async function build(
	simulator: Simulator,
	guild: Guild,
	document: GuildDocument,
): Promise<number> {
	const ids = new Map<string, string>();
	const left = async () =>
		difference(document, await stateOf(simulator, guild), {
			prune: true,
			ids,
		});
	for (let round = 0; round < 5; round++) {
		const { steps, refusals } = await left();
		expect(refusals).toEqual([]);
		if (steps.length === 0) return round;
		for (const step of steps) await carryOut(simulator, step, ids);
	}
	const { steps } = await left();
	throw new Error(
		`still different: ${steps.map(({ id, changes }) => `${id} ${JSON.stringify(changes)}`).join("; ")}`,
	);
}

/** A document without ids. */
function withoutIds(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutIds);
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([field]) => field !== "id")
			.map(([field, one]) => [field, withoutIds(one)]),
	);
}

const usernames = ["owner", "anna", "ben", "cleo", "dora"];

/** Starts a simulator with two guilds that have the same members. */
function startGuilds() {
	return startSimulator({
		seed: {
			bots: [],
			users: usernames.map((username) => ({
				username,
				token: `${username}-token`,
			})),
			guilds: ["First", "Second"].map((name) => ({
				name,
				owner: "owner",
				members: usernames.slice(1, 3).map((username) => ({ username })),
			})),
		},
	});
}

/** Adds to a random document what refers to members, and what only communities and boosted guilds have. */
function withMore(
	random: Random,
	document: GuildDocument,
	simulator: Simulator,
): GuildDocument {
	const userId = (name: string) => simulator.user(name).id;
	const [emoji] = document.emojis ?? [];
	const key = emoji && `:${emoji.key ?? emoji.name}:`;
	const roleKeys = document.roles?.map(({ key, name }) => key ?? name) ?? [];
	const shown = Array.from({ length: 8 }, (_, index) => `shown-${index}`);
	const isCommunity = document.settings?.community ?? false;
	const [hash = ""] = pictures.keys();
	return readDocument({
		...document,
		settings: { ...document.settings, icon: hash },
		roles: document.roles?.map((role, index) =>
			index === 0 ? { ...role, icon: hash } : role,
		),
		channels: [
			...shown.map((name) => ({ name, overwrites: [] })),
			...(document.channels ?? []),
		],
		members: usernames.slice(1, 3).map((name) => ({
			id: userId(name),
			roles: [random.pick(roleKeys)],
		})),
		bans: [
			{ id: userId("cleo"), reason: "Spam: größer als ×" },
			{ id: userId("dora") },
		],
		...(isCommunity && {
			welcome_screen: {
				enabled: true,
				description: "Hello",
				channels: [
					{ channel: "shown-0", description: "Rules", emoji: "👍" },
					{
						channel: "shown-1",
						description: "News",
						...(key && { emoji: key }),
					},
				],
			},
			onboarding: {
				enabled: true,
				mode: random.pick(["default", "advanced"]),
				default_channels: shown,
				prompts: [
					{
						title: "What do you like?",
						kind: "dropdown",
						required: true,
						options: [
							{ title: "Roles", roles: [random.pick(roleKeys)] },
							{
								title: "Channels",
								description: "Some",
								channels: ["shown-2"],
								...(key && { emoji: key }),
							},
						],
					},
				],
			},
		}),
		everyone: ["VIEW_CHANNEL", "SEND_MESSAGES"],
	});
}

/** Makes the first guild like the document, and the second like the export of the first. */
async function roundTrip(
	simulator: Simulator,
	document: GuildDocument,
): Promise<GuildDocument> {
	const guilds = ["First", "Second"].map((name) => simulator.guild(name));
	const [first, second] = guilds as [Guild, Guild];
	// Role icons need boosts.
	for (const guild of guilds) {
		guild.premium_tier = 2;
		guild.features = [...guild.features, "ROLE_ICONS"];
	}
	expect(await build(simulator, first, document)).toBeLessThanOrEqual(3);
	const exported = exportDocument(await stateOf(simulator, first));
	expect(exportDocument(await stateOf(simulator, first))).toEqual(exported);
	expect(parseDocument(toYaml(exported))).toEqual(exported);
	expect(parseDocument(JSON.stringify(exported))).toEqual(exported);
	await build(simulator, second, exported);
	const again = exportDocument(await stateOf(simulator, second));
	expect(withoutIds(again)).toEqual(withoutIds(exported));
	expect(JSON.stringify(withoutIds(again))).toBe(
		JSON.stringify(withoutIds(exported)),
	);
	return exported;
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
	"random guild %d is made, exported and made again",
	async (seed) => {
		const random = seeded(seed);
		await using simulator = await startGuilds();
		const document = randomGuild(random, {
			roles: 10 + random.below(20),
			channels: 20 + random.below(40),
			memberIds: [simulator.guild("First").owner_id],
			community: random.chance(0.5),
			pictures: random.chance(0.7) ? [...pictures.keys()] : [],
		});
		await roundTrip(simulator, withMore(random, document, simulator));
	},
);

test("a guild of 200 channels and 100 roles is made, exported and made again", async () => {
	await using simulator = await startGuilds();
	const document = randomGuild(seeded(100), {
		roles: 100,
		channels: 190,
		memberIds: [simulator.guild("First").owner_id],
		community: true,
		pictures: [...pictures.keys()],
	});
	const exported = await roundTrip(
		simulator,
		withMore(seeded(100), document, simulator),
	);
	const inside = exported.categories?.flatMap(({ channels = [] }) => channels);
	const all = [exported.channels, exported.categories, inside];
	expect(all.flat().length).toBeGreaterThan(190);
	const [hash = ""] = pictures.keys();
	expect(exported.roles).toHaveLength(100);
	expect(exported.roles?.[0]?.icon).toBe(hash);
	expect(exported.settings?.icon).toBe(hash);
	expect(exported.emojis?.map(({ picture }) => picture).sort()).toEqual(
		[...pictures.keys()].sort(),
	);
	expect(exported.welcome_screen?.channels).toHaveLength(2);
	expect(exported.onboarding?.enabled).toBe(true);
	expect(exported.onboarding?.default_channels).toHaveLength(8);
	expect(exported.members).toHaveLength(2);
	expect(exported.bans).toContainEqual({
		id: simulator.user("cleo").id,
		reason: "Spam: größer als ×",
	});
});
