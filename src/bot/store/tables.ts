// The tables of a bot, as its migrations. tables/ has a file for each thing that the bot keeps.

import type { Migration } from "../../lib/store/migrations.ts";
import { approvalTables } from "./tables/approvals.ts";
import { casesTables } from "./tables/cases.ts";
import { channelLockTables } from "./tables/channel-locks.ts";
import { chargebacksTable } from "./tables/chargebacks.ts";
import { chatTables } from "./tables/chat.ts";
import { donatorListsTable } from "./tables/donators.ts";
import { guildBackupTables } from "./tables/guild-backups.ts";
import { guildJobTables } from "./tables/guild-jobs.ts";
import { incidentTables } from "./tables/incidents.ts";
import { joinTables } from "./tables/joins.ts";
import { memberActivityTable } from "./tables/member-activity.ts";
import { privacyTables } from "./tables/privacy.ts";
import { raidModesTables } from "./tables/raid-modes.ts";
import { reportsTables } from "./tables/reports.ts";
import { settingVersionsTable } from "./tables/setting-versions.ts";
import { spamTables } from "./tables/spam-incidents.ts";
import { tempBansTable } from "./tables/temp-bans.ts";
import { toolCallsTable } from "./tables/tool-calls.ts";

const tables = [
	approvalTables,
	channelLockTables,
	incidentTables,
	guildBackupTables,
	guildJobTables,
	joinTables,
	chatTables,
	toolCallsTable,
	donatorListsTable,
	chargebacksTable,
	memberActivityTable,
	settingVersionsTable,
	tempBansTable,
	casesTables,
	reportsTables,
	raidModesTables,
	spamTables,
	privacyTables,
];

export const migrations: readonly Migration[] = [{ number: 1, name: "tables of the bot", text: tables.join(";") }];
