// The rows of src/bot/tools/automod.ts.

import { AuditLogEvent } from "discord.js";
import { addRule } from "../../support/world.ts";
import * as person from "./person.ts";
import { channelId, freshName, type IdCase, inGuild, type Row, roleId, type Scene } from "./scene.ts";

function newRule({ world, guild }: Scene) {
	const { autoModeration } = world.simulator.world;
	const rule = addRule({ simulator: world.simulator, guild }, { name: freshName() });
	const all = `/guilds/${guild.id}/auto-moderation/rules`;
	return { rule, autoModeration, all, path: `${all}/${rule.id}` };
}

/** The path of a rule contains its guild. */
function removeRules({ world, guild }: Scene): void {
	const { autoModeration } = world.simulator.world;
	for (const rule of autoModeration.in(guild)) autoModeration.remove(rule);
}

const ruleId: IdCase = {
	unknown: "There is no AutoMod rule",
	foreign: {
		id: (scene) => newRule({ ...scene, guild: scene.other }).rule.id,
		refusal: "There is no AutoMod rule",
		refusedBy: "Discord",
	},
};

const otherIds = { alert_channel_id: channelId, exempt_role_ids: roleId, exempt_channel_ids: channelId };

const needs = inGuild("ManageGuild");

const keyword = { name: "Words", trigger_type: "keyword", keyword_filter: ["*"] };
const blocks = { actions: ["block_message"] };

export const automodRows: Record<string, Row> = {
	list_automod_rules: {
		ids: { rule_id: ruleId },
		person: person.inGuild(["ManageGuild"], {
			leavesOut({ world, guild }, hidden) {
				const actions = [{ type: 2, metadata: { channel_id: hidden.id } }];
				addRule({ simulator: world.simulator, guild }, { actions, exempt_channels: [hidden.id] });
				// The id alone is shown as that of a deleted channel.
				return { args: {}, secrets: [hidden.name] };
			},
		}),
		ask(scene) {
			removeRules(scene);
			const { rule, all } = newRule(scene);
			return {
				args: {},
				request: `GET ${all}`,
				answer: [
					"1 AutoMod rule(s):",
					`${rule.name} | ID: ${rule.id} | keyword | on | keyword_filter: 1, "soup" | actions: block_message | by: `,
					`, ID: ${rule.creator_id})`,
				],
			};
		},
		needs,
	},
	set_automod_rule: {
		ids: { rule_id: ruleId, ...otherIds },
		person: person.inGuild(["ManageGuild"], { argument: "exempt_channel_ids" }),
		act(scene) {
			// A guild takes six rules of a kind.
			removeRules(scene);
			const { world, guild } = scene;
			const name = freshName();
			return {
				args: { name, trigger_type: "keyword", keyword_filter: ["soup"], actions: ["block_message"] },
				request: `POST /guilds/${guild.id}/auto-moderation/rules`,
				done: () => world.simulator.world.autoModeration.in(guild).some((one) => one.name === name && one.enabled),
			};
		},
		reason: AuditLogEvent.AutoModerationRuleCreate,
		needs,
		effects: (guild) => ({
			write: [
				{ ...keyword, actions: ["send_alert_message"], alert_channel_id: guild.channel("staff") },
				{ name: "Slurs", trigger_type: "keyword_preset", presets: ["slurs"], ...blocks },
				{ rule_id: guild.rule("Soup true"), name: "No soup" },
				{ rule_id: guild.rule("Soup true"), keyword_filter: ["soup"] },
				{ rule_id: guild.rule("Soup true"), enabled: false },
			],
			destructive: [
				["by words", { ...keyword, ...blocks }],
				["by words", { ...keyword, keyword_filter: [], regex_patterns: ["."], ...blocks }],
				[
					"blocks messages with 1 mentions",
					{ name: "Mentions", trigger_type: "mention_spam", mention_total_limit: 1, ...blocks },
				],
				["by words", { rule_id: guild.rule("Soup true"), keyword_filter: ["soup", "stew", "the"] }],
				["by words", { rule_id: guild.rule("Soup true"), actions: ["block_message", "timeout"], duration: "1m" }],
				["by words", { rule_id: guild.rule("Soup false"), enabled: true }],
			],
		}),
		refuses: [
			[
				{ trigger_type: "spam", presets: ["slurs"] },
				"keyword_filter: spam rules do not have this field",
				"presets: spam rules do not have this field",
			],
			[
				{ alert_channel_id: "#general", duration: "1m" },
				"alert_channel_id: only rules with the action send_alert_message have this field",
				"duration: only rules with the action timeout have this field",
			],
			[{ keyword_filter: ["x".repeat(61)] }, "expected 1 to 60 characters"],
			[
				{ actions: ["timeout"], duration: "2419201s" },
				'duration: expected a duration from 1s to 28d, received "2419201s"',
			],
			[
				{ name: undefined, trigger_type: undefined, actions: undefined },
				...["name", "trigger_type", "actions"].map((field) => `${field}: is required for a new rule`),
			],
			[{ rule_id: null, trigger_type: "spam", keyword_filter: undefined, actions: undefined }, "actions: is required"],
		],
	},
	delete_automod_rule: {
		ids: { rule_id: ruleId },
		person: person.inGuild(["ManageGuild"]),
		act(scene) {
			const { rule, path, autoModeration } = newRule(scene);
			return {
				args: { rule_id: rule.id },
				request: `DELETE ${path}`,
				done: () => !autoModeration.in(scene.guild).includes(rule),
			};
		},
		reason: AuditLogEvent.AutoModerationRuleDelete,
		needs,
		dryRun: /^Would delete the AutoMod rule "thing-\d+" \(ID: \d+\), which is on\.\nthing-\d+ \| ID/m,
	},
};
