// GUILDS_<NAME>: guilds that an operator pins to an instance. Without it a guild belongs to the first bot that lists it,
// and the gateway trusts all bots.

import { didYouMean, formatValue } from "../../lib/config.ts";

/** Guilds of GUILDS_<NAME> variables. */
export interface Pins {
	/** Calls for these go to this bot, even if the bot does not report that it is in the guild. */
	pinned: ReadonlySet<string>;
	/** Pinned only to other bots: calls for these never go to this bot, even if it reports that it is in the guild. */
	barred: ReadonlySet<string>;
}

const prefix = "GUILDS_";

/** GUILDS_ and the name in capital letters, digits and _. */
export function pinVariable(name: string): string {
	return prefix + name.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

/** Also returns all issues with the GUILDS_<NAME> variables. */
export function pinGuilds<Named extends { name: string }>(
	instances: readonly Named[],
	env: Readonly<Record<string, string>>,
): { instances: (Named & Pins)[]; issues: string[] } {
	const variables = instances.map(({ name }) => pinVariable(name));
	const issues: string[] = [];
	const byVariable = new Map<string, Set<string>>();
	for (const [variable, value] of Object.entries(env)) {
		if (!variable.startsWith(prefix)) continue;
		const owners = instances.map(({ name }) => name).filter((name) => pinVariable(name) === variable);
		if (owners.length === 0)
			issues.push(`${variable}: INSTANCES has no instance for this variable${didYouMean(variable, variables)}`);
		if (owners.length > 1)
			issues.push(
				`${variable}: pins guilds to several instances (${owners.join(", ")}), because their names differ only in case or punctuation: rename all but one of these instances in INSTANCES`,
			);
		const ids = value.split(",").map((id) => id.trim());
		const wrong = ids.find((id) => !/^\d{17,20}$/.test(id));
		if (wrong !== undefined)
			issues.push(
				`${variable}: expected guild ids of 17 to 20 digits, separated by commas, received ${formatValue(wrong)}`,
			);
		byVariable.set(variable, new Set(ids));
	}
	const all = new Set([...byVariable.values()].flatMap((ids) => [...ids]));
	return {
		instances: instances.map((instance) => {
			const pinned = byVariable.get(pinVariable(instance.name)) ?? new Set();
			return { ...instance, pinned, barred: all.difference(pinned) };
		}),
		issues,
	};
}
