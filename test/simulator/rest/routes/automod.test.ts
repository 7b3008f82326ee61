// AutoMod: rules, their limits and events, and their actions on messages.

import { expect } from "bun:test";
import {
	AuditLogEvent,
	AutoModerationActionType,
	AutoModerationRuleEventType,
	AutoModerationRuleTriggerType,
	GatewayIntentBits as Intent,
	MessageType,
	PermissionFlagsBits,
} from "discord.js";
import { addRule } from "../../../support/world.ts";
import { connect, testWith, usualIntents } from "../../support.ts";

const intents = [...usualIntents, Intent.AutoModerationConfiguration, Intent.AutoModerationExecution];

const test = testWith(({ world, guild, simulator }) => ({
	path: `/guilds/${guild.id}/auto-moderation/rules`,
	alerts: world.channels.add(guild, { name: "alerts" }),
	/** Adds an enabled rule with these keywords. */
	rule: (keyword_filter: string[], more: object = {}) =>
		addRule({ simulator, guild }, { trigger_metadata: { keyword_filter }, ...more }),
	/** Writes as liwei. Returns "written" or the error. */
	say: (text: string) =>
		simulator
			.user("liwei")
			.say("The Cooks/general", text)
			.then(() => "written", String),
}));

const keywordRule = (more: object = {}) => ({
	name: "No soup",
	event_type: 1,
	trigger_type: 1,
	enabled: true,
	trigger_metadata: { keyword_filter: ["soup"] },
	actions: [{ type: 1 }],
	...more,
});

const profileRule = { trigger_type: 6, event_type: 2, actions: [{ type: 4 }] };

test("discord.js creates, lists, edits and deletes a rule, with events and audit log entries", async (given) => {
	const { guild, simulator, alpha, path } = given;
	await using bot = await connect(simulator, "alpha", intents);
	const { autoModerationRules } = await bot.client.guilds.fetch(guild.id);
	const made = await autoModerationRules.create({
		name: "No soup",
		eventType: AutoModerationRuleEventType.MessageSend,
		triggerType: AutoModerationRuleTriggerType.Keyword,
		triggerMetadata: { keywordFilter: ["soup"] },
		actions: [{ type: AutoModerationActionType.BlockMessage }],
		reason: "too hot",
	});
	await bot.event("AUTO_MODERATION_RULE_CREATE", ({ id }) => id === made.id);
	expect(made.enabled).toBe(false);
	expect((await autoModerationRules.fetch({ cache: false })).size).toBe(1);
	const again = await autoModerationRules.fetch({ autoModerationRule: made.id, force: true });
	expect(again.triggerMetadata.keywordFilter).toEqual(["soup"]);
	await made.setEnabled(true);
	await bot.event("AUTO_MODERATION_RULE_UPDATE", ({ enabled }) => !!enabled);
	await made.delete();
	await bot.event("AUTO_MODERATION_RULE_DELETE", ({ id }) => id === made.id);
	const gone = await alpha("GET", `${path}/${made.id}`);
	expect([gone.status, gone.code]).toEqual([404, 0]);
	const entries = guild.auditLog.filter(({ target_id }) => target_id === made.id);
	expect(entries).toMatchObject([
		{ action_type: AuditLogEvent.AutoModerationRuleCreate, reason: "too hot" },
		{
			action_type: AuditLogEvent.AutoModerationRuleUpdate,
			changes: [{ key: "enabled", old_value: false, new_value: true }],
		},
		{ action_type: AuditLogEvent.AutoModerationRuleDelete },
	]);
});

test("rules need MANAGE_GUILD, and actions on members MODERATE_MEMBERS", async (given) => {
	const { guild, world, alpha, path, role, as } = given;
	const jose = as("jose.garcia");
	expect((await jose("GET", path)).code).toBe(50013);
	const timesOut = keywordRule({ actions: [{ type: 3, metadata: { duration_seconds: 60 } }] });
	const made = await alpha("POST", path, timesOut);
	expect(made.status).toBe(200);
	const own = role("alpha");
	const { ModerateMembers, ManageGuild } = PermissionFlagsBits;
	const without = (bits: bigint) => ({ permissions: String(BigInt(own.permissions) & ~bits) });
	world.roles.edit(guild, own, without(ModerateMembers));
	for (const rule of [timesOut, keywordRule(profileRule)]) expect((await alpha("POST", path, rule)).code).toBe(50013);
	expect((await alpha("POST", path, keywordRule())).status).toBe(200);
	world.roles.edit(guild, own, without(ManageGuild));
	const { id } = made.json<{ id: string }>();
	expect((await alpha("DELETE", `${path}/${id}`)).code).toBe(50013);
});

test("a guild has at most six keyword rules, and one of each other type", async ({ alpha, path }) => {
	const post = (more: object) => alpha("POST", path, keywordRule(more));
	for (let count = 0; count < 6; count += 1) expect((await post({})).status).toBe(200);
	expect((await post({})).faults).toEqual({ "": "AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED" });
	const kinds = [
		{ trigger_type: 3, trigger_metadata: {} },
		{ trigger_type: 4, trigger_metadata: { presets: [1] } },
		{ trigger_type: 5, trigger_metadata: { mention_total_limit: 5 } },
		profileRule,
	];
	for (const kind of kinds) {
		expect((await post(kind)).status).toBe(200);
		expect((await post(kind)).status).toBe(400);
	}
});

test("an invalid rule is refused at its field", async ({ alpha, path }) => {
	const cases: [more: object, field: string][] = [
		[{ trigger_metadata: { keyword_filter: ["x".repeat(61)] } }, "trigger_metadata.keyword_filter.0"],
		[{ trigger_metadata: { regex_patterns: Array(11).fill("x") } }, "trigger_metadata.regex_patterns"],
		[{ trigger_metadata: { allow_list: Array(101).fill("x") } }, "trigger_metadata.allow_list"],
		[{ trigger_metadata: undefined }, "trigger_metadata"],
		[{ trigger_type: 5, trigger_metadata: { mention_total_limit: 51 } }, "trigger_metadata.mention_total_limit"],
		[{ event_type: 2 }, "event_type"],
		[{ trigger_type: 2 }, "trigger_type"],
		[{ actions: [] }, "actions"],
		[{ actions: [{ type: 2 }] }, "actions.0.metadata.channel_id"],
		[{ actions: [{ type: 3, metadata: { duration_seconds: 2_419_201 } }] }, "actions.0.metadata.duration_seconds"],
		[{ trigger_type: 3, actions: [{ type: 3, metadata: { duration_seconds: 60 } }] }, "actions.0.type"],
		[{ actions: [{ type: 4 }] }, "actions.0.type"],
		[{ actions: [{ type: 1, metadata: { custom_message: "x".repeat(151) } }] }, "actions.0.metadata.custom_message"],
		[{ exempt_roles: Array(21).fill("1") }, "exempt_roles"],
		[{ exempt_channels: Array(51).fill("1") }, "exempt_channels"],
	];
	for (const [more, field] of cases) {
		const { faults } = await alpha("POST", path, keywordRule(more));
		expect(Object.keys(faults)).toEqual([field]);
	}
	const nowhere = [{ type: 2, metadata: { channel_id: "123456789" } }];
	const made = await alpha("POST", path, keywordRule({ actions: nowhere }));
	expect(made.code).toBe(10003);
});

test("a message is blocked, reported in an alert, and its author timed out", async (given) => {
	const { world, alerts, rule, say, simulator, member } = given;
	await using bot = await connect(simulator, "alpha", intents);
	const actions = [
		{ type: 1, metadata: {} },
		{ type: 2, metadata: { channel_id: alerts.id } },
		{ type: 3, metadata: { duration_seconds: 60 } },
	];
	const { id } = rule(["soup"], { actions });
	expect(await say("I like Soup a lot")).toContain("200000");
	expect(simulator.channel("The Cooks/general").transcript()).toBe("");
	const liwei = member("liwei");
	const until = Date.parse(String(liwei.communication_disabled_until));
	expect(until).toBeGreaterThan(Date.now());
	const [alert] = world.messages.in(alerts.id);
	expect(alert).toMatchObject({
		type: MessageType.AutoModerationAction,
		author: { username: "liwei" },
		embeds: [{ description: "I like Soup a lot" }],
	});
	const executed = await bot.event(
		"AUTO_MODERATION_ACTION_EXECUTION",
		({ alert_system_message_id }) => alert_system_message_id === alert?.id,
	);
	expect(executed).toMatchObject({
		rule_id: id,
		user_id: liwei.user.id,
		content: "I like Soup a lot",
		matched_keyword: "soup",
		matched_content: "Soup",
		action: actions[1],
		rule_trigger_type: 1,
	});
	expect(executed).not.toHaveProperty("message_id");
});

test("without a block action the message is sent, and the event has its id", async (given) => {
	const { world, alerts, rule, say, simulator } = given;
	await using bot = await connect(simulator, "alpha", intents);
	rule(["soup"], { actions: [{ type: 2, metadata: { channel_id: alerts.id } }] });
	expect(await say("soup")).toBe("written");
	const written = simulator.channel("The Cooks/general").channel;
	const { message_id } = await bot.event("AUTO_MODERATION_ACTION_EXECUTION");
	expect(message_id).toBe(world.messages.in(written.id).at(-1)?.id);
});

test("a keyword matches whole words, with * parts of them", async ({ world, guild, rule }) => {
	const edited = rule([]);
	const fits = (keyword: string, text: string, allow_list: string[] = []) => {
		world.autoModeration.edit(edited, { trigger_metadata: { keyword_filter: [keyword], allow_list } });
		const written = { text, channelIds: [], roleIds: [] };
		return world.autoModeration.violations(guild, written)[0]?.content;
	};
	expect(fits("cat", "a Cat!")).toBe("Cat");
	expect(fits("cat", "catch")).toBeUndefined();
	expect(fits("cat*", "Catapult")).toBe("Catapult");
	expect(fits("cat*", "wildcat")).toBeUndefined();
	expect(fits("*cat", "copyCat")).toBe("copyCat");
	expect(fits("*cat", "catch")).toBeUndefined();
	expect(fits("*cat*", "education")).toBe("education");
	expect(fits("*the mat*", "breathe matter")).toBe("breathe matter");
	expect(fits("i like c++", "I like C++.")).toBe("I like C++");
	expect(fits("*cat*", "education", ["edu*"])).toBeUndefined();
});

test("mention limits apply to messages and edits, except for exempt channels and roles", async (given) => {
	const { guild, world, rule, say, simulator, member, as } = given;
	const mentions = { mention_total_limit: 1 };
	const edited = rule([], { trigger_type: 5, trigger_metadata: mentions });
	expect(await say("<@1> <@1>")).toBe("written");
	expect(await say("<@1> <@&2>")).toContain("200000");
	const liwei = as("liwei");
	const { channel } = simulator.channel("The Cooks/general");
	const [first] = world.messages.in(channel.id);
	const path = `/channels/${channel.id}/messages/${first?.id}`;
	const edit = await liwei("PATCH", path, { content: "<@1> <@2>" });
	expect(edit.code).toBe(200000);
	const change = (changes: object) => world.autoModeration.edit(edited, changes);
	change({ exempt_channels: [channel.id] });
	expect(await say("<@1> <@2>")).toBe("written");
	change({ exempt_channels: [], enabled: false });
	expect(await say("<@1> <@2>")).toBe("written");
	change({ enabled: true });
	expect(await say("<@1> <@2>")).toContain("200000");
	const trusted = world.roles.add(guild, { name: "Trusted" });
	world.members.edit(guild, member("liwei"), { roles: [trusted.id] });
	change({ exempt_roles: [trusted.id] });
	expect(await say("<@1> <@2>")).toBe("written");
});

test("bots and members with MANAGE_GUILD are exempt", async ({ rule, simulator }) => {
	rule(["soup"]);
	await simulator.user("ada").say("The Cooks/general", "soup");
	await simulator.bot("alpha").say("The Cooks/general", "soup");
	expect(simulator.channel("The Cooks/general").transcript()).toBe("ada: soup\nalpha: soup");
});
