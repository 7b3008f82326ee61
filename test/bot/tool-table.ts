// The table of test/bot/tool-table.test.ts: a row for every tool. It says how a call of it succeeds, and what stands in
// its way; the test does the rest. The rows of a noun stand in a file.

import { auditRows } from "./tool-rows/audit.ts";
import { automodRows } from "./tool-rows/automod.ts";
import { bulkRows } from "./tool-rows/bulk.ts";
import { channelsRows } from "./tool-rows/channels.ts";
import { deletionsRows } from "./tool-rows/deletions.ts";
import { diagnosticsRows } from "./tool-rows/diagnostics.ts";
import { directMessagesRows } from "./tool-rows/direct-messages.ts";
import { emojisRows } from "./tool-rows/emojis.ts";
import { forwardingRows } from "./tool-rows/forwarding.ts";
import { guildDocumentRows } from "./tool-rows/guild-documents.ts";
import { guildsRows } from "./tool-rows/guilds.ts";
import { incidentsRows } from "./tool-rows/incidents.ts";
import { invitesRows } from "./tool-rows/invites.ts";
import { locksRows } from "./tool-rows/locks.ts";
import { membersRows } from "./tool-rows/members.ts";
import { messagesRows } from "./tool-rows/messages.ts";
import { moderationRows } from "./tool-rows/moderation.ts";
import { overwritesRows } from "./tool-rows/overwrites.ts";
import { pinsRows } from "./tool-rows/pins.ts";
import { pollsRows } from "./tool-rows/polls.ts";
import { reactionsRows } from "./tool-rows/reactions.ts";
import { readingRows } from "./tool-rows/reading.ts";
import { rolesRows } from "./tool-rows/roles.ts";
import type { Row } from "./tool-rows/scene.ts";
import { scheduledEventsRows } from "./tool-rows/scheduled-events.ts";
import { stagesRows } from "./tool-rows/stages.ts";
import { threadsRows } from "./tool-rows/threads.ts";
import { timeoutsRows } from "./tool-rows/timeouts.ts";
import { voiceRows } from "./tool-rows/voice.ts";
import { webhooksRows } from "./tool-rows/webhooks.ts";

export const table: Record<string, Row> = {
	...guildsRows,
	...guildDocumentRows,
	...membersRows,
	...messagesRows,
	...deletionsRows,
	...readingRows,
	...reactionsRows,
	...pinsRows,
	...forwardingRows,
	...pollsRows,
	...threadsRows,
	...directMessagesRows,
	...channelsRows,
	...overwritesRows,
	...locksRows,
	...voiceRows,
	...stagesRows,
	...rolesRows,
	...moderationRows,
	...timeoutsRows,
	...scheduledEventsRows,
	...automodRows,
	...incidentsRows,
	...emojisRows,
	...bulkRows,
	...auditRows,
	...diagnosticsRows,
	...invitesRows,
	...webhooksRows,
};
