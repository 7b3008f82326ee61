// What plans and jobs need to read, compare and check a guild.

import type { Guild } from "discord.js";
import type { GuildDocument, Part } from "../../../guild-document/format/document.ts";
import type { Restore } from "../../../guild-document/restore.ts";
import { differenceInSteps } from "../../../guild-document/steps/difference.ts";
import { keyOfMessage } from "../../../guild-document/steps/message-steps.ts";
import { restoreDifference } from "../../../guild-document/steps/restore-steps.ts";
import type { DifferenceOptions } from "../../../guild-document/steps/step-list.ts";
import type { Difference, GuildState, Step } from "../../../guild-document/steps.ts";
import { inSlices } from "../../../lib/slices.ts";
import { type ReadGuild, type ReadOptions, readGuildState, readRestored } from "../read/read-guild.ts";
import { refusalsOf, requireStep, unreadable } from "../refusals/refusals.ts";

interface RulesOptions extends ReadOptions {
	/** By the configuration. */
	denies(toolName: string): boolean;
	/** Milliseconds of a comparison after which other work gets its turn. */
	sliceMs?: number;
}

export type Rules = ReturnType<typeof createRules>;

export function createRules({ denies, sliceMs = 15, ...reading }: RulesOptions) {
	return {
		/** `document`: only its messages are read. */
		async read(guild: Guild, parts: readonly Part[], document?: GuildDocument, restore?: Restore): Promise<ReadGuild> {
			const keys = document && new Set(document.messages?.map(keyOfMessage));
			const messages: ReadOptions["messages"] = async (guildId) =>
				((await reading.messages?.(guildId)) ?? []).filter(({ key }) => keys?.has(key) ?? true);
			const denied = unreadable(parts, denies);
			const allowed = parts.filter((part) => !denied.some((one) => one.part === part));
			const read = await readGuildState(guild, allowed, { ...reading, messages: reading.messages && messages });
			const restored = restore && (await readRestored(guild, restore));
			return { state: { ...read.state, ...restored }, unreadable: [...denied, ...read.unreadable] };
		},
		/** Those that the configuration forbids to read, which `read` leaves out. */
		unreadable: (parts: readonly Part[]) => unreadable(parts, denies),
		difference: async (document: GuildDocument, state: GuildState, options: DifferenceOptions): Promise<Difference> =>
			options.restore
				? restoreDifference(options.restore, state, options.ids)
				: inSlices(differenceInSteps(document, state, options), sliceMs),
		/** Those without a step id are warnings. */
		refusals: (steps: readonly Step[], guild: Guild, state: GuildState) =>
			inSlices(refusalsOf(steps, guild, state, denies), sliceMs),
		/** Why the step must not run now. `ids`: real ids by placeholder. */
		requireStep: async (step: Step, ids: ReadonlyMap<string, string>, guild: Guild) =>
			requireStep(step, ids, guild, denies),
	};
}
