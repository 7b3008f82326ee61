// Rehearsals on copies of guilds that were built from documents, through the tool, with the child process.

import { describe, expect, test } from "bun:test";
import { startBot } from "../../src/bot/bot.ts";
import type { Backups } from "../../src/bot/guild-documents/backups/backups.ts";
import { type Answer, type Rehearsal, Rehearsals } from "../../src/bot/guild-documents/rehearsals/rehearsals.ts";
import { readDocument } from "../../src/guild-document/format/document.ts";
import { connectedConfig, tomlOf } from "../support/bot-config.ts";
import { storeSettings } from "../support/guild-settings.ts";
import { recordLog } from "../support/log.ts";
import { connectTo } from "../support/mcp.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";
import { startWorld } from "../support/world.ts";

const toml = { features: { moderation: true }, mcp: { toolsets: "all" }, commands: "off" };
const bot = {
	name: "Helper",
	managed: true,
	permissions: [
		...["VIEW_CHANNEL", "SEND_MESSAGES", "EMBED_LINKS", "READ_MESSAGE_HISTORY", "MANAGE_GUILD", "MANAGE_ROLES"],
		...["MANAGE_CHANNELS", "MANAGE_MESSAGES", "MANAGE_WEBHOOKS", "VIEW_AUDIT_LOG", "BAN_MEMBERS", "KICK_MEMBERS"],
		"MODERATE_MEMBERS",
	],
};
const everyone = ["VIEW_CHANNEL", "SEND_MESSAGES", "READ_MESSAGE_HISTORY", "CREATE_INSTANT_INVITE"];
const mods = { name: "Mods", permissions: ["@everyone", "MANAGE_CHANNELS", "BAN_MEMBERS"] };
const channels = (count: number) => Array.from({ length: count }, (_, number) => ({ name: `channel-${number}` }));
const members = Array.from({ length: 12 }, (_, n) => ({
	id: String(10n ** 17n + BigInt(n)),
	roles: n < 2 ? ["Mods"] : [],
}));
const hidden = [{ role: "@everyone", deny: ["VIEW_CHANNEL"] }];

/** With what a raid and a hijacked moderator can do there. */
const guilds: Record<string, { document: object; raid: string; hijack: string }> = {
	small: {
		document: { everyone, roles: [bot, mods], channels: channels(4), members },
		raid: "60 of 60 accounts joined, one each second. They wrote 120 of 120 messages.",
		hijack: "deleted 4 channels and banned 5 members within a minute. The bot took roles from it",
	},
	large: {
		document: {
			everyone,
			roles: [bot, mods, ...Array.from({ length: 20 }, (_, number) => ({ name: `Role ${number}` }))],
			categories: [0, 1, 2].map((number) => ({ name: `Category ${number}`, channels: channels(20) })),
			members: [
				...members,
				...Array.from({ length: 500 }, (_, n) => ({ id: String(2n * 10n ** 17n + BigInt(n)), roles: [] })),
			],
		},
		raid: "60 of 60 accounts joined, one each second. They wrote 120 of 120 messages.",
		hijack: "deleted 5 channels and banned 5 members within a minute. The bot took roles from it",
	},
	private: {
		document: {
			everyone: [],
			roles: [bot, mods],
			channels: channels(3).map((one) => ({ ...one, overwrites: hidden })),
			members,
		},
		raid: "There is no channel to which people could be invited.",
		hijack: "The bot took roles from it",
	},
	"with errors in its permissions": {
		document: { everyone: [...everyone, "ADMINISTRATOR"], roles: [mods, bot], channels: channels(4), members },
		raid: "60 of 60 accounts joined, one each second. They wrote 120 of 120 messages.",
		hijack: "The bot could take no role from it.",
	},
	"with two of our bots": {
		document: { everyone, roles: [bot, { ...bot, name: "Second" }, mods], channels: channels(4), members },
		raid: "60 of 60 accounts joined, one each second. They wrote 120 of 120 messages.",
		hijack: "banned 5 members within a minute. The bot took roles from it",
	},
};

async function startGuild(document: object, settings: Rehearsal["settings"], more: object = {}) {
	const world = { file: "guild.yaml", document: readDocument({ version: 1, ...document }) };
	const simulator = await startSimulator({ worlds: [world], worldOptions: { botRoles: ["Helper"] } });
	const [made] = simulator.documentGuilds;
	if (!made) throw new Error("the simulator has no guild");
	const config = connectedConfig(
		simulator,
		{ guildId: made.guild.id, toml: { ...toml, ...more } },
		made.bot.user.username,
	);
	await storeSettings(config, { [made.guild.id]: settings });
	const running = startBot(config, recordLog().log);
	await until("the bot has loaded", () => running.loaded);
	const { call } = await connectTo(running.url);
	return {
		simulator,
		call,
		async [Symbol.asyncDispose]() {
			await running.close();
			await simulator.close();
		},
	};
}

describe.each(Object.entries(guilds))("a guild that is %s", (_, { document, raid, hijack }) => {
	test("is only read, and its copy shows a raid, a hijacked moderator and a document", async () => {
		await using guild = await startGuild(document, { "moderation.raid": "10 joins in 60s", "night.strip": true });
		guild.simulator.journal.clear();
		const rehearse = async (args: object) => (await guild.call("rehearse", { ...args })).text;
		expect(await rehearse({ scenario: "raid" })).toContain(raid);
		expect(await rehearse({ scenario: "hijack" })).toContain(hijack);
		const change = { scenario: "document", document: { channels: [{ name: "planned" }] } };
		const planned = await rehearse(change);
		expect(planned).toContain("The plan: create 1");
		expect(await rehearse(change)).toBe(planned);
		expect(guild.simulator.journal.entries()).toEqual([]);
	}, 120_000);
});

test("with night.raid, the same raid is stopped, and the answer names the setting", async () => {
	await using guild = await startGuild(guilds.small?.document ?? {}, { "moderation.raid": "10 joins in 60s" });
	const first = await guild.call("rehearse", { scenario: "raid", seed: 7 });
	expect(first.text).toContain('With {"night.raid":true}:\n10 of 60 accounts joined');
	expect(first.text).toContain('set_settings {"guild_id":');
	expect((await guild.call("rehearse", { scenario: "raid", seed: 7 })).text).toBe(first.text);
	const tried = await guild.call("rehearse", { scenario: "raid", seed: 7, settings: { "night.raid": true } });
	expect(tried.text).toContain("10 of 60 accounts joined");
}, 120_000);

test("a setting that is off, no backup, a missing document and an unknown setting are said at once", async () => {
	await using world = await startWorld({}, { toml });
	const said = async (args: object) => (await world.call("rehearse", { ...args })).text;
	expect(await said({ scenario: "raid" })).toContain('Pass settings={"moderation.raid":"10 joins in 60s"} to try it');
	expect(await said({ scenario: "hijack" })).toContain("night.strip is not set");
	expect(await said({ scenario: "restore" })).toContain('There is no backup "latest"');
	expect(await said({ scenario: "document" })).toContain("document: expected with the scenario document");
	expect(await said({ scenario: "raid", settings: { "night.none": 1 } })).toContain("night.none");
});

test("one rehearsal of a guild runs at a time", async () => {
	await using world = await startWorld({}, { toml });
	const document = { channels: [{ name: "planned" }] };
	const outcomes = await Promise.all(
		[1, 2].map((seed) => world.call("rehearse", { scenario: "document", document, seed })),
	);
	expect(outcomes.filter((outcome) => outcome.isError)).toMatchObject([
		{ text: expect.stringContaining("Another rehearsal of this guild is running") },
	]);
}, 60_000);

const backups: Pick<Backups, "read" | "prove"> = {
	read: () => Promise.reject(new Error("none")),
	prove: async () => {},
};
const given = async () => ({ scenario: "raid" }) as Rehearsal;

test.each([
	["is proven", bot, "3"],
	[
		"is not proven without Manage Channels",
		{ ...bot, permissions: bot.permissions.filter((one) => one !== "MANAGE_CHANNELS") },
		undefined,
	],
] as const)(
	"a backup that is restored after half of the channels and roles were deleted %s",
	async (_, role, expected) => {
		await using guild = await startGuild({ ...guilds.small?.document, roles: [role, mods] }, {});
		const parts = ["settings", "everyone", "roles", "channels", "categories", "members"];
		const document = readDocument(JSON.parse((await guild.call("export_guild", { parts })).text));
		const proven: string[] = [];
		const rehearsals = new Rehearsals({ ...backups, prove: async (_, name) => void proven.push(name) });
		const botId = guild.simulator.documentGuilds[0]?.bot.user.id ?? "";
		const more = { toml: tomlOf(toml), document, settings: {}, botId, botRole: "Helper", change: undefined };
		const make = async () => ({ scenario: "restore" as const, seed: 3, backup: { name: "3", document }, ...more });
		const answer = (await rehearsals.play("1", "key", make, 60_000)) as Answer;
		expect(answer.lines[0]).toMatch(/^[1-5] of 5 channels and roles were deleted\.$/);
		expect({ proven, named: answer.proven }).toEqual({ proven: expected ? [expected] : [], named: expected });
	},
	60_000,
);

test("run_setup_check warns until a rehearsal has restored a backup", async () => {
	await using guild = await startGuild(guilds.small?.document ?? {}, {}, { backup: {} });
	expect((await guild.call("run_setup_check", {})).text).toContain(
		"warning: proven backup: no rehearsal has restored one in 30 days. Next step: rehearse with the scenario restore",
	);
});

test("a child that crashes, takes too long or says nothing fails its rehearsal only", async () => {
	const played = (code: string, timeoutMs?: number) =>
		new Rehearsals(backups, [process.execPath, "-e", code], timeoutMs).play("1", "key", given, 30_000);
	await expect(played("process.exit(1)")).rejects.toThrow("The rehearsal failed: it crashed. The guild is as it was.");
	await expect(played("setInterval(() => {}, 1000)", 200)).rejects.toThrow("it was ended after 0.2 s");
	await expect(played("console.log('{')")).rejects.toThrow("it crashed");
	const told = "console.log(JSON.stringify({ error: 'too much memory' }))";
	await expect(played(told)).rejects.toThrow("The rehearsal failed: too much memory");
});

test("the child gets no variable of the bot, and after a failure another one can run", async () => {
	process.env.REHEARSAL_SECRET = "secret";
	const print = "console.log(JSON.stringify({ answer: { lines: Object.keys(process.env) } }))";
	const rehearsals = new Rehearsals(backups, [process.execPath, "-e", print]);
	const { lines } = (await rehearsals.play("1", "one", given, 30_000)) as { lines: string[] };
	expect(lines).not.toContain("REHEARSAL_SECRET");
	const failing = rehearsals.play("1", "two", () => Promise.reject(new Error("unreadable")), 30_000);
	await expect(failing).rejects.toThrow("unreadable");
	expect(await rehearsals.play("1", "three", given, 30_000)).toMatchObject({ lines });
});
