// Every tool there is. The order is the order of tools/list.

import { listRecentToolCalls } from "./audit.ts";
import {
	createChannel,
	editChannel,
	setChannelPermissions,
} from "./channels.ts";
import { listGuilds } from "./guilds.ts";
import { listMembers, lookupUserByName } from "./members.ts";
import { deleteMessages, sendMessage } from "./messages.ts";
import { ban } from "./moderation.ts";
import { editRole } from "./roles.ts";

export const tools = [
	listGuilds,
	listMembers,
	lookupUserByName,
	sendMessage,
	deleteMessages,
	createChannel,
	editChannel,
	setChannelPermissions,
	editRole,
	ban,
	listRecentToolCalls,
];
