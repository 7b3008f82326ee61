// Discord's ids (snowflakes): order and timestamps.
// https://discord.com/developers/docs/reference#snowflakes

import { SnowflakeUtil } from "discord.js";

/**
 * Compares two Discord ids by age, for sorting from oldest to newest. Discord ids are decimal numbers that grow with
 * time.
 */
export function compareIds(a: string, b: string): number {
	return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** Returns the lowest Discord id that an object created at `atMs` (epoch milliseconds) can have. */
export function lowestIdAt(atMs: number): bigint {
	return (BigInt(atMs) - SnowflakeUtil.epoch) << 22n;
}
