// Rehearsals on copies of guilds that were built from documents, through the tool, with the child process.

import { expect, mock, test } from "bun:test";
import type { Guild } from "discord.js";
import { startBot } from "../../src/bot/bot.ts";
import type { Backups } from "../../src/bot/guild-documents/backups/backups.ts";
import { type Rehearsal, Rehearsals } from "../../src/bot/guild-documents/rehearsals/rehearsals.ts";
import { checkBot } from "../../src/bot/setup/check.ts";
import { readDocument } from "../../src/guild-document/format/document.ts";
import { adviceKey } from "../../src/mcp/tool.ts";
import { connectedConfig, tomlOf } from "../support/bot-config.ts";
import { storeBackup, storeSettings } from "../support/guild-settings.ts";
import { recordLog } from "../support/log.ts";
import { connectTo, type McpCaller } from "../support/mcp.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";
import { startWorld } from "../support/world.ts";

const toml = { features: { moderation: true, chat: true }, mcp: { toolsets: "all" }, commands: "off" };
const bot = {
	name: "Helper",
	managed: true,
	permissions: [
		...["VIEW_CHANNEL", "SEND_MESSAGES", "EMBED_LINKS", "READ_MESSAGE_HISTORY", "MANAGE_GUILD", "MANAGE_ROLES"],
		...["MANAGE_CHANNELS", "MANAGE_MESSAGES", "MANAGE_WEBHOOKS", "VIEW_AUDIT_LOG", "BAN_MEMBERS", "KICK_MEMBERS"],
		"MODERATE_MEMBERS",
	],
};
const weak = { ...bot, permissions: bot.permissions.filter((one) => one !== "MANAGE_CHANNELS") };
const everyone = ["VIEW_CHANNEL", "SEND_MESSAGES", "READ_MESSAGE_HISTORY", "CREATE_INSTANT_INVITE"];
const mods = { id: "400000000000000001", name: "Mods", permissions: ["@everyone", "MANAGE_CHANNELS", "BAN_MEMBERS"] };
/** Ids of the guilds' own things, so that a backup has them. */
let lastId = 3n * 10n ** 17n;
const id = () => String(++lastId);
const channels = (count: number) =>
	Array.from({ length: count }, (_, number) => ({ id: id(), name: `channel-${number}` }));
const members = Array.from({ length: 12 }, (_, n) => ({
	id: String(10n ** 17n + BigInt(n)),
	roles: n < 2 ? ["Mods"] : [],
}));
const hidden = { role: "@everyone", deny: ["VIEW_CHANNEL"] };
const staffOnly = [hidden, { role: "Mods", allow: ["VIEW_CHANNEL"] }, { role: "Helper", allow: ["VIEW_CHANNEL"] }];

const done = (steps: number) => `The job: done, ${steps} of ${steps} step`;
const raided =
	"60 of 60 accounts joined, one each second. They wrote 120 of 120 messages, of which 120 stayed. The bot timed out 0 of them.";

/** With what the answers to each scenario say there: the lines of the journals of the copies were counted by hand. */
const guilds: Record<string, { document: object; answers: Partial<Record<Rehearsal["scenario"], readonly string[]>> }> =
	{
		small: {
			document: { everyone, roles: [bot, mods], channels: channels(4), members },
			answers: {
				raid: [
					`${raided}\nThe bot has no moderation log in which to suggest raid mode.`,
					'With {"night.raid":true}:\n10 of 60 accounts joined, one each second. They wrote 12 of 20 messages, of which 12 stayed.',
					"paused invites after 9.1 s, and slow mode was on in 4 channel(s) after",
					'"settings":{"night.raid":true},"dry_run":true}',
				],
				spam: [
					"7 accounts wrote spam, a message each second.",
					"the same link: 4 of 8 messages were posted, 0 stayed; timed out after 3 s",
					"invites: 8 of 8 messages were posted, 8 stayed; not timed out",
					"many different texts: 12 of 14 messages were posted, 0 stayed; timed out after 11 s",
					"invites: none of 8 messages was posted",
				],
				hijack: [
					"deleted 4 channel(s) and banned 5 member(s) within a minute. The bot took roles from it after 4.1 s.",
				],
				restore: [
					"Not in the copy: the roles of 1 member: the owner and other bots",
					"3 of 5 channels and roles were deleted.\nThe plan: create 3, change 1, reorder 1, assign roles 5\n",
					done(10),
				],
				document: ["The plan: create 1\n", done(1)],
				member: [
					"A member with @Mods tried. 12 of 19 members rank below them.",
					"see, write, invite, edit channels, make channels, ban: yes\nstart threads or posts, mention everyone, delete",
					"give roles, edit the server, read the audit log, make roles, rename members, time out, kick: no",
				],
			},
		},
		large: {
			document: {
				everyone,
				roles: [bot, mods, ...Array.from({ length: 20 }, (_, number) => ({ id: id(), name: `Role ${number}` }))],
				categories: [0, 1, 2].map((number) => ({ id: id(), name: `Category ${number}`, channels: channels(20) })),
				members: [
					...members,
					...Array.from({ length: 500 }, (_, n) => ({ id: String(2n * 10n ** 17n + BigInt(n)), roles: [] })),
				],
			},
			answers: {
				restore: [
					"42 of 84 channels and roles were deleted.\nThe plan: create 42, change 1, reorder 2, assign roles 3\n",
					done(48),
				],
			},
		},
		private: {
			document: {
				everyone: [],
				roles: [bot, mods],
				channels: [
					...channels(3).map((one) => ({ ...one, overwrites: [hidden] })),
					{ id: id(), name: "staff", overwrites: staffOnly },
				],
				members,
			},
			answers: {
				raid: [
					"Not in the copy: channels: the bot cannot see 3 of its channels",
					"There is no channel to which people could be invited.",
				],
				spam: ["Members can write in no channel."],
			},
		},
		"with errors in its permissions": {
			document: { everyone: [...everyone, "MENTION_EVERYONE"], roles: [mods, weak], channels: channels(4), members },
			answers: {
				raid: [
					"Not in the copy: the setting auto_role.from_role: ",
					raided,
					"The bot paused invites after 9.1 s, and set no slow mode.",
				],
				hijack: ["banned 12 member(s) within a minute. The bot could take no role from it."],
				restore: ["The plan: cannot 10\nThe job: nothing could be done\ncannot: role Mods: The bot can only give"],
			},
		},
		"with two of our bots": {
			document: { everyone, roles: [bot, { ...bot, name: "Second" }, mods], channels: channels(4), members },
			answers: { hijack: ["The bot took roles from it after 4.1 s."], restore: [done(10)] },
		},
	};
const more: Partial<Record<string, object>> = {
	document: { document: { channels: [{ name: "planned" }] } },
	member: { role_ids: ["@Mods"] },
};
const settings = {
	// The copy has no game server, whatever the guild has.
	"game.chargeback": true,
	// It is gone.
	"moderation.log_channel": "987654321098765432",
	"moderation.raid": "10 joins in 60s",
	"night.strip": true,
	"spam.on": true,
	"chat.tools": true,
	// Only a person can restore it.
	"may.ban": [mods.id],
	// Above the bot, where permissions are wrong on purpose.
	"auto_role.from_role": mods.id,
};

/** Of a rehearsal that has ended. */
async function answerTo(request: McpCaller["request"], args: object) {
	for (;;) {
		const { content, _meta } = Object(await request("tools/call", { name: "rehearse", arguments: args }));
		const text: string = content.map((part: { text: string }) => part.text).join("\n");
		if (!text.startsWith("The rehearsal is running: ")) return { text, advice: _meta?.[adviceKey] };
	}
}

async function startGuild(document: object) {
	const file = { file: "guild.yaml", document: readDocument({ version: 1, ...document }) };
	const simulator = await startSimulator({ worlds: [file], worldOptions: { botRoles: ["Helper"] } });
	const [made] = simulator.documentGuilds;
	if (!made) throw new Error("the simulator has no guild");
	const { id: guildId } = made.guild;
	const config = connectedConfig(simulator, { guildId, toml: { ...toml, backup: {} } }, made.bot.user.username);
	await storeSettings(config, { [guildId]: settings });
	const gone = ["200000000000000999", made.guild.owner_id].map((id) => ({ id, roles: ["Mods"] }));
	const start = async () => {
		const running = startBot(config, recordLog().log);
		await until("the bot has loaded", () => running.loaded);
		return { running, ...(await connectTo(running.url)) };
	};
	const before = await start();
	const parts = ["everyone", "roles", "channels", "categories", "members", "bot"];
	const { text } = await before.call("export_guild", { parts });
	await before.running.close();
	const exported = JSON.parse(text.slice(text.indexOf("{")));
	await storeBackup(config, guildId, JSON.stringify({ ...exported, members: [...exported.members, ...gone] }));
	const { running, call, request } = await start();
	return {
		simulator,
		config,
		call,
		answerTo: (args: object) => answerTo(request, args),
		rehearse: async (args: object): Promise<string> => (await answerTo(request, args)).text,
		async [Symbol.asyncDispose]() {
			await running.close();
			await simulator.close();
		},
	};
}

test.each(Object.entries(guilds))(
	"a guild that is %s is only read, and its copy shows what would happen",
	async (name, { document, answers }) => {
		await using guild = await startGuild(document);
		const { journal, requests } = guild.simulator;
		const proof = async () => {
			const lines = [(await guild.call("run_setup_check", {})).text];
			await checkBot(guild.config, recordLog().log, { write: (line) => lines.push(line) });
			return lines.flatMap((text) => /proven backup: (.*? restored)/.exec(text)?.[1] ?? []);
		};
		expect(await proof()).toEqual(Array(2).fill("no rehearsal has restored"));
		journal.clear();
		requests.clear();
		for (const [scenario, lines] of Object.entries(answers)) {
			const text = await guild.rehearse({ scenario, ...more[scenario] });
			for (const line of lines) expect(text).toContain(line);
			// The same seed gives the same answer.
			if (name === "small" && /raid|restore/.test(scenario))
				expect(await guild.rehearse({ scenario, ...more[scenario] })).toBe(text);
		}
		expect(journal.entries()).toEqual([]);
		expect(new Set(requests.list().map(({ method }) => method))).toEqual(new Set(["GET"]));
		const restored = answers.restore?.some((line) => line.startsWith("The job: done"));
		const said = restored ? "a rehearsal restored" : "no rehearsal has restored";
		expect(await proof()).toEqual([said, said]);
	},
	600_000,
);

test("other settings can be tried", async () => {
	await using guild = await startGuild(guilds.small?.document ?? {});
	const weak = { "moderation.raid": "61 joins in 10m", "moderation.log_channel": null };
	const raid = await guild.answerTo({ scenario: "raid", seed: 7, settings: weak });
	const better = { "night.raid": true, "moderation.raid": "10 joins in 60s" };
	expect(raid.text).toMatch(
		/The bot noticed no raid\.\n(?:.*\n)*With .*\n10 of 60 .* keeps new members from writing\.\n/,
	);
	expect(raid.advice).toEqual({ set: { ...weak, ...better } });
	const given = [guild.simulator.documentGuilds[0]?.guild.owner_id, "200000000000000999"];
	const document = { roles: [{ name: "New" }], members: given.map((id) => ({ id, roles: ["New"] })) };
	const text = await guild.rehearse({ scenario: "document", document });
	expect(text).toMatch(/^Not in the copy: the roles of 1 member: (?:.*\n)*The plan: create 1, cannot 1\n/m);
	expect(text).toContain("cannot: member 200000000000000999: is not in the guild");
	expect(text).toContain("Not in the copy: the setting moderation.log_channel: there is no channel 987654321098765432");
	const hijack = await guild.answerTo({ scenario: "hijack", settings: { "night.strip": false, "spam.dry": true } });
	expect(hijack.text).toMatch(
		/did not stop it: night\.strip is not set\.\n(?:.*\n)*With \{"night\.strip":true\}:\n.* took roles/,
	);
	expect(hijack.advice).toEqual({ set: { "night.strip": true, "spam.dry": true } });
}, 120_000);

test("what cannot be played is said at once, and one rehearsal of a guild runs at a time", async () => {
	await using world = await startWorld({}, { toml });
	const said = async (args: object) =>
		(await answerTo(world.mcp.request, args).catch(({ message }) => ({ text: String(message) }))).text;
	expect(await said({ scenario: "raid" })).toContain('Pass settings={"moderation.raid":"10 joins in 60s"} to try it');
	expect(await said({ scenario: "spam" })).toContain("spam.on is not set");
	for (const scenario of ["restore", "document"])
		expect(await said({ scenario })).toContain('There is no backup "latest"');
	expect(await said({ scenario: "hijack", document: {} })).toContain(
		"document: expected only with the scenario document",
	);
	expect(await said({ scenario: "member", role_ids: ["@Nobody"] })).toContain("Nobody");
	expect(await said({ scenario: "hijack", role_ids: [world.guild.id], settings: { "night.strip": true } })).toContain(
		"role_ids: expected only with the scenario member",
	);
	expect(await said({ scenario: "document", document: "" })).toContain("is invalid, for these reasons.");
	expect(await said({ scenario: "raid", settings: { "night.none": 1 } })).toContain("night.none");
	const document = { channels: [{ name: "planned" }], members: [{ id: "@mona_lisa", roles: [] }] };
	const texts = await Promise.all([1, 2].map((seed) => said({ scenario: "document", document, seed })));
	expect(texts.join()).toContain("The bot plays another rehearsal.");
	expect(texts.join()).toContain("The plan: create 1");
	expect(await said({ scenario: "document", document: { channels: [{ name: "" }] } })).toContain(
		"is invalid, for these reasons. Nothing was done.",
	);
	const bans = Array.from({ length: 20_001 }, (_, n) => ({ id: String(5n * 10n ** 17n + BigInt(n)) }));
	expect(await said({ scenario: "document", document: { bans } })).toStartWith("The plan has 20001 steps, more than");
}, 120_000);

const backups: Pick<Backups, "read" | "prove"> = {
	read: () => Promise.reject(new Error("none")),
	prove: async () => {},
};
const given = async () => ({ scenario: "raid", document: {} }) as Rehearsal;
/** Of a Discord of its own, unless `api` is the same. */
const at = (id = "1", api: string = crypto.randomUUID()) =>
	({ id, client: { options: { rest: { api } }, user: { username: "Helper" } } }) as unknown as Guild;

test("a backup is proven by what it holds, what it lacks is said, and members beyond the copy are counted", async () => {
	const document = readDocument({ version: 1, ...guilds.small?.document });
	const more = { roleIds: [], missing: [], counted: [], deny: [], change: undefined, isWatched: false };
	const self = {
		toml: tomlOf({ ...toml, intents: ["MESSAGE_CONTENT"] }),
		botId: "200000000000000777",
		botRole: "Helper",
	};
	const counted = [7, 20_000].map((count) => ({ roles: count === 7 ? [mods.id] : [], count }));
	const copy = { seed: 1, settings: {}, document, ...self, ...more, counted };
	const weaker = readDocument({ version: 1, roles: [bot, { ...mods, permissions: ["BAN_MEMBERS"] }] });
	const unknown = [{ name: "rules", overwrites: [{ ...hidden, role: "Gone" }] }];
	const faults: [left: RegExp, fault: object, madeAt: number, proven?: string][] = [
		[/Not as before: role Mods: permissions .*\nNot brought back: channel #/, { ...weaker, channels: [] }, 0, "1"],
		[/\nOlder than the backup, but not in it: channel-0, /, { channels: [] }, 2e12],
		[/were deleted\.\nThe given guild document .* is invalid.*\n.*\nNot brought/, { channels: unknown }, 2e12],
	];
	for (const [left, fault, madeAt, proven] of faults) {
		const backup = { name: "1", madeAt, document: { ...document, ...fault, members: undefined } };
		const make = async () => ({ scenario: "restore" as const, ...copy, backup });
		const answer = await new Rehearsals(backups).play(at(), "key", make, 120_000);
		expect(Object(answer).lines.join("\n")).toMatch(left);
		expect(Object(answer).lines.join("\n")).toMatch(/: role Mods to 7 members? who are only counted/);
		expect(Object(answer).proven).toBe(proven);
	}
	const member = async () => ({ ...copy, backup: undefined, scenario: "member" as const, roleIds: [mods.id] });
	const tried = await new Rehearsals(backups).play(at(), "key", member, 120_000);
	expect(Object(tried).lines[0]).toBe("A member with @Mods tried. 20010 of 20021 members rank below them.");
}, 120_000);

test("a rehearsal is watched on the simulator's page, read only, until another one is asked for", async () => {
	const document = readDocument({ version: 1, ...guilds.small?.document });
	const more = {
		roleIds: [],
		missing: [],
		counted: [],
		deny: [],
		backup: undefined,
		change: undefined,
		isWatched: true,
	};
	const bot = { toml: tomlOf(toml), botId: "200000000000000777", botRole: "Helper" };
	const make = async () => ({ scenario: "raid" as const, seed: 1, settings: {}, document, ...bot, ...more });
	const place = Promise.withResolvers<string>();
	const onStep = (step: string) => /http:/.test(step) && place.resolve(step.replace(/.*(?=http:)/, ""));
	const rehearsals = new Rehearsals(backups);
	const answer = rehearsals.play(at(), "key", make, 120_000, onStep);
	const status = async (path: string, init?: RequestInit) =>
		(await fetch(`${await place.promise}${path}`, init)).status;
	expect(await status("pages/simulator/main.js", { headers: { origin: await place.promise } })).toBe(200);
	expect(await status("simulator/state")).toBe(200);
	expect(await status("simulator/state", { headers: { host: "rebound.example" } })).toBe(405);
	expect(await status("api/v10/channels/1/messages", { method: "POST" })).toBe(405);
	const next = rehearsals.play(at(), "next", () => Promise.reject(new Error("unreadable")), 120_000);
	const [watched, other] = (await Promise.allSettled([answer, next])).map((ended) => String(Object(ended).reason));
	expect(watched).toContain("The rehearsal failed: another one was asked for.");
	expect(other).toContain("unreadable");
}, 120_000);

const usual = { timeoutMs: 90_000, memoryBytes: 1e9 };

test("a child that crashes, takes too long or says nothing fails its rehearsal only", async () => {
	const played = (code: string, limits = {}) =>
		new Rehearsals(backups, [process.execPath, "-e", code], { ...usual, ...limits }).play(at(), "key", given, 90_000);
	await expect(played("process.exit(1)")).rejects.toThrow("The rehearsal failed: it crashed. The guild is as it was.");
	await expect(played("setInterval(() => {}, 1000)", { timeoutMs: 200 })).rejects.toThrow("it was ended after 0.2 s");
	await expect(played("console.log('{')")).rejects.toThrow("it crashed");
	await expect(played("process.kill(process.pid, 'SIGKILL')")).rejects.toThrow("its process was killed");
	const told = "console.log(JSON.stringify({ error: 'too much memory' }))";
	await expect(played(told)).rejects.toThrow("The rehearsal failed: too much memory");
	await expect(played("null.gone")).rejects.toThrow(/it crashed: TypeError: .*null/);
	const large = "globalThis.kept = Buffer.alloc(3e8, 1); setInterval(() => {}, 1000)";
	await expect(played(large, { memoryBytes: 2e8 })).rejects.toThrow("the copy takes more than 200 MB of memory");
});

test("the child gets no variable of the bot, and after a failure another one can run", async () => {
	process.env.REHEARSAL_SECRET = "secret";
	const print = "console.log(JSON.stringify({ answer: { lines: Object.keys(process.env) } }))";
	const rehearsals = new Rehearsals(backups, [process.execPath, "-e", print]);
	const { lines } = (await rehearsals.play(at(), "one", given, 30_000)) as { lines: string[] };
	expect(lines).not.toContain("REHEARSAL_SECRET");
	const failing = rehearsals.play(at(), "two", () => Promise.reject(new Error("unreadable")), 30_000);
	await expect(failing).rejects.toThrow("unreadable");
	expect(await rehearsals.play(at(), "three", given, 30_000)).toMatchObject({ lines });
});

test("equal calls share a rehearsal and its steps, and its answer survives what follows", async () => {
	const made = Promise.withResolvers<Rehearsal>();
	const print = [{ step: "playing" }, { answer: { lines: ["done"], proven: "1" } }, 1].map((line) =>
		JSON.stringify(line),
	);
	const code = `for (const line of ${JSON.stringify(print)}) console.log(line)`;
	const prove = () => Promise.reject(new Error("no database"));
	const command = [process.execPath, "-e", code];
	const rehearsals = new Rehearsals({ ...backups, prove }, command);
	const guild = at();
	const make = mock(() => made.promise);
	const play = async (waitMs: number, steps: string[] = []) => ({
		answer: await rehearsals.play(guild, "key", make, waitMs, (step) => steps.push(step)),
		steps,
	});
	const first = { answer: "reading the guild", steps: ["reading the guild"] };
	expect(await Promise.all([play(0), play(0)])).toEqual([first, first]);
	await expect(rehearsals.play(at("2"), "key", make, 0)).rejects.toThrow("The bot plays another rehearsal.");
	// Of a bot in another process.
	const second = new Rehearsals(backups, command).play(guild, "key", make, 30_000);
	await expect(second).rejects.toThrow(`This guild is rehearsed by pid ${process.pid} on `);
	const playing = [play(30_000), play(30_000)];
	made.resolve(await given());
	const lines = ["done", "That the backup is proven could not be stored: no database"];
	const building = "building the copy: 0 members one by one, at most 120 s and 1000 MB";
	const last = { answer: { lines, proven: "1" }, steps: [...first.steps, building, "playing"] };
	expect(await Promise.all(playing)).toEqual([last, last]);
	expect(make).toHaveBeenCalledTimes(1);
});
