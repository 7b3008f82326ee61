// Discord's ids: what they say of time, and their order.
// https://discord.com/developers/docs/reference#snowflakes

import { SnowflakeUtil } from "discord.js";

/** Orders ids by age, oldest first: they grow with time, and in length. */
export function compareIds(a: string, b: string): number {
	return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** The lowest id that something made at this time, in milliseconds since 1970, can have. */
export function lowestIdAt(atMs: number): bigint {
	return (BigInt(atMs) - SnowflakeUtil.epoch) << 22n;
}
