// The rules of plans and jobs, put together: reading the guild, the difference, and what the bot cannot or must not do.

import { lacksTwoFactor, requiresTwoFactor } from "../../discord/two-factor.ts";
import { differenceInSteps } from "../../guild-document/steps/difference.ts";
import { keyOfMessage } from "../../guild-document/steps/message-steps.ts";
import { inSlices } from "../../lib/slices.ts";
import { durationText } from "./plans/duration.ts";
import type { Rules } from "./plans/plans.ts";
import { type ReadOptions, readGuildState } from "./read/read-guild.ts";
import { refusalsOf, requireStep } from "./refusals/refusals.ts";
import { whyNotRead } from "./refusals/tools-of-steps.ts";

export interface RulesOptions extends ReadOptions {
	denies(toolName: string): boolean;
	/** Milliseconds of a comparison after which other work gets its turn. */
	sliceMs?: number;
}

export function createRules({ denies, sliceMs = 50, ...reading }: RulesOptions): Rules {
	const optionsFor = async (guild: Parameters<Rules["read"]>[0]) => ({
		denies,
		lacksTwoFactor: requiresTwoFactor(guild) && (await lacksTwoFactor(guild)),
	});
	return {
		async read(guild, parts, document) {
			const keys = document && new Set(document.messages?.map(keyOfMessage));
			const messages: ReadOptions["messages"] = async (guildId) =>
				((await reading.messages?.(guildId)) ?? []).filter(({ key }) => keys?.has(key) ?? true);
			const denied = parts.flatMap((part) => {
				const why = whyNotRead(part, denies);
				return why === undefined ? [] : { part, why };
			});
			const allowed = parts.filter((part) => !denied.some((one) => one.part === part));
			const { state, unreadable } = await readGuildState(guild, allowed, {
				...reading,
				messages: reading.messages && messages,
			});
			return { state, unreadable: [...denied, ...unreadable] };
		},
		whyNotRead: (part) => whyNotRead(part, denies),
		difference: (...args) => inSlices(differenceInSteps(...args), sliceMs),
		async refusals(steps, guild, state) {
			const options = await optionsFor(guild);
			return inSlices(refusalsOf(steps, guild, state, options), sliceMs);
		},
		async requireStep(step, ids, guild) {
			return requireStep(step, ids, guild, await optionsFor(guild));
		},
		duration: durationText,
	};
}
