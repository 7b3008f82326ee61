// Placeholders such as {user} in texts of config.toml.

const placeholder = /\{(\w+)\}/g;

/** Such as "{user}". */
export function unknownPlaceholders(text: string, known: readonly string[]): readonly string[] {
	return [...text.matchAll(placeholder)].filter(([, name = ""]) => !known.includes(name)).map(([whole]) => whole);
}

/** Placeholders without a value, or within values, stay. */
export function fillPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
	return text.replace(placeholder, (whole, name) => (Object.hasOwn(values, name) ? (values[name] ?? whole) : whole));
}

/** In the greeting of a new member. */
export const greetingPlaceholders = ["user", "guild", "member_count"];
export const summaryPlaceholders = ["count", "guild", "member_count"];
