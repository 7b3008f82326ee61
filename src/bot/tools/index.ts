// Every tool there is. The order is the order of tools/list.

import { listRecentToolCalls } from "./audit.ts";
import {
	createChannel,
	editChannel,
	setChannelPermissions,
} from "./channels.ts";
import { deleteMessage, deleteMessages } from "./deletions.ts";
import {
	deletePrivateMessage,
	editPrivateMessage,
	readPrivateMessages,
	sendPrivateMessage,
} from "./direct-messages.ts";
import { listGuilds } from "./guilds.ts";
import {
	getMember,
	listMembers,
	lookupUserByName,
	setNickname,
} from "./members.ts";
import { editMessage, sendMessage } from "./messages.ts";
import { ban, getBans, kick, unban } from "./moderation.ts";
import { listPins, pinMessage, unpinMessage } from "./pins.ts";
import {
	addReaction,
	clearReactions,
	getReactions,
	removeReaction,
} from "./reactions.ts";
import { getMessage, getRecentMessages } from "./reading.ts";
import { editRole } from "./roles.ts";
import { searchMessages } from "./search.ts";
import { removeTimeout, timeout } from "./timeouts.ts";

export const tools = [
	listGuilds,
	listMembers,
	lookupUserByName,
	getMember,
	sendMessage,
	editMessage,
	deleteMessage,
	deleteMessages,
	getRecentMessages,
	getMessage,
	searchMessages,
	addReaction,
	removeReaction,
	getReactions,
	clearReactions,
	pinMessage,
	unpinMessage,
	listPins,
	sendPrivateMessage,
	readPrivateMessages,
	editPrivateMessage,
	deletePrivateMessage,
	createChannel,
	editChannel,
	setChannelPermissions,
	editRole,
	ban,
	unban,
	getBans,
	kick,
	timeout,
	removeTimeout,
	setNickname,
	listRecentToolCalls,
];
