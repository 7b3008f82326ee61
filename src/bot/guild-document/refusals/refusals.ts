// Which steps of a plan the bot cannot or must not do, and why. Every rule holds twice: for the plan as a whole, and for each
// step right before it is sent, because guilds change and a document is untrusted input.

import type { Guild } from "discord.js";
import type { GuildState, Refusal, Step } from "../../../guild-document/steps.ts";
import { oneField } from "../../discord/text.ts";
import { refusedForTwoFactor } from "../../discord/two-factor.ts";
import { unseenIn } from "../read/read-guild.ts";
import {
	applyStep,
	type CheckedStep,
	factsOfCache,
	factsOfState,
	type GuildFacts,
	withRequest,
} from "./guild-facts.ts";
import { refusedLimits } from "./refused-limits.ts";
import { noteOnGivenRoles } from "./refused-onboarding.ts";
import { neededBits, noteOnNewChannel, reasonOf, refusedPermissions } from "./refused-permissions.ts";
import { toolsOf } from "./tools-of-steps.ts";

export interface RefusalOptions {
	/**
	 * Whether the operator's settings `deny`, `read_only` or `toolsets` forbid a tool, given its current or a former
	 * name.
	 */
	denies?(toolName: string): boolean;
	/** The current time in epoch milliseconds. Default: `Date.now()`. */
	now?: number;
	/**
	 * Whether the account that owns the bot's application lacks two-factor authentication. Default: what Discord reported
	 * when the bot logged in. `lacksTwoFactor` of two-factor.ts asks Discord again.
	 */
	lacksTwoFactor?: boolean;
}

/**
 * Returns which steps of a plan the bot cannot or must not carry out, and why. `steps` are in the order of execution,
 * and `state` is the guild before the first one. Results without a step id are warnings: about new channels that the
 * bot cannot change afterwards, and about onboarding that gives roles with permissions of moderators. Yields after each
 * step, so that other work can run in between.
 */
export function* refusalsOf(
	steps: readonly Step[],
	guild: Guild,
	state: GuildState,
	options: RefusalOptions = {},
): Generator<undefined, Refusal[]> {
	const facts = factsOfState(state);
	const withheld = new Map<string, { step: Step; reason: string }>();
	const ids = placeholdersOf(steps);
	const refusals: Refusal[] = [];
	for (const step of steps) {
		yield;
		const needed = step.needs.find((need) => withheld.has(need));
		const cause = needed === undefined ? undefined : withheld.get(needed);
		const checked = withRequest(step, ids);
		const reason = cause
			? `It needs the ${oneField(subjectOf(cause.step))}, which cannot be created: ${firstSentence(cause.reason)}`
			: reasonOf(() => refused(guild, facts, checked, options, false));
		if (reason !== undefined) {
			if (step.placeholder !== undefined) {
				withheld.set(step.placeholder, { step, reason });
				ids.delete(step.placeholder);
			}
			refusals.push({ subject: subjectOf(step), reason, stepId: step.id });
			continue;
		}
		const note = step.note ?? noteOnNewChannel(guild, facts, checked) ?? noteOnGivenRoles(facts, checked);
		if (note && step.placeholder) facts.hidden.add(step.placeholder);
		applyStep(facts, checked);
		if (note) refusals.push({ subject: subjectOf(step), reason: note });
	}
	return [...refusals, ...noteOnUnseen(steps, state)];
}

function noteOnUnseen(steps: readonly Step[], state: GuildState): Refusal[] {
	const creates = steps.some(({ action, kind }) => action === "create" && /channel|category/.test(kind));
	if (!creates) return [];
	return unseenIn(state).map(({ why }) => ({
		subject: "new channels",
		reason: `The guild may have them already: ${why}. If so, give their ids in the document.`,
	}));
}

/**
 * Returns why the bot cannot or must not carry out a plan step now, according to its cache of the guild; undefined if
 * it can. `ids` maps placeholders, which stand for the ids of new objects, to the real ids. Does not check limits and
 * other things that depend on earlier steps, because the cache is updated a moment later; Discord checks them.
 */
export function requireStep(
	step: Step,
	ids: ReadonlyMap<string, string>,
	guild: Guild,
	options: RefusalOptions = {},
): string | undefined {
	const missing = step.needs.find((need) => !ids.has(need));
	if (missing !== undefined) return `It needs ${oneField(missing.replace(/^\+/, ""))}, which does not exist.`;
	const facts = factsOfCache(guild);
	return reasonOf(() => refused(guild, facts, withRequest(step, ids), options, true));
}

function placeholdersOf(steps: readonly Step[]): Map<string, string> {
	return new Map(steps.flatMap(({ placeholder }) => (placeholder === undefined ? [] : [[placeholder, placeholder]])));
}

/**
 * Returns why the bot cannot or must not carry out a step; undefined if it can. Throws a ToolError if the bot's own
 * roles are not loaded yet. `isRunning`: whether an apply_guild job is about to carry out the step.
 */
function refused(
	guild: Guild,
	facts: GuildFacts,
	step: CheckedStep,
	{ denies = () => false, now = Date.now(), lacksTwoFactor = guild.client.user.mfaEnabled === false }: RefusalOptions,
	isRunning: boolean,
): string | undefined {
	// The operator may have forbidden the tool of jobs since this one was started.
	const tools = [...toolsOf(step), ...(isRunning ? ["apply_guild"] : [])];
	const denied = tools.find((name) => denies(name));
	if (denied) return `The operator of this bot does not allow ${denied}, which does the same (config.toml).`;
	const needed = neededBits(guild, facts, step);
	const reasons = [
		lacksTwoFactor ? refusedForTwoFactor(guild, needed) : undefined,
		...refusedPermissions(guild, facts, step),
		...refusedLimits(guild, facts, step, now, isRunning),
	].filter((reason) => reason !== undefined);
	if (reasons.length > 0 && step.follows)
		reasons.push("With lock_permissions: false the channel moves and keeps its own access.");
	return reasons.length > 0 ? [...new Set(reasons)].join(" ") : undefined;
}

const kindNames: Readonly<Record<Step["kind"], string>> = {
	settings: "settings of the guild",
	everyone: "permissions of @everyone",
	role: "role",
	emoji: "emoji",
	category: "category",
	channel: "channel",
	automod: "AutoMod rule",
	event: "event",
	webhook: "webhook",
	welcome_screen: "welcome screen",
	onboarding: "onboarding",
	member: "member",
	ban: "ban of",
};
const withoutName: ReadonlySet<Step["kind"]> = new Set([
	"settings",
	"everyone",
	"welcome_screen",
	"onboarding",
] as const);

function subjectOf({ kind, action, name, targetId }: Step): string {
	if (action === "order") return kind === "role" ? "order of the roles" : "order of the channels";
	if (action === "assign") return `role ${name} of member ${targetId?.split("/")[0]}`;
	const noun = kindNames[kind];
	return withoutName.has(kind) ? noun : `${noun} ${name}`;
}

function firstSentence(reason: string): string {
	return reason.replace(/\. .*$/s, ".");
}
