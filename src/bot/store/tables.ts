// The tables of a bot, as its migrations. Each table has its own file in this folder.

import type { Migration } from "../../lib/store/migrations.ts";
import { announcementsTable } from "./tables/announcements.ts";
import { approvalsTable } from "./tables/approvals.ts";
import { askedPlansTable } from "./tables/asked-plans.ts";
import { auditLogMarksTable } from "./tables/audit-log-marks.ts";
import { casesTables } from "./tables/cases.ts";
import { channelLocksTable } from "./tables/channel-locks.ts";
import { chargebacksTable } from "./tables/chargebacks.ts";
import { chatUseTable } from "./tables/chat-use.ts";
import { conversationsTable } from "./tables/conversations.ts";
import { donatorListsTable } from "./tables/donators.ts";
import { guildBackupsTables } from "./tables/guild-backups.ts";
import { guildJobsTables } from "./tables/guild-jobs.ts";
import { guildMessagesTable } from "./tables/guild-messages.ts";
import { guildPicturesTables } from "./tables/guild-pictures.ts";
import { guildPlansTable } from "./tables/guild-plans.ts";
import { incidentsTable } from "./tables/incidents.ts";
import { joinRolesTables } from "./tables/join-roles.ts";
import { joinsTable } from "./tables/joins.ts";
import { memberActivityTable } from "./tables/member-activity.ts";
import { privacyTables } from "./tables/privacy.ts";
import { raidModesTables } from "./tables/raid-modes.ts";
import { reportsTables } from "./tables/reports.ts";
import { routinesTable } from "./tables/routines.ts";
import { secretsTable } from "./tables/secrets.ts";
import { settingVersionsTable } from "./tables/setting-versions.ts";
import { spamTables } from "./tables/spam-incidents.ts";
import { tempBansTable } from "./tables/temp-bans.ts";
import { toolCallsTable } from "./tables/tool-calls.ts";
import { undoneEntriesTable } from "./tables/undone-entries.ts";

const tables = [
	toolCallsTable,
	donatorListsTable,
	chargebacksTable,
	channelLocksTable,
	joinRolesTables,
	joinsTable,
	memberActivityTable,
	conversationsTable,
	chatUseTable,
	settingVersionsTable,
	tempBansTable,
	guildPicturesTables,
	guildBackupsTables,
	guildPlansTable,
	guildJobsTables,
	auditLogMarksTable,
	approvalsTable,
	secretsTable,
	casesTables,
	reportsTables,
	raidModesTables,
	spamTables,
	announcementsTable,
	guildMessagesTable,
	undoneEntriesTable,
	incidentsTable,
	privacyTables,
	askedPlansTable,
	routinesTable,
];

export const migrations: readonly Migration[] = [{ number: 1, name: "tables of the bot", text: tables.join(";") }];
