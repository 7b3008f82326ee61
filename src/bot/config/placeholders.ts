// Placeholders such as {user} in texts of config.toml.

const placeholder = /\{(\w+)\}/g;

/** Returns the placeholders in a text, such as "{user}", whose names are not in `known`. */
export function unknownPlaceholders(text: string, known: readonly string[]): readonly string[] {
	return [...text.matchAll(placeholder)].filter(([, name = ""]) => !known.includes(name)).map(([whole]) => whole);
}

/**
 * Replaces placeholders in a text: "{user}" becomes `values.user`. Placeholders without a value, and placeholders
 * within values, stay unchanged.
 */
export function fillPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
	return text.replace(placeholder, (whole, name) => (Object.hasOwn(values, name) ? (values[name] ?? whole) : whole));
}

/** Names of the placeholders, such as {user}, that can be used in the greeting of a new member. */
export const greetingPlaceholders = ["user", "guild", "member_count"];
export const summaryPlaceholders = ["count", "guild", "member_count"];

export const defaultGreeting = "Welcome, {user}!";
export const defaultSummary = "… and {count} others. Welcome!";
