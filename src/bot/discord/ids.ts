// Discord's ids (snowflakes): order and timestamps.
// https://discord.com/developers/docs/reference#snowflakes

import { SnowflakeUtil } from "discord.js";

export { compareIds } from "../../guild-document/names/ids.ts";

/** Returns the lowest Discord id that an object created at `atMs` (epoch milliseconds) can have. */
export function lowestIdAt(atMs: number): bigint {
	return (BigInt(atMs) - SnowflakeUtil.epoch) << 22n;
}
