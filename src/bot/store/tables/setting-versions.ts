// Table "setting_versions": the settings of each guild as JSON, a row for each change. The newest is in force.

import { many, rowsOf, type Sql } from "../../../lib/store/statement.ts";

/** So that each of the 50 that are shown can be compared with the one before. */
const kept = 51;

export interface SettingVersion {
	guild_id: string;
	/** From 1 up. */
	version: number;
	/** In epoch milliseconds. */
	changed_at: number;
	/** Id of the person; null for an assistant that acts in nobody's name. */
	changed_by: string | null;
	/** Such as "set_settings" or "/settings". */
	door: string;
	/** JSON values by key. */
	settings: string;
}

export const settingVersionsTable = `
	CREATE TABLE setting_versions (
		guild_id TEXT NOT NULL,
		version BIGINT NOT NULL,
		changed_at BIGINT NOT NULL,
		changed_by TEXT,
		door TEXT NOT NULL,
		settings TEXT NOT NULL,
		PRIMARY KEY (guild_id, version)
	)`;

export const settingVersionRows = rowsOf<SettingVersion, "guild_id" | "version">("setting_versions", [
	"guild_id",
	"version",
]);

/** The newest of each guild. */
export function selectCurrentSettings(sql: Sql): Promise<readonly SettingVersion[]> {
	return sql<SettingVersion>`
		SELECT * FROM setting_versions AS one
		WHERE version = (SELECT MAX(version) FROM setting_versions AS other WHERE other.guild_id = one.guild_id)`;
}

/** Rejects if the version exists. Deletes those that are too old to be shown. */
export async function insertSettingVersion(sql: Sql, row: SettingVersion): Promise<void> {
	const { guild_id, version } = row;
	await sql`INSERT INTO setting_versions ${many([row])}`;
	await sql`DELETE FROM setting_versions WHERE guild_id = ${guild_id} AND version <= ${version - kept}`;
}
