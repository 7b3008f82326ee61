// Tables "raid_modes" and "raid_steps": the state of each guild's raid mode, and the settings that raid mode changed,
// with the values from before, which turning it off restores. Times are in epoch milliseconds.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf, type Sql } from "../../../lib/store/statement.ts";

/** The latest request to turn raid mode on or off; kept afterwards. */
export interface RaidMode extends RowOf<typeof raidModesTables, "raid_modes"> {
	wanted: "on" | "off";
	/** How often raid mode was turned on or off. */
	run: number;
	/** Reason in Discord's audit log. */
	mark: string;
	/** Seconds. */
	slowmode: number;
	/** When the bot, which turned it on by itself, turns it off again; null if a person changed it. */
	ends_at: number | null;
	/** 0 until staff are told that the bot turned it on. */
	told: 0 | 1;
}

/**
 * "kept": was strict enough. "asked", "restoring": a request was about to be sent. "changed": somebody else changed it,
 * so raid mode did not touch it. "gone": the channel was deleted. "stuck": it could not be restored.
 */
export type RaidStepState =
	| "kept"
	| "asked"
	| "set"
	| "failed"
	| "restoring"
	| "restored"
	| "changed"
	| "gone"
	| "stuck";

/** Values: seconds of slow mode, a verification level, or the end of the invite pause (0 for none). */
export interface RaidStep extends RowOf<typeof raidModesTables, "raid_steps"> {
	/** "invites", "verification", or a channel id for that channel's slow mode. */
	thing: string;
	/** `RaidMode.run` in which the setting got its state. */
	run: number;
	state: RaidStepState;
	/** Confirmed by Discord last. */
	value_set: number | null;
	/** Why it was not changed or restored, a message as JSON; in state "changed", its current value. */
	note: string | null;
}

export const raidModesTables = `
	CREATE TABLE raid_modes (
		guild_id TEXT NOT NULL PRIMARY KEY,
		wanted TEXT NOT NULL,
		run BIGINT NOT NULL,
		moderator_id TEXT,
		mark TEXT NOT NULL,
		slowmode INTEGER NOT NULL,
		asked_at BIGINT NOT NULL,
		ended_at BIGINT,
		ends_at BIGINT,
		told INTEGER NOT NULL
	);
	CREATE TABLE raid_steps (
		guild_id TEXT NOT NULL,
		thing TEXT NOT NULL,
		run BIGINT NOT NULL,
		state TEXT NOT NULL,
		value_before BIGINT,
		value_asked BIGINT,
		value_set BIGINT,
		note TEXT,
		PRIMARY KEY (guild_id, thing)
	)`;

export const raidModeRows = rowsOf<RaidMode, "guild_id">("raid_modes", ["guild_id"]);

export const raidStepRows = rowsOf<RaidStep, "guild_id" | "thing">("raid_steps", ["guild_id", "thing"]);

/** `paused_until`: end of the invite pause in epoch milliseconds. */
type OpenRaidMode = RaidMode & { paused_until: number | null };

/** On, or still being turned off; oldest first. */
export function selectOpenRaidModes(sql: Sql): Promise<OpenRaidMode[]> {
	return sql<OpenRaidMode>`
		SELECT raid_modes.*, raid_steps.value_set AS paused_until
		FROM raid_modes LEFT JOIN raid_steps ON raid_steps.guild_id = raid_modes.guild_id
			AND raid_steps.thing = 'invites' AND raid_steps.state = 'set'
		WHERE raid_modes.wanted = 'on' OR raid_modes.ended_at IS NULL
		ORDER BY raid_modes.asked_at, raid_modes.guild_id`;
}
