// Discord's ids (snowflakes): order and timestamps.
// https://discord.com/developers/docs/reference#snowflakes

import { SnowflakeUtil } from "discord.js";

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
