/** The id of the stubs' guild with this number, from 0: the first are the first bot's. */
export function guildId(number: number): string {
	return String(100_000_000_000_000_000n + BigInt(number));
}
