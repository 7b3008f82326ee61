// All migrations, in the order of their numbers. Each table has its own file in this folder.

import { approvalsTable } from "./approvals.ts";
import { channelLocksTable } from "./channel-locks.ts";
import { chargebacksTable } from "./chargebacks.ts";
import { conversationsTable } from "./conversations.ts";
import type { Migration } from "./database/migrations.ts";
import { donatorListsTable } from "./donators.ts";
import { guildBackupsTables } from "./guild-backups.ts";
import { guildDeletionMarksTable } from "./guild-deletion-marks.ts";
import { guildJobsTables } from "./guild-jobs.ts";
import { guildPicturesTables } from "./guild-pictures.ts";
import { guildPlansTable } from "./guild-plans.ts";
import { guildSettingsTable } from "./guild-settings.ts";
import { joinRolesTables } from "./join-roles.ts";
import { memberActivityTable } from "./member-activity.ts";
import { secretsTable } from "./secrets.ts";
import { tempBansTable } from "./temp-bans.ts";
import { toolCallsByPrincipal, toolCallsTable } from "./tool-calls.ts";

export const migrations: readonly Migration[] = [
	toolCallsTable,
	donatorListsTable,
	chargebacksTable,
	channelLocksTable,
	joinRolesTables,
	memberActivityTable,
	conversationsTable,
	guildSettingsTable,
	tempBansTable,
	guildPicturesTables,
	guildBackupsTables,
	guildPlansTable,
	guildJobsTables,
	guildDeletionMarksTable,
	approvalsTable,
	toolCallsByPrincipal,
	secretsTable,
];
