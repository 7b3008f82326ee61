// Every tool there is. The order is the order of tools/list.

import { listGuilds } from "./guilds.ts";
import { lookupUserByName } from "./members.ts";
import { sendMessage } from "./messages.ts";

export const tools = [listGuilds, lookupUserByName, sendMessage];
