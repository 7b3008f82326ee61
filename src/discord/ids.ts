// Discord's ids (snowflakes): order and timestamps.
// https://discord.com/developers/docs/reference#snowflakes

import { SnowflakeUtil } from "discord.js";

/** The lowest that an object created then can have. */
export function lowestIdAt(atMs: number): bigint {
	return (BigInt(atMs) - SnowflakeUtil.epoch) << 22n;
}

const skewMs = 1_000;

/** Allows for clock differences between Discord's machines. */
export function mayBeAfter(id: string, afterId: string): boolean {
	const skew = BigInt(skewMs) << 22n;
	return BigInt(id) > BigInt(afterId) - skew;
}
