// GUILDS_<NAME>: guilds that an operator pins to an instance. Without it a guild belongs to the first bot that lists it,
// and the gateway trusts all bots.

import { didYouMean, formatValue } from "../../lib/config.ts";

/**
 * The guilds that the operator has assigned (pinned) to one bot with GUILDS_<NAME> variables, and the guilds that are
 * assigned only to other bots.
 */
export interface Pins {
	/**
	 * Ids of the guilds that the operator has assigned to a bot. Calls with one of these ids as `guild_id` go to this
	 * bot, even if the bot does not report that it is in the guild.
	 */
	pinned: ReadonlySet<string>;
	/**
	 * Ids of the guilds that the operator has assigned only to other bots. Calls with one of these ids as `guild_id`
	 * never go to this bot, even if the bot reports that it is in the guild.
	 */
	barred: ReadonlySet<string>;
}

const prefix = "GUILDS_";

/**
 * Returns the name of the environment variable that assigns guilds to a bot: GUILDS_ and the bot's name in capital
 * letters, digits and _.
 */
export function pinVariable(name: string): string {
	return prefix + name.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

/**
 * Adds to each bot the guilds that the GUILDS_<NAME> variables in `env` assign to it. Also returns all issues with
 * these variables.
 */
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
