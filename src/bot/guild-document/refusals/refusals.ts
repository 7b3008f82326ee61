// Which steps of a plan the bot cannot or must not do, and why. Every rule holds twice: for the plan as a whole, and for each
// step right before it is sent, because guilds change and a document is untrusted input.

import type { Guild } from "discord.js";
import type {
	GuildState,
	Refusal,
	Step,
} from "../../../guild-document/steps.ts";
import { oneField } from "../../discord/text.ts";
import { refusedForTwoFactor } from "../../discord/two-factor.ts";
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
import {
	neededBits,
	noteOnNewChannel,
	reasonOf,
	refusedPermissions,
} from "./refused-permissions.ts";
import { toolsOf } from "./tools-of-steps.ts";

export interface RefusalOptions {
	/** Whether the operator's configuration forbids a tool, by its name or a former name: `deny`, `read_only`, `toolsets`. */
	denies?(toolName: string): boolean;
	/** The present time in epoch milliseconds. Default: the clock's. */
	now?: number;
	/**
	 * Whether the account that owns the bot's application lacks two-factor authentication. Default: as it was when the bot
	 * logged in; `lacksTwoFactor` of two-factor.ts asks Discord again.
	 */
	lacksTwoFactor?: boolean;
}

/**
 * Returns the steps that the bot cannot or must not do, and why. `steps` are in the order of execution, and `state` is the
 * guild before them. Also returns notes, without a step's id, on new channels that the bot cannot change afterwards.
 */
export function refusalsOf(
	steps: readonly Step[],
	guild: Guild,
	state: GuildState,
	options: RefusalOptions = {},
): Refusal[] {
	const facts = factsOfState(state);
	const withheld = new Map<string, { step: Step; reason: string }>();
	const ids = placeholdersOf(steps);
	return steps.flatMap((step): Refusal[] => {
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
			return [{ subject: subjectOf(step), reason, stepId: step.id }];
		}
		const note =
			noteOnNewChannel(guild, facts, checked) ??
			noteOnGivenRoles(facts, checked);
		if (note && step.placeholder) facts.hidden.add(step.placeholder);
		applyStep(facts, checked);
		return note ? [{ subject: subjectOf(step), reason: note }] : [];
	});
}

/**
 * Returns why the bot cannot or must not do a step now, from what it knows of the guild at the moment; undefined if it can.
 * `ids` are the ids of things that were placeholders. Does not check what depends on earlier steps, such as limits: the bot
 * hears of its own changes a moment later, and Discord checks it.
 */
export function requireStep(
	step: Step,
	ids: ReadonlyMap<string, string>,
	guild: Guild,
	options: RefusalOptions = {},
): string | undefined {
	const missing = step.needs.find((need) => !ids.has(need));
	if (missing !== undefined)
		return `It needs ${oneField(missing.replace(/^\+/, ""))}, which does not exist.`;
	const facts = factsOfCache(guild);
	return reasonOf(() =>
		refused(guild, facts, withRequest(step, ids), options, true),
	);
}

/** Returns a map in which each placeholder of the steps stands for itself. */
function placeholdersOf(steps: readonly Step[]): Map<string, string> {
	return new Map(
		steps.flatMap(({ placeholder }) =>
			placeholder === undefined ? [] : [[placeholder, placeholder]],
		),
	);
}

/** Throws a ToolError if the bot's own roles are not loaded yet. */
function refused(
	guild: Guild,
	facts: GuildFacts,
	step: CheckedStep,
	{
		denies = () => false,
		now = Date.now(),
		lacksTwoFactor = guild.client.user.mfaEnabled === false,
	}: RefusalOptions,
	isRunning: boolean,
): string | undefined {
	// The operator may have forbidden the tool of jobs since this one was started.
	const tools = [...toolsOf(step), ...(isRunning ? ["apply_guild"] : [])];
	const denied = tools.find((name) => denies(name));
	if (denied)
		return `The operator of this bot does not allow ${denied}, which does the same (config.toml).`;
	const needed = neededBits(guild, facts, step);
	const reasons = [
		lacksTwoFactor ? refusedForTwoFactor(guild, needed) : undefined,
		...refusedPermissions(guild, facts, step),
		...refusedLimits(guild, facts, step, now, isRunning),
	].filter((reason) => reason !== undefined);
	return reasons.length > 0 ? [...new Set(reasons)].join(" ") : undefined;
}

/** The kinds of steps in words. Of those that are once in a guild, the name is left out. */
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

/** Returns the name of what a step changes: "role Mods". */
function subjectOf({ kind, action, name }: Step): string {
	if (action === "order")
		return kind === "role" ? "order of the roles" : "order of the channels";
	const noun = kindNames[kind];
	return withoutName.has(kind) ? noun : `${noun} ${name}`;
}

/** Returns the first of the sentences of a reason. The others say what to do, and are with the step that has the reason. */
function firstSentence(reason: string): string {
	return reason.replace(/\. .*$/s, ".");
}
