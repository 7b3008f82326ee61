// The simulator with guilds that are made from documents.

import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GuildDocument, readDocument, toYaml } from "../../../src/guild-document/format/document.ts";
import { exportDocument } from "../../../src/guild-document/read/export.ts";
import { pictureHash } from "../../../src/guild-document/read/picture.ts";
import type { GuildState } from "../../../src/guild-document/steps.ts";
import { readWorlds } from "../../../src/simulator/documents/command-line.ts";
import { personNamed } from "../../../src/simulator/documents/people.ts";
import { readState } from "../../../src/simulator/documents/read-state.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { drawPicture } from "../../../src/simulator/world/guilds/pictures.ts";
import type { Guild } from "../../../src/simulator/world/state/entities.ts";
import { seeded } from "../../support/random.ts";
import { randomGuild } from "../../support/random-guild.ts";
import { startSimulator } from "../../support/simulator.ts";
import { as } from "../support.ts";

const readme = await Bun.file(join(import.meta.dir, "../../../src/simulator/README.md")).text();
const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];

/** Starts a simulator with the guilds of documents. */
function start(documents: readonly (GuildDocument | string)[], options: Parameters<typeof startSimulator>[0] = {}) {
	return startSimulator({
		...options,
		worlds: documents.map((one, index) => ({
			file: `${index + 1}.yaml`,
			document: typeof one === "string" ? readDocument(one) : one,
		})),
	});
}

/** A document with the required fields and these. */
const written = (given: Omit<GuildDocument, "version">) => readDocument({ version: 1, ...given });

/** The export of a guild, over the REST API. */
async function exportOf(simulator: Simulator, guild: Guild, given: Partial<GuildState> = {}): Promise<GuildDocument> {
	const call = as(simulator, simulator.user("ada"));
	const state = await readState(
		async (method, path) => {
			const answer = await call(method, path);
			return { status: answer.status, body: answer.json() };
		},
		guild,
		new Map(),
	);
	return exportDocument({ ...state, ...given });
}

function guildAt(simulator: Simulator, index = 0) {
	const found = simulator.documentGuilds[index];
	if (!found) throw new Error(`no guild ${index}`);
	return found;
}

const rolesOf = (guild: Guild) =>
	[...guild.roles.values()].sort((a, b) => b.position - a.position).map(({ name }) => name);

describe("the example in the README", () => {
	test("is the guild with which the simulator starts", async () => {
		await using simulator = await start([example]);
		const { guild, bot, notes, file } = guildAt(simulator);
		expect([file, notes]).toEqual(["1.yaml", []]);
		expect(guild.name).toBe("The Gardeners");
		expect([...simulator.world.guilds.values()]).toEqual([guild]);
		expect(rolesOf(guild)).toEqual(["Helper", "Mods", "Gardener", "@everyone"]);
		expect(bot.user.username).toBe("helper");
		expect(guild.members.get(bot.user.id)?.roles).toHaveLength(1);
		expect(guild.members.size).toBe(50);
		expect(guild.auditLog).toEqual([]);
		expect(simulator.journal.entries()).toEqual([]);
		expect(simulator.requests.list()).toEqual([]);
		const exported = await exportOf(simulator, guild);
		expect(exported.categories?.[0]?.channels).toMatchObject([
			{ name: "general", topic: "What grows today" },
			{ name: "questions", kind: "forum", tags: [{ emoji: ":sprout:" }, {}] },
			{ name: "Greenhouse", kind: "voice", bitrate: 128_000 },
		]);
		expect(exported.automod).toMatchObject([{ exempt_roles: ["Mods"] }]);
		// AutoMod rules of a document are on.
		expect(exported.automod?.[0]).not.toContainKey("enabled");
	});

	test("starts equal from YAML and from JSON, and its export with the same ids", async () => {
		await using first = await start([example]);
		const exported = await exportOf(first, guildAt(first).guild);
		for (const text of [toYaml(exported), JSON.stringify(exported)]) {
			await using second = await start([text]);
			expect(guildAt(second).notes).toEqual([]);
			expect(await exportOf(second, guildAt(second).guild)).toEqual(exported);
		}
	});
});

test("a guild with all parts is exported as the document from which it was made", async () => {
	const member = "223456789012345678";
	const banned = "323456789012345678";
	const document = readDocument(`${example}
webhooks: [{ name: Weather, channel: general }, { name: Weather, channel: mod-chat }]
welcome_screen:
  enabled: true
  description: Hello
  channels: [{ channel: rules, description: Read this, emoji: ":sprout:" }]
onboarding:
  default_channels: [rules, general]
  prompts:
    - title: What do you grow?
      options: [{ title: Roses, emoji: 🌹, roles: [Gardener] }, { title: Soil, channels: [questions] }]
members: [{ id: "${member}", roles: [Mods, Gardener] }]
bans: [{ id: "${banned}", reason: Weeds }]
`);
	const partsOf = async (simulator: Simulator) => {
		const { guild, notes } = guildAt(simulator);
		expect(notes).toEqual([]);
		const listed = guild.members.get(member);
		return exportOf(simulator, guild, {
			members: listed ? [{ id: member, roles: listed.roles }] : [],
			bans: [...guild.bans.values()],
		});
	};
	await using first = await start([document]);
	const exported = await partsOf(first);
	expect(exported).toMatchObject({
		webhooks: [{ channel: "general" }, { channel: "mod-chat" }],
		welcome_screen: { enabled: true, channels: [{ emoji: ":sprout:" }] },
		onboarding: { prompts: [{ options: [{ roles: ["Gardener"] }, {}] }] },
		members: [{ id: member, roles: ["Mods", "Gardener"] }],
		bans: [{ id: banned, reason: "Weeds" }],
	});
	await using second = await start([exported]);
	expect(await partsOf(second)).toEqual(exported);
});

test("each of several guilds has a bot, and the people are in all of them", async () => {
	await using simulator = await start([example, example, written({ settings: { name: "Bare" } }), written({})]);
	const guilds = simulator.documentGuilds;
	expect(guilds.map(({ guild }) => guild.name)).toEqual(["The Gardeners", "The Gardeners", "Bare", "4_"]);
	expect(guilds.map(({ bot }) => bot.user.username)).toEqual(["helper", "alpha", "beta", "gamma"]);
	for (const { guild, bot } of guilds) {
		expect(guild.owner_id).toBe(simulator.user("ada").id);
		expect(guild.members.has(simulator.user("zoe").id)).toBe(true);
		expect([...guild.members.values()].filter(({ user }) => user.bot)).toEqual([
			expect.objectContaining({ user: bot.user }),
		]);
	}
	const [, , bare] = guilds;
	expect(bare?.notes).toEqual([
		"The document has no role of a bot that may moderate. beta joined with a role above all others and all permissions.",
	]);
	expect(bare && rolesOf(bare.guild)).toEqual(["beta", "@everyone"]);
});

test("a second guild of the same document gets ids of its own", async () => {
	await using first = await start([example]);
	const exported = await exportOf(first, guildAt(first).guild);
	await using simulator = await start([exported, exported]);
	const [one, two] = simulator.documentGuilds;
	expect(one?.guild.id).toBe(exported.id ?? "");
	expect(two?.guild.id).not.toBe(exported.id ?? "");
	expect([one?.notes, two?.notes]).toEqual([[], []]);
	const ids = simulator.documentGuilds.flatMap(({ guild }) => [
		guild.id,
		...guild.channels.keys(),
		...[...guild.roles.keys()].filter((id) => id !== guild.id),
		...guild.emojis.keys(),
	]);
	expect(new Set(ids).size).toBe(ids.length);
});

describe("members", () => {
	const ids = ["223456789012345678", "223456789012345679"];
	const roles = [{ name: "High" }, { name: "Middle" }, { name: "Low" }];

	test("that the document lists have their ids and roles; the others no more than these", async () => {
		const members = [
			{ id: ids[0] ?? "", roles: ["High", "Low"] },
			{ id: ids[1] ?? "", roles: [] },
		];
		await using simulator = await start([written({ roles, members })]);
		const { guild, notes } = guildAt(simulator);
		expect(notes).toHaveLength(1);
		// Six people with tokens, and the bot.
		expect(guild.members.size).toBe(2 + 6 + 1);
		const named = (id = "") => (guild.members.get(id)?.roles ?? []).map((role) => guild.roles.get(role)?.name);
		expect(ids.map(named)).toEqual([["High", "Low"], []]);
		expect(["ada", "jose.garcia", "mona_lisa", "zoe", "liwei"].map((name) => named(simulator.user(name).id))).toEqual([
			[],
			["High"],
			["Middle"],
			["Low"],
			[],
		]);
	});

	test("are invented up to the wanted number, the same each time", async () => {
		const people = async () => {
			await using simulator = await start([written({ roles })], { worldOptions: { members: 1_000 } });
			const { guild } = guildAt(simulator);
			return Array.from(guild.members.values(), ({ user, roles }) =>
				[user.username, user.global_name, ...roles.map((id) => guild.roles.get(id)?.name)].join(),
			);
		};
		const first = await people();
		expect(first).toHaveLength(1_000);
		expect(new Set(first).size).toBe(1_000);
		expect(await people()).toEqual(first);
		const count = (role: string) => first.filter((one) => one.split(",").includes(role)).length;
		expect(count("Low")).toBeWithin(400, 600);
		expect(count("Middle")).toBeWithin(250, 420);
		expect(count("High")).toBeWithin(180, 320);
	});

	test("with permission overwrites are there, if the document lists no members", async () => {
		const [member = "", banned = ""] = ids;
		await using simulator = await start([
			written({
				channels: [
					{
						name: "own",
						overwrites: [
							{ member, allow: ["VIEW_CHANNEL"] },
							{ member: banned, deny: ["VIEW_CHANNEL"] },
						],
					},
				],
				bans: [{ id: banned, reason: "Weeds" }],
			}),
		]);
		const { guild } = guildAt(simulator);
		expect(guild.members.has(member)).toBe(true);
		expect(guild.members.has(banned)).toBe(false);
		expect(guild.bans.get(banned)?.reason).toBe("Weeds");
	});

	test("have different names", () => {
		const names = Array.from({ length: 5_000 }, (_, index) => personNamed(index + 1));
		expect(new Set(names.map(({ username }) => username)).size).toBe(5_000);
		for (const { username } of names) expect(username).toMatch(/^[a-z0-9]{2,32}$/);
	});
});

describe("managed roles", () => {
	const roles = [
		{ name: "Server Booster", managed: true, color: "#FF00FF" },
		{ name: "🤖 Music-Bot!", managed: true, permissions: ["KICK_MEMBERS"] },
		{ name: "Mods" },
		{ name: "Helper", managed: true, permissions: ["@everyone", "BAN_MEMBERS"] },
	];

	test("stay where they are, and the bot has the highest that may moderate", async () => {
		await using simulator = await start([written({ roles })]);
		const { guild, bot, notes } = guildAt(simulator);
		expect(notes).toEqual([]);
		expect(rolesOf(guild)).toEqual([...roles.map(({ name }) => name), "@everyone"]);
		expect(bot.user.username).toBe("music-bot");
		const managed = [...guild.roles.values()].filter((role) => role.managed);
		expect(managed.map(({ name, tags }) => [name, tags?.bot_id])).toEqual(
			expect.arrayContaining([
				["Server Booster", undefined],
				["🤖 Music-Bot!", bot.user.id],
				["Helper", undefined],
			]),
		);
	});

	test("the role of the bot comes above those with which a bot cannot moderate", async () => {
		await using simulator = await start([written({ roles: roles.filter(({ permissions }) => !permissions) })]);
		expect(rolesOf(guildAt(simulator).guild)).toEqual(["alpha", "Server Booster", "Mods", "@everyone"]);
	});

	test("one of them can be chosen", async () => {
		await using simulator = await start([written({ roles })], { worldOptions: { botRoles: ["Other", "Helper"] } });
		expect(guildAt(simulator).bot.user.username).toBe("helper");
	});
});

test("events that have begun are moved by whole weeks", async () => {
	const event = {
		name: "Market",
		entity_type: "external" as const,
		location: "Here",
		scheduled_start_time: "2020-04-01T15:00:00.000Z",
		scheduled_end_time: "2020-04-01T17:30:00.000Z",
	};
	const future = {
		...event,
		name: "Later",
		scheduled_start_time: "2999-01-01T00:00:00.000Z",
		scheduled_end_time: "2999-01-02T00:00:00.000Z",
	};
	await using simulator = await start([written({ events: [event, future] })]);
	const { guild, notes } = guildAt(simulator);
	const [moved, kept] = (await exportOf(simulator, guild)).events ?? [];
	const weekMs = 7 * 24 * 60 * 60 * 1000;
	const movedMs = Date.parse(moved?.scheduled_start_time ?? "") - Date.parse(event.scheduled_start_time);
	expect(movedMs).toBeGreaterThan(0);
	expect(movedMs % weekMs).toBe(0);
	expect(Date.parse(moved?.scheduled_end_time ?? "") - Date.parse(moved?.scheduled_start_time ?? "")).toBe(
		2.5 * 60 * 60 * 1000,
	);
	expect(kept).toMatchObject(future);
	expect(notes).toContain(
		`event Market: it began on ${event.scheduled_start_time}, and now begins on ${moved?.scheduled_start_time}`,
	);
});

test("a guild has the boosts and features that its document needs", async () => {
	const hash = (index: number) => index.toString(16).padStart(32, "0");
	const document = written({
		settings: { icon: hash(1) },
		roles: [
			{ name: "Picture", icon: hash(2) },
			{ name: "Leaf", icon: "🌿" },
			{ name: "Gradient", color: "#FF0000 to #00FF00" },
		],
		emojis: Array.from({ length: 120 }, (_, index) => ({
			name: `emoji_${index}`,
			picture: hash(10 + index),
			animated: index < 10,
		})),
		channels: [
			{ name: "news", kind: "announcement" },
			{ name: "Talk", kind: "stage" },
			{ name: "Concert", kind: "voice", bitrate: 384_000 },
		],
	});
	await using simulator = await start([document]);
	const { guild, notes } = guildAt(simulator);
	expect(notes).toHaveLength(1);
	expect(guild.premium_tier).toBe(3);
	expect(guild.features.toSorted()).toEqual(["COMMUNITY", "ENHANCED_ROLE_COLORS", "ROLE_ICONS"]);
	expect(guild.emojis.size).toBe(120);
	expect([...guild.emojis.values()].filter(({ animated }) => animated)).toHaveLength(10);
	const [emoji] = guild.emojis.keys();
	const pictures = [`emojis/${emoji}.gif`, `icons/${guild.id}/${guild.icon}.png`];
	for (const path of pictures) expect((await fetch(`${simulator.cdn}/${path}`)).status).toBe(200);
});

test("pictures beside a document are those of the guild", async () => {
	const directory = mkdtempSync(join(tmpdir(), "guildhall-world-"));
	using stack = new DisposableStack();
	stack.defer(() => rmSync(directory, { recursive: true, force: true }));
	const still = drawPicture("still", false).bytes;
	const animated = drawPicture("animated", true).bytes;
	const [stillHash, animatedHash] = [still, animated].map(pictureHash);
	const file = join(directory, "guild.yaml");
	await Bun.write(
		file,
		toYaml(
			written({
				settings: { icon: animatedHash },
				emojis: [
					{ name: "still", picture: stillHash },
					{ name: "moving", picture: animatedHash },
					{ name: "drawn", picture: "0".repeat(32) },
				],
			}),
		),
	);
	const pictureFile = (name: string) => join(directory, "guild.pictures", name);
	await Bun.write(pictureFile(`${stillHash}.png`), still);
	await Bun.write(pictureFile(`${animatedHash}.gif`), animated);
	{
		await using simulator = await startSimulator(await readWorlds({ world: [file] }));
		const { guild, notes } = guildAt(simulator);
		expect(notes).toHaveLength(1);
		const hashAt = async (path: string) => pictureHash(await (await fetch(`${simulator.cdn}/${path}`)).bytes());
		const idOf = (name: string) => guild.emojis.values().find((emoji) => emoji.name === name)?.id;
		expect(await hashAt(`emojis/${idOf("still")}.png`)).toBe(stillHash ?? "");
		expect(await hashAt(`emojis/${idOf("moving")}.gif`)).toBe(animatedHash ?? "");
		expect(await hashAt(`icons/${guild.id}/${guild.icon}.gif`)).toBe(animatedHash ?? "");
		expect(idOf("drawn")).toBeString();
	}
	await Bun.write(pictureFile(`${stillHash}.png`), animated);
	expect(readWorlds({ world: [file] })).rejects.toThrow(`${stillHash}.png: its content has another hash`);
});

test("what cannot be carried out is said, and the rest is there", async () => {
	await using simulator = await start([
		written({
			settings: { community: true, verification_level: "LOW" },
			roles: [{ name: "Bot", managed: true, permissions: ["BAN_MEMBERS"] }],
			channels: [
				{ name: "photos", kind: "media" },
				{ name: "general" },
				{ name: "Loud", kind: "stage", bitrate: 384_000 },
			],
			webhooks: [
				{ name: "Photos", channel: "photos" },
				{ name: "News", channel: "general" },
			],
		}),
	]);
	const { guild, notes } = guildAt(simulator);
	expect([...guild.channels.values()].map(({ name }) => name)).toEqual(["general"]);
	expect(notes).toEqual([
		expect.stringMatching(/^settings.community: .* rules_channel/),
		"create channel photos: refused, Invalid Form Body; type: Value must be one of {0, 2, 4, 5, 13, 15}.",
		"create channel Loud: refused, Cannot execute action on this channel type",
		"create webhook Photos: refused, Unknown Channel",
	]);
});

test.each([
	[
		{ settings: { system_channel: "nowhere" } },
		'channel "nowhere": neither the document nor the guild has one with this name',
	],
	[
		{ roles: [], members: [{ id: "223456789012345678", roles: ["Ghost"] }] },
		'role "Ghost": neither the document nor the guild has one with this name',
	],
])("a document that refers to nothing is refused: %p", async (given, issue) => {
	expect(start([written(given)])).rejects.toThrow(`1.yaml has 1 error:\n  ${issue}`);
});

test("a large guild takes few requests more than it has things", async () => {
	const document = randomGuild(seeded(7), { roles: 50, channels: 100 });
	let requests = 0;
	await using simulator = await start([document], {
		onExchange: () => {
			requests += 1;
		},
	});
	const { guild } = guildAt(simulator);
	expect(guild.channels.size).toBeGreaterThan(90);
	const things = guild.channels.size + guild.roles.size + (document.automod?.length ?? 0) + 2;
	expect(requests).toBeLessThan(things + 60);
});

describe.each([11, 12, 13, 14])("random guild %d", (seed) => {
	test("is exported as the document from which it was made, with its ids", async () => {
		const random = seeded(seed);
		const document = randomGuild(random, {
			roles: 30,
			channels: 60,
			memberIds: ["223456789012345678"],
			community: seed % 2 === 0,
		});
		await using first = await start([document]);
		expect(guildAt(first).notes).toHaveLength(1);
		const exported = await exportOf(first, guildAt(first).guild);
		await using second = await start([exported]);
		expect(guildAt(second).notes).toEqual([]);
		expect(await exportOf(second, guildAt(second).guild)).toEqual(exported);
	});
});

test("names cannot end the line of a note, and cannot control a terminal", async () => {
	const name = "x\n\u001b[2J\u202e";
	await using simulator = await start([
		written({ emojis: [{ name: "\u001b[2J" }], automod: [{ name, trigger: "spam" }] }),
	]);
	const [{ notes } = { notes: [] }] = simulator.documentGuilds;
	const shown = notes.join("");
	expect(shown).toContain(String.raw`x\n\u{001b}[2J\u{202e}`);
	for (const hidden of ["\n", "\u001b", "\u202e"]) expect(shown).not.toContain(hidden);
});
