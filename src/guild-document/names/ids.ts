// Discord's ids (snowflakes): their order and timestamps.
// https://discord.com/developers/docs/reference#snowflakes

import { SnowflakeUtil } from "discord.js";

/** Oldest first: ids are decimal numbers that grow with time. */
export function compareIds(a: string, b: string): number {
	return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** The lowest that an object created then can have. */
export function lowestIdAt(atMs: number): bigint {
	return (BigInt(atMs) - SnowflakeUtil.epoch) << 22n;
}

const skewMs = 1_000;

/** Allows for clock differences between Discord's machines. */
export function earliestAfter(afterId: string): string {
	const earliest = BigInt(afterId) - (BigInt(skewMs) << 22n);
	return String(earliest > 0n ? earliest : 0n);
}

export function mayBeAfter(id: string, afterId: string): boolean {
	return BigInt(id) > BigInt(earliestAfter(afterId));
}
