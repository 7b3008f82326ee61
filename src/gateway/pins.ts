// GUILDS_<NAME>: guilds that an operator pins to an instance. Without it a guild belongs to the first bot that lists it,
// and the gateway trusts all bots.

import { didYouMean, formatValue } from "../lib/config.ts";

/** The pins as they concern one instance. */
export interface Pins {
	/** Guilds pinned to this instance: calls with their guild_id go to it, even if its bot does not list them. */
	pinned: ReadonlySet<string>;
	/** Guilds pinned only to other instances: calls with their guild_id never go to this one, even if its bot lists them. */
	barred: ReadonlySet<string>;
}

const prefix = "GUILDS_";

/** Name of the variable that pins guilds to this instance, made of what a shell allows: capital letters, digits and _. */
export function pinVariable(name: string): string {
	return prefix + name.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

/** Adds the pins in `env` to these instances, in the same order, and returns all issues with the pins. */
export function pinGuilds<Named extends { name: string }>(
	instances: readonly Named[],
	env: Readonly<Record<string, string>>,
): { instances: (Named & Pins)[]; issues: string[] } {
	const variables = instances.map(({ name }) => pinVariable(name));
	const issues: string[] = [];
	const byVariable = new Map<string, Set<string>>();
	for (const [variable, value] of Object.entries(env)) {
		if (!variable.startsWith(prefix)) continue;
		const owners = instances
			.map(({ name }) => name)
			.filter((name) => pinVariable(name) === variable);
		if (owners.length === 0)
			issues.push(
				`${variable}: no instance in INSTANCES has this name${didYouMean(variable, variables)}`,
			);
		if (owners.length > 1)
			issues.push(
				`${variable}: pins guilds to both ${owners.join(" and ")}: rename one of them in INSTANCES`,
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
