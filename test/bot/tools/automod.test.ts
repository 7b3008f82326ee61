// The AutoMod tools, and what Discord then does with messages.

import { expect } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { NewRule } from "../../../src/simulator/world/guilds/automod.ts";
import { addRule, memberNamed, roleNamed, type TestWorld, worldTest, writes } from "../../support/world.ts";

type Args = Record<string, unknown>;

function scene(world: TestWorld) {
	const { simulator, guild, call } = world;
	const { autoModeration } = simulator.world;
	const alerts = simulator.world.channels.add(guild, { name: "alerts" });
	return {
		alerts,
		rules: () => autoModeration.in(guild),
		/** A rule that blocks "soup". */
		rule: (more: Partial<NewRule> = {}) => addRule(world, more),
		create: (more: Args) =>
			call("set_automod_rule", { name: "No soup", trigger_type: "keyword", actions: ["block_message"], ...more }),
		edit: ({ id }: { id: string }, more: Args) => call("set_automod_rule", { rule_id: id, ...more }),
		/** What becomes of what liwei writes. */
		say: (text: string) =>
			simulator
				.user("liwei")
				.say("The Cooks/general", text)
				.then(
					() => "written",
					() => "blocked",
				),
	};
}

worldTest("a created rule blocks, alerts and times out, except for exempt roles", async (world) => {
	const { create, alerts, say } = scene(world);
	await world.heard();
	const regular = roleNamed(world, "Regular");
	const made = await create({
		keyword_filter: ["soup*"],
		allow_list: ["soupy"],
		actions: ["block_message", "send_alert_message", "timeout"],
		custom_message: "no | soup",
		alert_channel_id: alerts.id,
		duration: "1m",
		exempt_role_ids: [regular.id],
	});
	const [first, line] = made.text.split("\n");
	expect(first).toMatch(/^Created the AutoMod rule "No soup" \(ID: \d+\), which is on\.$/);
	expect(line).toContain(
		`| keyword | on | keyword_filter: 1, "soup*" | allow_list: 1, "soupy" | actions: block_message saying "no \\| soup", send_alert_message in #alerts (ID: ${alerts.id}), timeout for 60 s | exempt roles: @Regular (ID: ${regular.id}) |`,
	);
	await world.simulator.user("mona_lisa").say("The Cooks/general", "soups");
	expect(await say("soupy")).toBe("written");
	expect(await say("Soups")).toBe("blocked");
	const { world: platform } = world.simulator;
	expect(platform.messages.in(alerts.id)).toHaveLength(1);
	const member = memberNamed(world, "liwei");
	expect(member.communication_disabled_until).not.toBeNull();
});

worldTest("each kind of rule is created, disabled on request", async (world) => {
	const { create, rules } = scene(world);
	const cases: Args[] = [
		{ trigger_type: "keyword", regex_patterns: ["\\d+ soups"], enabled: false },
		{ trigger_type: "spam" },
		{ trigger_type: "keyword_preset", presets: ["slurs", "profanity"] },
		{ trigger_type: "mention_spam", mention_total_limit: 5 },
		{ trigger_type: "member_profile", keyword_filter: ["soup"], actions: ["block_member_interaction"] },
	];
	for (const more of cases) expect((await create(more)).isError).toBe(false);
	expect(rules()).toMatchObject([
		{ trigger_type: 1, event_type: 1, enabled: false, trigger_metadata: { regex_patterns: ["\\d+ soups"] } },
		{ trigger_type: 3, enabled: true, trigger_metadata: {} },
		{ trigger_type: 4, trigger_metadata: { presets: [3, 1] } },
		{ trigger_type: 5, trigger_metadata: { mention_total_limit: 5, mention_raid_protection_enabled: false } },
		{ trigger_type: 6, event_type: 2, actions: [{ type: 4 }] },
	]);
	const again = await create({ trigger_type: "spam" });
	expect(again.text).toContain("Maximum number of rules with trigger type 3");
});

worldTest("a rule that times out or blocks members requires MODERATE_MEMBERS", async (world) => {
	const { create, rule, edit } = scene(world);
	const known = rule();
	const own = roleNamed(world, "alpha");
	const bits = BigInt(own.permissions) & ~PermissionFlagsBits.ModerateMembers;
	world.simulator.world.roles.edit(world.guild, own, { permissions: String(bits) });
	await world.heard();
	const timesOut = { actions: ["timeout"], duration: "1m" };
	for (const refused of [
		await create({ keyword_filter: ["soup"], ...timesOut }),
		await create({ trigger_type: "member_profile", keyword_filter: ["soup"], actions: ["block_member_interaction"] }),
		await edit(known, timesOut),
	])
		expect(refused.text).toContain("lacks MODERATE_MEMBERS in the guild");
	expect(writes(world)).toEqual([]);
	expect((await create({ keyword_filter: ["x"] })).isError).toBe(false);
});

worldTest("an edit sends the given fields and those that Discord would otherwise remove", async (world) => {
	const { rule, edit, alerts, say } = scene(world);
	const edited = rule({
		trigger_metadata: { keyword_filter: ["soup"], allow_list: ["pea soup"] },
		actions: [
			{ type: 1, metadata: { custom_message: "no" } },
			{ type: 2, metadata: { channel_id: alerts.id } },
		],
	});
	const sent = () => world.simulator.journal.entries().at(-1)?.body;
	await world.heard();
	const words = await edit(edited, { keyword_filter: ["broth"] });
	expect(words.text).toBe(
		`Changed 1 field(s) of the AutoMod rule "No soup" (ID: ${edited.id}):\nkeyword_filter: added 1, "broth" | removed 1, "soup"`,
	);
	expect(sent()).toEqual({
		trigger_metadata: { keyword_filter: ["broth"], allow_list: ["pea soup"], regex_patterns: [] },
	});
	expect([await say("broth"), await say("soup")]).toEqual(["blocked", "written"]);
	await edit(edited, { custom_message: "" });
	expect(sent()).toEqual({
		actions: [
			{ type: 1, metadata: {} },
			{ type: 2, metadata: { channel_id: alerts.id } },
		],
	});
	const off = await edit(edited, { actions: ["send_alert_message"], enabled: false });
	expect(off.text.split("\n").slice(1)).toEqual(["enabled: true → false", 'actions: removed 1, "block_message"']);
	expect(sent()).toEqual({ enabled: false, actions: [{ type: 2, metadata: { channel_id: alerts.id } }] });
	const dangling = await edit(edited, { duration: "1m" });
	expect(dangling.text).toContain("only rules with the action timeout have this field");
});

worldTest("an edit that would change nothing is refused, and so is one without fields", async (world) => {
	const { rule, edit, alerts } = scene(world);
	const edited = rule({
		actions: [
			{ type: 2, metadata: { channel_id: alerts.id } },
			{ type: 1, metadata: {} },
		],
	});
	expect((await edit(edited, {})).code).toBe(-32602);
	const same = await edit(edited, {
		keyword_filter: ["soup"],
		alert_channel_id: alerts.id,
		actions: ["send_alert_message", "block_message"],
		exempt_role_ids: [],
		enabled: true,
	});
	expect(same.text).toContain("Nothing would change");
	expect(writes(world)).toEqual([]);
});

worldTest("set_automod_rule creates a rule or, with rule_id, edits one, but not its trigger", async (world) => {
	const { rule, rules } = scene(world);
	const set = (args: Args) => world.call("set_automod_rule", args);
	const { id } = rule();
	const other = await set({ rule_id: id, trigger_type: "spam" });
	expect(other.text).toContain("stays keyword. Create another rule instead.");
	expect(writes(world)).toEqual([]);
	const kept = await set({ rule_id: id, trigger_type: "keyword", name: "Soup" });
	expect(kept.text).toContain('name: "No soup" → "Soup"');
	expect(rules()).toHaveLength(1);
});

worldTest("an existing rule that is invalid for creation can be edited in its valid fields", async (world) => {
	const { rule, edit } = scene(world);
	const raidsAlone = rule({
		trigger_type: 5,
		trigger_metadata: { mention_total_limit: 0, mention_raid_protection_enabled: true },
	});
	const wordless = rule({ trigger_metadata: {} });
	expect((await edit(raidsAlone, { name: "Raids" })).isError).toBe(false);
	expect((await edit(wordless, { enabled: false })).isError).toBe(false);
});

worldTest("a list shows a few words of each rule; rule_id shows all of them", async (world) => {
	const { rule } = scene(world);
	const none = await world.call("list_automod_rules");
	expect(none.text).toBe(`The guild ${world.guild.id} has no AutoMod rules.`);
	const words = Array.from({ length: 1000 }, (_, index) => `word${index}`);
	words[999] = "last | one\n2";
	const { id } = rule({ name: "Many\n| ID: 1", trigger_metadata: { keyword_filter: words, regex_patterns: ["\\d+"] } });
	const listed = await world.call("list_automod_rules");
	expect(listed.text.split("\n")).toHaveLength(2);
	expect(listed.text).toContain(
		`Many\\n\\| ID\\: 1 | ID: ${id} | keyword | on | keyword_filter: 1000, "word0", "word1", "word2", "word3", "word4", … | regex_patterns: 1, "\\\\d+" |`,
	);
	const one = await world.call("list_automod_rules", { rule_id: id });
	const lines = one.text.split("\n");
	expect(lines).toHaveLength(1 + 1001 + 2);
	expect(lines.slice(1001)).toEqual(["last | one\\n2", "1 in regex_patterns, one on each line:", "\\d+"]);
});
