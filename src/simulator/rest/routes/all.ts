// All simulated routes. Others are answered with 501.

import type { Route } from "../route.ts";
import { applicationRoutes } from "./applications.ts";
import { auditLogRoutes } from "./audit-log.ts";
import { autoModerationRoutes } from "./automod.ts";
import { banRoutes } from "./bans.ts";
import { channelRoutes } from "./channels.ts";
import { commandRoutes } from "./commands.ts";
import { emojiRoutes } from "./emojis.ts";
import { guildRoutes } from "./guilds.ts";
import { interactionRoutes } from "./interactions.ts";
import { inviteRoutes } from "./invites.ts";
import { memberRoutes } from "./members.ts";
import { messageRoutes } from "./messages.ts";
import { onboardingRoutes } from "./onboarding.ts";
import { overwriteRoutes } from "./overwrites.ts";
import { pollRoutes } from "./polls.ts";
import { reactionRoutes } from "./reactions.ts";
import { roleRoutes } from "./roles.ts";
import { scheduledEventRoutes } from "./scheduled-events.ts";
import { searchRoutes } from "./search.ts";
import { threadRoutes } from "./threads.ts";
import { userRoutes } from "./users.ts";
import { voiceRoutes } from "./voice.ts";
import { webhookRoutes } from "./webhooks.ts";

export const allRoutes: readonly Route[] = [
	...applicationRoutes,
	...userRoutes,
	...guildRoutes,
	...channelRoutes,
	...overwriteRoutes,
	...threadRoutes,
	...messageRoutes,
	...searchRoutes,
	...reactionRoutes,
	...pollRoutes,
	...memberRoutes,
	...voiceRoutes,
	...roleRoutes,
	...emojiRoutes,
	...banRoutes,
	...auditLogRoutes,
	...scheduledEventRoutes,
	...autoModerationRoutes,
	...onboardingRoutes,
	...commandRoutes,
	...interactionRoutes,
	...webhookRoutes,
	...inviteRoutes,
];
