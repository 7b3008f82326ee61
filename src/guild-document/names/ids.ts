// Discord's ids (snowflakes): their order.
// https://discord.com/developers/docs/reference#snowflakes

/** Oldest first: ids are decimal numbers that grow with time. */
export function compareIds(a: string, b: string): number {
	return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
