// Discord's ids (snowflakes): order and timestamps.
// https://discord.com/developers/docs/reference#snowflakes

import { SnowflakeUtil } from "discord.js";

export { compareIds } from "../../guild-document/names/ids.ts";

/** Returns the lowest Discord id that an object created at `atMs` (epoch milliseconds) can have. */
export function lowestIdAt(atMs: number): bigint {
	return (BigInt(atMs) - SnowflakeUtil.epoch) << 22n;
}

const skewMs = 1_000;

/**
 * Whether Discord may have created the snowflake `id` after `afterId`. Allows for clock differences between its
 * machines.
 */
export function mayBeAfter(id: string, afterId: string): boolean {
	const skew = BigInt(skewMs) << 22n;
	return BigInt(id) > BigInt(afterId) - skew;
}
