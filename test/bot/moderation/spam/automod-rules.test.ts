// The AutoMod rules of the setting automod.presets: made, changed and removed when settings change.

import { expect, test } from "bun:test";
import { PermissionFlagsBits as Bits } from "discord.js";
import { createAutomodRules } from "../../../../src/bot/moderation/spam/automod-rules.ts";
import { present, until } from "../../../support/until.ts";
import { startFeature } from "../../features/running-feature.ts";
import { addKeywordRule } from "./spam-world.ts";

const route = "/guilds/:guild_id/auto-moderation/rules";

/** `others`: keyword rules of a moderator. */
async function startRules(presets: string[], others = 0) {
	const world = await startFeature({
		settings: () => ({ automod: { presets }, spam: { on: true, links: ["bad.example"] } }),
		create: (options) => createAutomodRules({ ...options, backOffMs: [5, 20] }),
		prepare(simulator) {
			for (let number = 0; number < others; number += 1)
				addKeywordRule(simulator, `Guildhall invites 00000${number}`, [{ type: 1, metadata: {} }]);
		},
	});
	const { simulator, guild } = world;
	const rules = () => simulator.world.autoModeration.in(guild);
	const reads = () => simulator.requests.list(`GET ${route}`).length;
	return Object.assign(world, {
		rules,
		own: () => rules().filter(({ creator_id }) => creator_id !== guild.owner_id),
		reads,
		/** Resolves when the bot has compared what it wants with the rules. */
		async set(settings: Record<string, unknown>) {
			const before = reads();
			await world.settings.change(guild.id, settings as never, { userId: null, door: "test" });
			await until("the rules are compared", () => reads() > before);
		},
	});
}

test("the rules are made, follow the settings, and go with them", async () => {
	await using world = await startRules(["invites", "scam_links", "mass_mentions", "floods"]);
	await until("three rules", () => world.own().length === 3);
	const names = world.own().map(({ name }) => name.replace(/^Guildhall | [0-9a-f]{6}$/g, ""));
	expect(names).toEqual(["invites", "scam_links", "mass_mentions"]);
	for (const rule of world.own())
		expect(rule).toMatchObject({ enabled: true, event_type: 1, actions: [{ type: 1 }], exempt_roles: [] });
	const scam = () => world.own()[1]?.trigger_metadata.keyword_filter;
	expect(scam()).toEqual(["*//bad.example*", "*.bad.example*"]);
	const role = [...world.guild.roles.keys()].at(-1);
	await world.set({ "spam.links": ["worse.example"], "spam.exempt_roles": [role] });
	await until("they are changed", () => world.own().every(({ exempt_roles }) => exempt_roles[0] === role));
	expect(scam()).toEqual(["*//worse.example*", "*.worse.example*"]);
	await world.set({ "automod.presets": ["mass_mentions"] });
	await until("one rule", () => world.own().length === 1);
	expect(world.own()[0]?.trigger_metadata.mention_total_limit).toBe(10);
	await world.set({ "automod.presets": null });
	await until("no rule", () => world.own().length === 0);
});

test("what a moderator changes in a rule stays, also after a restart", async () => {
	await using world = await startRules(["invites"]);
	const [rule] = await until("the rule", () => world.own().length > 0 && world.own());
	if (!rule) throw new Error("no rule");
	const trigger_metadata = { ...rule.trigger_metadata, regex_patterns: ["ours"] };
	world.simulator.world.autoModeration.edit(rule, { enabled: false, trigger_metadata });
	const reads = world.reads();
	await world.kill();
	await world.start();
	await until("the rules are compared", () => world.reads() > reads);
	await world.set({ "automod.presets": ["invites", "mass_mentions"] });
	await until("the other rule", () => world.own().length === 2);
	expect(rule).toMatchObject({ enabled: false, trigger_metadata });
});

test("rules of others stay, and a limit of Discord is a problem of the setting until it is gone", async () => {
	await using world = await startRules(["invites", "mass_mentions"], 6);
	const problem = () => world.settings.state(world.guild.id).problems[0];
	const { key, message } = await until("the problem", problem);
	expect(`${key} ${message}`).toMatch(/^automod\.presets invites: .*Maximum number of rules/);
	expect(world.own()).toHaveLength(1);
	expect(world.rules()).toHaveLength(7);
	await world.set({ "automod.presets": ["mass_mentions"] });
	await until("no problem", () => problem() === undefined);
	expect(world.rules()).toHaveLength(7);
});

test("without Manage Server nothing is asked of Discord until the bot has it", async () => {
	await using world = await startRules([]);
	await until("the first look", () => world.reads() > 0);
	const role = present([...world.guild.roles.values()].find((one) => BigInt(one.permissions) & Bits.ManageGuild));
	const { permissions } = role;
	world.simulator.world.roles.edit(world.guild, role, { permissions: "0" });
	const me = () => world.connection.guild(world.guild.id)?.members.me?.permissions;
	await until("the bot knows", () => me()?.has("ManageGuild") === false);
	const reads = world.reads();
	await world.settings.change(world.guild.id, { "automod.presets": ["invites"] }, { userId: null, door: "test" });
	world.simulator.world.roles.edit(world.guild, role, { permissions });
	await until("the rule", () => world.own().length === 1);
	expect(world.reads()).toBe(reads + 1);
});
