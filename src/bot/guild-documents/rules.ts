// The rules of plans and jobs, put together: reading the guild, the difference, and what the bot cannot or must not do.

import { differenceInSteps } from "../../guild-document/steps/difference.ts";
import { keyOfMessage } from "../../guild-document/steps/message-steps.ts";
import { restoreDifference } from "../../guild-document/steps/restore-steps.ts";
import { inSlices } from "../../lib/slices.ts";
import type { Rules } from "./plans/plans.ts";
import { type ReadOptions, readGuildState, readRestored } from "./read/read-guild.ts";
import { refusalsOf, requireStep } from "./refusals/refusals.ts";
import { unreadable } from "./refusals/tools-of-steps.ts";

interface RulesOptions extends ReadOptions {
	denies(toolName: string): boolean;
	/** Milliseconds of a comparison after which other work gets its turn. */
	sliceMs?: number;
}

export function createRules({ denies, sliceMs = 50, ...reading }: RulesOptions): Rules {
	return {
		async read(guild, parts, document, restore) {
			const keys = document && new Set(document.messages?.map(keyOfMessage));
			const messages: ReadOptions["messages"] = async (guildId) =>
				((await reading.messages?.(guildId)) ?? []).filter(({ key }) => keys?.has(key) ?? true);
			const denied = unreadable(parts, denies);
			const allowed = parts.filter((part) => !denied.some((one) => one.part === part));
			const read = await readGuildState(guild, allowed, { ...reading, messages: reading.messages && messages });
			const restored = restore && (await readRestored(guild, restore));
			return { state: { ...read.state, ...restored }, unreadable: [...denied, ...read.unreadable] };
		},
		unreadable: (parts) => unreadable(parts, denies),
		difference: (document, state, options) =>
			options.restore
				? restoreDifference(options.restore, state, options.ids)
				: inSlices(differenceInSteps(document, state, options), sliceMs),
		refusals: (steps, guild, state) => inSlices(refusalsOf(steps, guild, state, { denies }), sliceMs),
		requireStep: (step, ids, guild) => requireStep(step, ids, guild, { denies }),
	};
}
