// Placeholders such as {user} in texts of config.toml.

/** A placeholder: a name in braces. */
const placeholder = /\{(\w+)\}/g;

/** The placeholders of a text that are not in `known`, with their braces. */
export function unknownPlaceholders(
	text: string,
	known: readonly string[],
): readonly string[] {
	return [...text.matchAll(placeholder)]
		.filter(([, name = ""]) => !known.includes(name))
		.map(([whole]) => whole);
}

/** Replaces the placeholders that `values` has. Placeholders in values are not replaced. */
export function fillPlaceholders(
	text: string,
	values: Readonly<Record<string, string>>,
): string {
	return text.replace(placeholder, (whole, name) =>
		Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
	);
}

/** The placeholders of a greeting, and of the summary of many joins. */
export const greetingPlaceholders = ["user", "guild", "member_count"];
export const summaryPlaceholders = ["count", "guild", "member_count"];

export const defaultGreeting = "Welcome, {user}!";
export const defaultSummary = "… and {count} others. Welcome!";
