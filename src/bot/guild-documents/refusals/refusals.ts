// Which steps the bot cannot or must not do: it, or the person in whose name a call acts, lacks a permission or a rank,
// or the bot would lose what it needs. The rest is left to Discord, whose errors name its limits. Checked with the plan
// and again before sending, because guilds change and a document is untrusted input.

import type { Guild } from "discord.js";
import { describeBits, type Overwrites } from "../../../discord/permissions.ts";
import { powerfulPermissions } from "../../../discord/powers.ts";
import { oneField } from "../../../discord/text.ts";
import type { Part } from "../../../guild-document/format/document.ts";
import type { SentMenu } from "../../../guild-document/steps/message-steps.ts";
import type { GuildState, Refusal, Step, StepAction, StepKind } from "../../../guild-document/steps.ts";
import { type Unreadable, unseenIn } from "../read/read-guild.ts";
import {
	type CheckedStep,
	noteOnNewChannel,
	ownRoles,
	permissionsAfter,
	reasonOf,
	refusedPermissions,
	toOverwrites,
	withRequest,
} from "./refused-permissions.ts";

/** By the operator's configuration. */
type Denies = (toolName: string) => boolean;

/** In the order of execution; `state` is before the first. Without a step id: a warning. Yields after each step. */
export function* refusalsOf(
	steps: readonly Step[],
	guild: Guild,
	state: GuildState,
	denies: Denies = () => false,
): Generator<undefined, Refusal[]> {
	const own = ownRoles(guild);
	const categories = new Map<string, Overwrites>();
	const powers = new Map(
		state.guild.roles.map(({ id, name, permissions }) => [id, { name, bits: BigInt(permissions) }]),
	);
	const hasRoom = roomIn(steps, state);
	const hidden = new Set<string>();
	const ids = new Map(steps.flatMap(({ placeholder: one }) => (one === undefined ? [] : [[one, one]])));
	const refusals: Refusal[] = [];
	for (const step of steps) {
		yield;
		const checked = withRequest(step, ids);
		const reason =
			reasonOf(() => refused(guild, own, checked, denies, [])) ??
			hasRoom(step) ??
			(isWithin(step, hidden)
				? "The bot will not be able to see or manage the new channel in which this would be."
				: undefined);
		if (reason !== undefined) {
			refusals.push({ subject: subjectOf(step), reason, stepId: step.id });
			continue;
		}
		const { placeholder, targetId = "" } = step;
		const after = permissionsAfter(checked);
		const id = placeholder ?? targetId;
		if (after !== undefined && own.has(id)) own.set(id, after);
		if (after !== undefined) powers.set(id, { name: step.name, bits: after });
		if (placeholder && step.kind === "category")
			categories.set(placeholder, toOverwrites(step.guard.overwrites?.after ?? []));
		const noteOnAccess = noteOnNewChannel(guild, checked, categories);
		if (noteOnAccess && placeholder) hidden.add(placeholder);
		const note = step.note ?? noteOnAccess ?? noteOnGivenRoles(checked, powers);
		if (note) refusals.push({ subject: subjectOf(step), reason: note });
	}
	return [...refusals, ...noteOnUnseen(steps, state)];
}

const isWithin = ({ kind, needs }: Step, channels: ReadonlySet<string>) =>
	(kind === "webhook" || kind === "event") && needs.some((need) => channels.has(need));

/** Errors 30005, 30013: https://discord.com/developers/docs/topics/opcodes-and-status-codes#json-json-error-codes */
const limits = { role: 250, channel: 500 };

/** For deletions: without room for what replaces them, only the deletions would be carried out. */
function roomIn(steps: readonly Step[], state: GuildState): (step: Step) => string | undefined {
	const nounOf = ({ kind }: Step) => (kind === "category" ? "channel" : kind);
	const deleted = new Set(steps.filter(({ action }) => action === "delete").map(nounOf));
	const count = { role: state.guild.roles.length, channel: state.channels.length };
	return (step) => {
		const noun = nounOf(step);
		if (step.action !== "create" || (noun !== "role" && noun !== "channel") || !deleted.has(noun)) return undefined;
		count[noun] += 1;
		return count[noun] > limits[noun]
			? `A guild has at most ${limits[noun]} ${noun}s, and this one would have more until others are deleted. Delete some first.`
			: undefined;
	};
}

/** People could choose a role with permissions of administrators or moderators: not in a role menu, which refuses that. */
function noteOnGivenRoles(
	{ body: { prompts, role_menu } }: CheckedStep,
	powers: ReadonlyMap<string, { name: string; bits: bigint }>,
): string | undefined {
	const { entries = [] } = Object(role_menu) as Partial<SentMenu>;
	const options = (Array.isArray(prompts) ? prompts : []).flatMap(({ options = [] }) => options);
	const chosen: string[] = [
		...options.flatMap(({ role_ids = [] }) => role_ids),
		...entries.map(({ roleId }) => roleId),
	];
	const given = [...new Set(chosen)].flatMap((id) => {
		const { name = "", bits = 0n } = powers.get(id) ?? {};
		return (bits & powerfulPermissions) === 0n
			? []
			: `${oneField(name)} with ${describeBits(bits & powerfulPermissions)}`;
	});
	if (given.length > 0 && role_menu) return `The role menu gives nobody ${given.join("; ")}.`;
	return given.length > 0 ? `Every new member can choose to get the role ${given.join("; ")}.` : undefined;
}

function noteOnUnseen(steps: readonly Step[], state: GuildState): Refusal[] {
	const creates = steps.some(({ action, kind }) => action === "create" && /channel|category/.test(kind));
	if (!creates) return [];
	return unseenIn(state).map(({ why }) => ({
		subject: "new channels",
		reason: `The guild may have them already: ${why}. If so, give their ids in the document.`,
	}));
}

/** By the cache of the guild. `ids`: real ids by placeholder. */
export function requireStep(
	step: Step,
	ids: ReadonlyMap<string, string>,
	guild: Guild,
	denies: Denies = () => false,
): string | undefined {
	const missing = step.needs.find((need) => !ids.has(need));
	if (missing !== undefined) return `It needs ${oneField(missing.replace(/^\+/, ""))}, which does not exist.`;
	// The operator may have forbidden the tool of jobs since this one was started.
	const tools = [step.undoes ? "undo_actions" : "apply_guild"];
	return reasonOf(() => refused(guild, ownRoles(guild), withRequest(step, ids), denies, tools));
}

function refused(
	guild: Guild,
	own: ReadonlyMap<string, bigint>,
	step: CheckedStep,
	denies: Denies,
	tools: readonly string[],
): string | undefined {
	const denied = [...toolsOf(step), ...tools].find(denies);
	if (denied) return `The operator of this bot does not allow ${denied}, which does the same (config.toml).`;
	const reasons = refusedPermissions(guild, own, step);
	if (reasons.length > 0 && step.follows)
		reasons.push("With lock_permissions: false the channel moves and keeps its own access.");
	return reasons.length > 0 ? [...new Set(reasons)].join(" ") : undefined;
}

/** Where it is not the kind. */
const kindNames: Partial<Record<Step["kind"], string>> = {
	settings: "settings of the guild",
	everyone: "permissions of @everyone",
	automod: "AutoMod rule",
	welcome_screen: "welcome screen",
	bot: "settings of the bot",
	post: "message",
	pin: "pin of",
	ban: "ban of",
	person: "member",
	invite: "invite",
};
const withoutName: readonly Step["kind"][] = ["settings", "everyone", "welcome_screen", "onboarding", "bot"];

function subjectOf({ kind, action, name, targetId }: Step): string {
	if (action === "order") return kind === "role" ? "order of the roles" : "order of the channels";
	if (kind === "member") return `role ${name} of member ${targetId?.split("/")[0]}`;
	const noun = kindNames[kind] ?? kind;
	return withoutName.includes(kind) ? noun : `${noun} ${name}`;
}

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

export function unreadable(parts: readonly Part[], denies: Denies): Unreadable[] {
	return parts.flatMap((part) => {
		const tool = readers[part];
		if (tool === undefined || !denies(tool)) return [];
		return { part, why: `the operator of this bot does not allow ${tool}, which reads the same (config.toml)` };
	});
}

export const namesInTable: readonly string[] = [tools, toolsOfPeople, readers].flatMap(Object.values);
