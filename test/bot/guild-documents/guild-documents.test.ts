// Plans and jobs with the rules of the bot: restoring, changing a plan, refusals.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { createRules } from "../../../src/bot/guild-documents/plans/rules.ts";
import { readGuildState } from "../../../src/bot/guild-documents/read/read-guild.ts";
import { withinRun } from "../../../src/discord/rest/rest.ts";
import type { GuildDocument } from "../../../src/guild-document/format/document.ts";
import { until } from "../../support/until.ts";
import { memberNamed, roleNamed } from "../../support/world.ts";
import { hashIn, jobIn, startService } from "./running-service.ts";

const seed = {
	bots: [{ username: "alpha" }],
	users: [{ username: "owner" }, { username: "ada" }],
	guilds: [
		{
			name: "The Cooks",
			owner: "owner",
			bots: [{ username: "alpha", permissions: PermissionFlagsBits.Administrator }],
			roles: ["Staff", "Regular", "Newcomer", "Guest"].map((name) => ({ name })),
			channels: ["rules", "general", "staff", "off-topic"].map((name) => ({
				name,
				...(name === "staff" && { onlyFor: ["Staff"] }),
			})),
			members: [{ username: "ada", roles: ["Staff", "Regular"] }],
		},
	],
};

async function startCooks(denies: (tool: string) => boolean = () => false) {
	let document: GuildDocument = { version: 1 };
	const backup = {
		guildId: "",
		name: "1",
		madeAt: new Date(0),
		guildName: "The Cooks",
		channels: 4,
		roles: 4,
		omitted: "",
		provenAt: undefined,
		size: 0,
		kept: undefined,
	};
	const running = await startService({
		hasRealRules: true,
		denies,
		simulator: { seed },
		options: {
			backups: { list: async () => [backup], read: async () => ({ ...backup, document }), prove: async () => {} },
		},
	});
	const end = async (text: string) => {
		const id = jobIn(text);
		return until("the job ends", async () => {
			const shown = await running.service().job(id);
			return shown.includes(", ended ") && shown;
		});
	};
	return {
		running,
		end,
		async backUp() {
			const parts = ["roles", "channels", "categories", "members", "bot"] as const;
			const made = await running.service().export(running.guild(), parts);
			document = made.document;
			return document;
		},
		[Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
	};
}

test("a guild that lost half its channels and roles is restored, with members' roles", async () => {
	await using cooks = await startCooks();
	const { bot, service, guild } = cooks.running;
	const before = await cooks.backUp();
	const { world } = bot.simulator;
	for (const channel of [...bot.guild.channels.values()])
		if (["general", "staff"].includes(channel.name)) world.channels.remove(channel);
	for (const role of [...bot.guild.roles.values()])
		if (["Staff", "Guest"].includes(role.name)) world.roles.remove(bot.guild, role);
	const plan = await service().plan(guild(), { backup: "1" });
	expect(plan).toContain("Messages of deleted channels do not come back");
	expect(plan).toContain("+ channel #staff");
	expect(plan).toContain("~ role Staff to 1 member: @ada");
	const text = await cooks.end(await service().apply(hashIn(plan)));
	expect(text).toContain(": done, ");
	const after = await cooks.backUp();
	const names = ({ roles = [], channels = [] }: GuildDocument) => [
		roles.map(({ id: _, ...rest }) => rest),
		channels.map(({ id: _, ...rest }) => rest),
	];
	expect(names(after)).toEqual(names(before));
	expect(after.members).toEqual(before.members);
});

test("settings of the bot are planned with names, set at once, exported and restored", async () => {
	await using cooks = await startCooks();
	const { bot, service, guild, plan } = cooks.running;
	const { settings } = bot;
	const carryOut = async (text: string) => cooks.end(await service().apply(hashIn(text)));
	const idOf = (name: string) => [...bot.guild.channels.values()].find((one) => one.name === name)?.id;
	const text = await plan({
		roles: [{ name: "Member" }],
		channels: [{ name: "hello" }],
		bot: {
			"welcome.channel": "#hello",
			"join_role.role": "Member",
			"welcome.message": "Hi {user}",
			"game.tiers": { gold: "Member" },
		},
	});
	expect(text).toContain(
		'\n~ bot: welcome.channel default → hello, join_role.role default → Member, welcome.message default → "Hi {user}", game.tiers default → "gold Member"\n',
	);
	expect(await carryOut(text)).toContain(": done, ");
	const first = idOf("hello");
	expect(settings.of(guild().id)["welcome.channel"]).toBe(first ?? "");
	const versions = await settings.history(guild().id);
	expect(versions.map(({ version, door, changed_by }) => [version, door, changed_by])).toEqual([
		[1, "apply_guild", null],
	]);
	const document = await cooks.backUp();
	expect(document.bot).toEqual({
		"welcome.channel": "hello",
		"join_role.role": "Member",
		"welcome.message": "Hi {user}",
		"game.tiers": { gold: "Member" },
	});
	for (const channel of [...bot.guild.channels.values()])
		if (channel.id === first) bot.simulator.world.channels.remove(channel);
	await settings.change(guild().id, { "welcome.ai": false }, { userId: null, door: "test" });
	const restoring = await service().plan(guild(), { backup: "1" });
	expect(restoring).toContain("\n~ bot: welcome.channel default → hello, welcome.ai false → default\n");
	expect(await carryOut(restoring)).toContain(": done, ");
	expect(settings.state(guild().id).stored).toMatchObject({ "welcome.channel": idOf("hello") });
	expect(await service().plan(guild(), { backup: "1" })).toContain("There is nothing to do.");
});

test("a plan refuses settings of the bot that set_settings would refuse", async () => {
	let isDenied = false;
	await using cooks = await startCooks((tool) => tool === "set_settings" && isDenied);
	const { bot, guild, plan } = cooks.running;
	const { roles } = bot.simulator.world;
	const top = roles.add(bot.guild, { name: "Top", permissions: "0" });
	roles.move(
		bot.guild,
		new Map([[top, Math.max(...[...bot.guild.roles.values()].map(({ position }) => position)) + 1]]),
	);
	await until("the bot knows it", () => guild().roles.cache.get(top.id)?.position === top.position);
	const text = await plan({ bot: { "join_role.role": "Top", "welcome.ai": false } });
	expect(text).toContain("\n~ bot: welcome.ai default → false\n");
	expect(text).toMatch(/\ncannot: bot\.join_role\.role: .*Top/);
	await expect(plan({ bot: { "welcome.chanel": "rules", "welcome.ai": "no", "spam.channels": 1 } })).rejects.toThrow(
		/bot\.welcome\.chanel: .*did you mean welcome\.channel\?\nbot\.welcome\.ai: .*\nbot\.spam\.channels: /,
	);
	isDenied = true;
	expect(await plan({ bot: { "welcome.ai": false } })).toContain("does not allow set_settings");
});

test("a plan from a backup says that it gives back a role with power that was taken since", async () => {
	await using cooks = await startCooks();
	const { bot, service, guild } = cooks.running;
	const { world } = bot.simulator;
	const ada = memberNamed(bot, "ada");
	const chiefs = world.roles.add(bot.guild, { name: "Chiefs", permissions: String(PermissionFlagsBits.BanMembers) });
	const edit = (roles: readonly string[]) => ada && world.members.edit(bot.guild, ada, { roles: [...roles] });
	const had = ada.roles;
	edit([...had, chiefs.id]);
	await until("the bot knows the role", () => guild().members.cache.get(ada.user.id)?.roles.cache.has(chiefs.id));
	await cooks.backUp();
	edit(had);
	await until("the bot knows that", () => !guild().members.cache.get(ada.user.id)?.roles.cache.has(chiefs.id));
	const plan = await service().plan(guild(), { backup: "1" });
	expect(plan).toContain("\nGives back what somebody may have taken on purpose: Chiefs with BAN_MEMBERS to @ada.\n");
});

test("a backup is shown without the parts whose tools the operator denies", async () => {
	let deniesMembers = false;
	await using cooks = await startCooks((tool) => deniesMembers && tool === "list_members");
	const { members } = await cooks.backUp();
	expect(members).not.toEqual([]);
	deniesMembers = true;
	const { service, guild } = cooks.running;
	const shown = await service().exportBackup(guild(), "1");
	expect(shown.document.members).toBeUndefined();
	expect(shown.document.roles).toBeDefined();
	expect(shown.missing).toEqual([
		"members: the operator of this bot does not allow list_members, which reads the same (config.toml)",
	]);
});

test("an earlier plan with changes is planned and carried out", async () => {
	await using cooks = await startCooks();
	const { bot, service, guild } = cooks.running;
	const first = hashIn(
		await service().plan(guild(), { document: { version: 1, roles: [{ name: "Helpers", hoist: true }] } }),
	);
	const plan = await service().plan(guild(), {
		plan: first,
		changes: {
			version: 1,
			roles: [{ name: "Helpers", color: "#00FF00" }],
			channels: [{ name: "help", overwrites: [{ role: "Helpers", allow: [] }] }],
		},
	});
	expect(plan).toContain("+ role Helpers: hoist true, color #00FF00");
	expect(plan).toContain("+ channel #help");
	await cooks.end(await service().apply(hashIn(plan)));
	const role = roleNamed(bot, "Helpers");
	expect(role).toMatchObject({ color: 0x00ff00, hoist: true });
});

test("a job outlives the tool call that starts it", async () => {
	await using cooks = await startCooks();
	const { service, guild } = cooks.running;
	const hash = hashIn(await service().plan(guild(), { document: { version: 1, roles: [{ name: "Helpers" }] } }));
	const call = new AbortController();
	const text = await withinRun({ signal: call.signal, endsAt: Infinity, reason: "of the call", mayWrite: false }, () =>
		service().apply(hash, "of the job"),
	);
	call.abort();
	expect(await cooks.end(text)).toContain(": done, 1 of 1 step done");
});

test("what the bot must not do is not planned, and the job says what Discord refuses", async () => {
	await using cooks = await startCooks((tool) => tool === "create_role");
	const { service, guild } = cooks.running;
	const text = await service().plan(guild(), {
		document: {
			version: 1,
			roles: [{ name: "Hosts" }],
			channels: [
				{ name: "Talk show", kind: "stage" },
				{ name: "news" },
				{ name: "hosts", overwrites: [{ role: "Hosts", allow: ["SPEAK"] }] },
			],
		},
	});
	expect(text).toContain(": create 2, cannot 2\n");
	expect(text).toContain("hosts: it needs role Hosts, which cannot be created");
	expect(text).toContain("cannot: role Hosts: The operator of this bot does not allow create_role");
	const ended = await cooks.end(await service().apply(hashIn(text)));
	expect(ended).toContain("1 of 2 steps done");
	expect(ended).toContain("Talk show: Discord refuses: Cannot execute action on this channel type (code 50024)");
});

test("other work gets its turn while a guild is compared and its steps are checked", async () => {
	await using running = await startService({ simulator: { seed } });
	const { connection } = running.bot;
	const { state } = await readGuildState(running.guild(), [], { connection });
	const turns = { all: 0, isCounting: true };
	const rules = createRules({
		connection,
		pictures: { hashesOf: async () => ({ hashes: new Map() }) },
		denies: () => false,
		sliceMs: 0,
	});
	const count = () => {
		turns.all += 1;
		if (turns.isCounting) setImmediate(count);
	};
	setImmediate(count);
	const roles = Array.from({ length: 9 }, (_, index) => ({ name: `New ${index}` }));
	const { steps } = await rules.difference({ version: 1, roles }, state, { prune: false });
	// After the document is matched, and after each of its parts.
	expect(turns.all).toBeGreaterThan(12);
	turns.all = 0;
	expect(await rules.refusals(steps, running.guild(), state)).toEqual([]);
	expect(turns.all).toBeGreaterThan(steps.length - 1);
	turns.isCounting = false;
});
