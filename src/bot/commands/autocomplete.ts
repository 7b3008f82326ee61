// Autocompletion of the options of slash commands: durations, reasons and cases.

import type { AutocompleteInteraction } from "discord.js";
import { joinLines, lengthOf, oneLine, truncate } from "../../discord/text.ts";
import { within } from "../../lib/wait.ts";
import type { ActionOption, OptionKind, Suggestion, SuggestQuery } from "./action.ts";
import { suggestDurations } from "./durations.ts";
import { type Holds, permissionOf, type Restricted } from "./who-may.ts";

// https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-autocomplete
const maxSuggestions = 25;
const maxNameLength = 100;

type Offered = Omit<ActionOption, "argument">;

export type Suggest = (query: SuggestQuery) => Promise<readonly Suggestion[]>;

/** None after `timeoutMs`: Discord expects a response within 3 s. Rejects if refused. */
export async function autocomplete(
	interaction: AutocompleteInteraction,
	action: (Restricted & { options: readonly Offered[] }) | undefined,
	holds: Holds,
	suggest: Suggest,
	timeoutMs = 2_000,
): Promise<void> {
	const { name, value } = interaction.options.getFocused(true);
	const option = action?.options.find((one) => one.name === name);
	const text = String(value).slice(0, 600);
	const found = option
		? await within(
				timeoutMs,
				suggestionsFor(interaction, option, text, maySee(action, holds) ? suggest : async () => []),
			).catch(() => [])
		: [];
	const isNumber = option?.kind === "case";
	await interaction.respond(
		(found === "late" ? [] : found).slice(0, maxSuggestions).flatMap(({ name, value }) => {
			// Discord refuses the whole response for one value that is too long.
			if (name === "" || lengthOf(value) > maxNameLength) return [];
			const shown = truncate(oneLine(joinLines(name)), maxNameLength, lengthOf);
			return [{ name: shown, value: isNumber ? Number(value) : value }];
		}),
	);
}

// Administrators can show a command to more people, and suggestions contain what moderators wrote.
function maySee(action: Restricted = {}, holds: Holds): boolean {
	return permissionOf(action) !== undefined && holds(action);
}

async function suggestionsFor(
	{ guildId, user, locale }: AutocompleteInteraction,
	option: Offered,
	text: string,
	suggest: Suggest,
): Promise<readonly Suggestion[]> {
	const { kind, suggestions = [] } = option;
	if (kind === "duration") return suggestDurations(text, suggestions, locale);
	if (guildId === null) return [];
	if (option.suggest) return option.suggest(guildId, text).map((value) => ({ name: value, value }));
	if (!isSuggested(kind)) return [];
	return suggest({ kind, guildId, userId: user.id, text, locale });
}

function isSuggested(kind: OptionKind): kind is SuggestQuery["kind"] {
	return kind === "reason" || kind === "case";
}
