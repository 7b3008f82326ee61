// The difference between a document and a guild: the steps that make the guild like the document.

import { atOnce } from "../../lib/slices.ts";
import { type GuildDocument, InvalidDocument, type Part } from "../format/document.ts";
import { matchDocument } from "../match/match.ts";
import type { Difference, GuildState } from "../steps.ts";
import { addChannels } from "./channel-steps.ts";
import { addEmojis, addEvents, addRoles, addRules, addWebhooks } from "./listed-steps.ts";
import { addBans, addMemberRoles } from "./member-steps.ts";
import { addMessages } from "./message-steps.ts";
import { orderChannels } from "./order.ts";
import { addBot, addSettings } from "./settings-steps.ts";
import { type DifferenceOptions, StepList } from "./step-list.ts";
import { addOnboarding, addWelcomeScreen } from "./welcome-steps.ts";

/**
 * Steps in the order of execution, and what cannot be applied. Throws an InvalidDocument for what is ambiguous or
 * refers to nothing.
 */
export function difference(document: GuildDocument, state: GuildState, options: DifferenceOptions): Difference {
	return atOnce(differenceInSteps(document, state, options));
}

/** What adds steps, by the parts of a document for which it runs. */
const additions: readonly (readonly [add: (list: StepList) => void, ...parts: Part[]])[] = [
	[addSettings, "settings", "everyone"],
	[addRoles, "roles"],
	[addEmojis, "emojis"],
	[addChannels, "channels", "categories"],
	[orderChannels, "channels", "categories"],
	[addRules, "automod"],
	[addEvents, "events"],
	[addWebhooks, "webhooks"],
	[addWelcomeScreen, "welcome_screen"],
	[addOnboarding, "onboarding"],
	[addMessages, "messages"],
	[addMemberRoles, "members"],
	[addBans, "bans"],
	[addBot, "bot"],
];

/** Yields, so that other work can run in between. */
export function* differenceInSteps(
	document: GuildDocument,
	state: GuildState,
	options: DifferenceOptions,
): Generator<undefined, Difference> {
	const matched = matchDocument(document, state, options.ids);
	yield;
	const list = new StepList(matched, state, options);
	for (const [add, ...parts] of additions) {
		if (parts.some((part) => list.wanted[part])) add(list);
		yield;
	}
	const result = list.result();
	const issues = result.steps.flatMap(({ action, targetId = "" }) => {
		const subject = matched.referred.get(targetId);
		return action === "delete" && subject !== undefined
			? `${subject}: the document refers to it and does not list it, so prune would delete it; list it, or leave out what refers to it`
			: [];
	});
	if (issues.length > 0) throw new InvalidDocument(issues);
	return result;
}
