// Tables "raid_modes" and "raid_steps": the state of each guild's raid mode, and the settings that raid mode changed,
// with the values from before, which turning it off restores.

import { inBatches, many, type Sql } from "../../../lib/store/statement.ts";

/** The latest request to turn a guild's raid mode on or off. The row is kept after raid mode was turned off. */
export interface RaidMode {
	guild_id: string;
	wanted: "on" | "off";
	/** Number of the request (called run): how often somebody has turned the guild's raid mode on or off. */
	run: number;
	/** Id of the person who turned raid mode on or off; null for an MCP client with the root key. */
	moderator_id: string | null;
	/** Reason for the entries in Discord's audit log. */
	mark: string;
	/** Slow mode that raid mode sets in channels, in seconds. */
	slowmode: number;
	/** When raid mode was turned on or off, in epoch milliseconds. */
	asked_at: number;
	/** When all settings had been processed, in epoch milliseconds; null while the bot works on them. */
	ended_at: number | null;
}

/**
 * State of one setting that raid mode changes or restores.
 * "kept": not changed, because it was strict enough. "asked": a request to change it was about to be sent. "set": raid
 * mode changed it. "failed": it could not be changed. "restoring": a request to restore it was about to be sent.
 * "restored": it has its former value again. "changed": somebody else changed it in the meantime, so raid mode did not
 * touch it. "gone": the channel was deleted. "stuck": it could not be restored.
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

/**
 * A guild setting that raid mode changes, and its state. Values are seconds of slow mode, Discord's number of a
 * verification level, or the end of the pause of invites in epoch milliseconds (0 for no pause).
 */
export interface RaidStep {
	guild_id: string;
	/** The setting: "invites", "verification", or a channel id for that channel's slow mode. */
	thing: string;
	/** Number of the run (`RaidMode.run`) in which the setting got its state. */
	run: number;
	state: RaidStepState;
	/** The value before raid mode changed it; null if raid mode has not requested a change. */
	value_before: number | null;
	/** The value that raid mode requested last; null if it has not requested one. */
	value_asked: number | null;
	/** The last value that raid mode set and Discord confirmed; null if there is none. */
	value_set: number | null;
	/** Why the setting was not changed or restored, or its current value in state "changed"; otherwise null. */
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
		ended_at BIGINT
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

/** Stores a request to turn raid mode on or off. It replaces the guild's previous request. */
export async function saveRaidMode(sql: Sql, mode: RaidMode): Promise<void> {
	await sql`
		INSERT INTO raid_modes ${many([{ ...mode }])}
		ON CONFLICT (guild_id) DO UPDATE SET
			wanted = excluded.wanted, run = excluded.run, moderator_id = excluded.moderator_id, mark = excluded.mark,
			slowmode = excluded.slowmode, asked_at = excluded.asked_at, ended_at = excluded.ended_at`;
}

export async function selectRaidMode(sql: Sql, guildId: string): Promise<RaidMode | undefined> {
	const [row] = await sql<RaidMode>`
		SELECT * FROM raid_modes WHERE guild_id = ${guildId}`;
	return row;
}

/**
 * A raid mode that the bot still works on. `paused_until` is when its pause of invites ends, in epoch milliseconds;
 * null without a pause.
 */
export type OpenRaidMode = RaidMode & { paused_until: number | null };

/** Returns the raid modes that are on and those that are still being turned off, oldest first. */
export function selectOpenRaidModes(sql: Sql): Promise<OpenRaidMode[]> {
	return sql<OpenRaidMode>`
		SELECT raid_modes.*, raid_steps.value_set AS paused_until
		FROM raid_modes LEFT JOIN raid_steps ON raid_steps.guild_id = raid_modes.guild_id
			AND raid_steps.thing = 'invites' AND raid_steps.state = 'set'
		WHERE raid_modes.wanted = 'on' OR raid_modes.ended_at IS NULL
		ORDER BY raid_modes.asked_at, raid_modes.guild_id`;
}

/**
 * Stores that all settings of a run were processed. Returns false if that was stored before or there is a newer run.
 */
export async function endRaidRun(
	sql: Sql,
	{ guild_id, run }: Pick<RaidMode, "guild_id" | "run">,
	at: number,
): Promise<boolean> {
	const rows = await sql`
		UPDATE raid_modes SET ended_at = ${at}
		WHERE guild_id = ${guild_id} AND run = ${run} AND ended_at IS NULL RETURNING run`;
	return rows.length > 0;
}

export function selectRaidSteps(sql: Sql, guildId: string): Promise<RaidStep[]> {
	return sql<RaidStep>`
		SELECT * FROM raid_steps WHERE guild_id = ${guildId} ORDER BY thing`;
}

/** Stores the states of settings. Replaces the stored states of the same settings. */
export async function saveRaidSteps(sql: Sql, steps: readonly RaidStep[]): Promise<void> {
	for (const batch of inBatches(steps, 100))
		await sql`
			INSERT INTO raid_steps ${many(batch.map((step) => ({ ...step })))}
			ON CONFLICT (guild_id, thing) DO UPDATE SET
				run = excluded.run, state = excluded.state, value_before = excluded.value_before,
				value_asked = excluded.value_asked, value_set = excluded.value_set, note = excluded.note`;
}

/** Deletes a guild's stored settings that do not have a value from raid mode any more. */
export async function deleteEndedRaidSteps(sql: Sql, guildId: string): Promise<void> {
	await sql`
		DELETE FROM raid_steps WHERE guild_id = ${guildId}
			AND state IN ('kept', 'restored', 'changed', 'gone')`;
}
