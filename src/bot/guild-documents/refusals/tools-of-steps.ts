// Which tools do what a step of a plan does, with former names. If the operator denies one of them, the step is refused.
// Likewise the tools that read what a part of a document has.

import type { Part } from "../../../guild-document/format/document.ts";
import type { Step, StepAction, StepKind } from "../../../guild-document/steps.ts";

interface Row {
	kinds: readonly StepKind[];
	actions: readonly StepAction[];
	when?(step: Step): boolean;
	tools: readonly string[];
}

const channels = ["channel", "category"] as const;

const changes =
	(...fields: readonly string[]) =>
	({ guard }: Step) =>
		fields.some((field) => guard.fields?.includes(field));

const isKind =
	(kind: string) =>
	({ guard }: Step) =>
		guard.channelKind === kind;

const moveTools = ["move_channels", "move_channel"];

const rows: readonly Row[] = [
	{ kinds: ["settings"], actions: ["edit"], tools: ["edit_guild"] },
	// No tool edits these, but they are settings of the guild.
	{
		kinds: ["welcome_screen", "onboarding"],
		actions: ["create", "edit", "delete"],
		tools: ["edit_guild"],
	},
	{ kinds: ["everyone"], actions: ["edit"], tools: ["edit_role"] },
	{ kinds: ["role"], actions: ["create"], tools: ["create_role"] },
	{ kinds: ["role"], actions: ["edit"], tools: ["edit_role"] },
	{ kinds: ["role"], actions: ["order"], tools: ["move_roles"] },
	{ kinds: ["role"], actions: ["delete"], tools: ["delete_role"] },
	{ kinds: channels, actions: ["create"], tools: ["create_channel"] },
	{
		kinds: channels,
		actions: ["create"],
		when: isKind("voice"),
		tools: ["create_voice_channel"],
	},
	{
		kinds: channels,
		actions: ["create"],
		when: isKind("stage"),
		tools: ["create_stage_channel"],
	},
	{ kinds: channels, actions: ["edit"], tools: ["edit_channel"] },
	{
		kinds: channels,
		actions: ["edit"],
		when: changes("bitrate", "user_limit", "rtc_region"),
		tools: ["edit_voice_channel"],
	},
	{
		kinds: channels,
		actions: ["edit"],
		when: changes("tags"),
		tools: ["set_forum_tags"],
	},
	{
		kinds: channels,
		actions: ["edit"],
		when: ({ guard }) => guard.overwrites !== undefined,
		tools: ["set_channel_permissions", "remove_channel_permissions"],
	},
	{
		kinds: channels,
		actions: ["edit"],
		when: changes("category"),
		tools: moveTools,
	},
	{ kinds: channels, actions: ["order"], tools: moveTools },
	{ kinds: channels, actions: ["delete"], tools: ["delete_channel"] },
	{ kinds: ["emoji"], actions: ["create"], tools: ["create_emoji"] },
	{ kinds: ["emoji"], actions: ["edit"], tools: ["edit_emoji"] },
	{ kinds: ["emoji"], actions: ["delete"], tools: ["delete_emoji"] },
	{
		kinds: ["automod"],
		actions: ["create"],
		tools: ["set_automod_rule", "create_automod_rule"],
	},
	{
		kinds: ["automod"],
		actions: ["edit"],
		tools: ["set_automod_rule", "edit_automod_rule"],
	},
	{ kinds: ["automod"], actions: ["delete"], tools: ["delete_automod_rule"] },
	{ kinds: ["event"], actions: ["create"], tools: ["create_scheduled_event"] },
	{ kinds: ["event"], actions: ["edit"], tools: ["edit_scheduled_event"] },
	{ kinds: ["event"], actions: ["delete"], tools: ["delete_scheduled_event"] },
	{ kinds: ["webhook"], actions: ["create"], tools: ["create_webhook"] },
	{ kinds: ["webhook"], actions: ["edit"], tools: ["edit_webhook"] },
	{ kinds: ["webhook"], actions: ["delete"], tools: ["delete_webhook"] },
	{
		kinds: ["member"],
		actions: ["assign"],
		tools: ["bulk_role_update", "assign_role"],
	},
	{
		kinds: ["ban"],
		actions: ["ban"],
		// Plans may have many bans.
		tools: ["ban", "ban_member", "bulk_ban"],
	},
];

/**
 * Returns the names of the tools that make the same change as a plan step, with former names, because the operator's
 * setting `deny` may list those.
 */
export function toolsOf(step: Step): string[] {
	return rows
		.filter(
			({ kinds, actions, when }) =>
				kinds.includes(step.kind) && actions.includes(step.action) && (when?.(step) ?? true),
		)
		.flatMap(({ tools }) => tools);
}

const readers: Partial<Record<Part, string>> = {
	automod: "list_automod_rules",
	webhooks: "list_webhooks",
	members: "list_members",
	bans: "get_bans",
};

/**
 * Returns why the operator's configuration forbids reading a part of a guild, such as its bans, as text for people;
 * undefined if it does not.
 */
export function whyNotRead(part: Part, denies: (toolName: string) => boolean): string | undefined {
	const tool = readers[part];
	return tool !== undefined && denies(tool)
		? `the operator of this bot does not allow ${tool}, which reads the same (config.toml)`
		: undefined;
}

/** All names of tools, current and former, to which plan steps and parts of guilds are mapped here. */
export const namesInTable: readonly string[] = [...rows.flatMap(({ tools }) => tools), ...Object.values(readers)];
