// Which tools do what a step of a plan does. If the operator denies one of them, the step is refused.
// Likewise the tools that read what a part of a document has.

import type { Part } from "../../../guild-document/format/document.ts";
import type { Step, StepAction, StepKind } from "../../../guild-document/steps.ts";
import type { Unreadable } from "../read/read-guild.ts";

const tools: Partial<Record<`${StepAction} ${StepKind}`, string>> = {
	"edit settings": "edit_guild",
	// No tool edits these, but they are settings of the guild.
	"edit welcome_screen": "edit_guild",
	"edit onboarding": "edit_guild",
	"edit bot": "set_settings",
	"edit everyone": "edit_role",
	"create role": "create_role",
	"edit role": "edit_role",
	"order role": "move_roles",
	"delete role": "delete_role",
	"create channel": "create_channel",
	"edit channel": "edit_channel",
	"order channel": "move_channels",
	"delete channel": "delete_channel",
	"create emoji": "create_emoji",
	"edit emoji": "edit_emoji",
	"delete emoji": "delete_emoji",
	"create automod": "set_automod_rule",
	"edit automod": "set_automod_rule",
	"delete automod": "delete_automod_rule",
	"create event": "create_scheduled_event",
	"edit event": "edit_scheduled_event",
	"delete event": "delete_scheduled_event",
	"create webhook": "create_webhook",
	"edit webhook": "edit_webhook",
	"delete webhook": "delete_webhook",
	"create message": "send_message",
	"edit message": "edit_message",
	"create post": "create_thread",
	"edit post": "edit_thread",
	"edit pin": "pin_message",
	"assign member": "bulk_role_update",
	"ban ban": "ban",
	"delete ban": "unban",
	"delete member": "bulk_role_update",
	"delete person": "kick",
	"delete invite": "delete_invite",
};

const toolsOfPeople: Readonly<Record<string, string>> = { nickname: "set_nickname", timeout: "timeout" };

export function toolsOf({ kind, action, guard: { fields, overwrites } }: Step): string[] {
	const noun = kind === "category" ? "channel" : kind;
	const isEdit = noun === "channel" && action === "edit";
	return [
		tools[`${action} ${noun}`] ?? [],
		fields?.includes("poll") ? "create_poll" : [],
		fields?.includes("role_menu") ? "create_role_menu" : [],
		isEdit && overwrites ? "set_channel_permissions" : [],
		isEdit && fields?.includes("category") ? "move_channels" : [],
		kind === "person" ? (fields ?? []).flatMap((field) => toolsOfPeople[field] ?? []) : [],
	].flat();
}

const readers: Partial<Record<Part, string>> = {
	automod: "list_automod_rules",
	bot: "get_settings",
	webhooks: "list_webhooks",
	messages: "get_recent_messages",
	members: "list_members",
	bans: "get_bans",
};

/** By the operator's configuration. */
export function unreadable(parts: readonly Part[], denies: (toolName: string) => boolean): Unreadable[] {
	return parts.flatMap((part) => {
		const tool = readers[part];
		if (tool === undefined || !denies(tool)) return [];
		return { part, why: `the operator of this bot does not allow ${tool}, which reads the same (config.toml)` };
	});
}

export const namesInTable: readonly string[] = [tools, toolsOfPeople, readers].flatMap(Object.values);
