// Discord's ids (snowflakes): order and timestamps.
// https://discord.com/developers/docs/reference#snowflakes

import { SnowflakeUtil } from "discord.js";

/** Compares ids by age, oldest first. Ids are decimal numbers that grow with time. */
export function compareIds(a: string, b: string): number {
	return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** The lowest possible id for a creation time in epoch milliseconds. */
export function lowestIdAt(atMs: number): bigint {
	return (BigInt(atMs) - SnowflakeUtil.epoch) << 22n;
}
