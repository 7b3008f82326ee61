// The state of the simulated Discord, with one object per noun. Each change is dispatched as an event of Discord's Gateway
// and, if someone made it, added to the audit log. Permissions are checked elsewhere.

import { Authorizations } from "./accounts/authorizations.ts";
import { Commands } from "./accounts/commands.ts";
import { Sharding } from "./accounts/sharding.ts";
import { Users } from "./accounts/users.ts";
import { Channels } from "./channels/channels.ts";
import { Stages } from "./channels/stages.ts";
import { Voice, VoiceStatuses } from "./channels/voice.ts";
import { AutoModeration } from "./guilds/automod.ts";
import { Emojis } from "./guilds/emojis.ts";
import { Guilds } from "./guilds/guilds.ts";
import { Invites } from "./guilds/invites.ts";
import { Bans, Members } from "./guilds/members.ts";
import { Onboardings, WelcomeScreens } from "./guilds/onboarding.ts";
import { Pictures } from "./guilds/pictures.ts";
import { Roles } from "./guilds/roles.ts";
import { ScheduledEvents } from "./guilds/scheduled-events.ts";
import { Webhooks } from "./guilds/webhooks.ts";
import { Messages } from "./messages/messages.ts";
import { Polls } from "./messages/polls.ts";
import { Reactions } from "./messages/reactions.ts";
import type { Account } from "./state/entities.ts";
import { State } from "./state/state.ts";

export class World {
	readonly state = new State();
	readonly users = new Users(this.state);
	readonly accounts: ReadonlyMap<string, Account> = this.state.accounts;
	readonly sharding = new Sharding(this.state.guilds);
	readonly authorizations = new Authorizations(this.state);
	readonly commands = new Commands(this.state.newId);
	readonly messages = new Messages(this.state);
	readonly threads = this.messages.threads;
	readonly reactions = new Reactions(this.state);
	readonly polls = new Polls(this.state, this.messages);
	readonly voice = new Voice(this.state);
	readonly voiceStatuses = new VoiceStatuses(this.state);
	readonly stages = new Stages(this.state);
	readonly channels = new Channels(this.state, this.messages, this.voice, this.stages);
	readonly scheduledEvents = new ScheduledEvents(this.state);
	readonly pictures = new Pictures();
	readonly roles = new Roles(this.state, this.pictures);
	readonly guilds = new Guilds(this.state, this);
	readonly members = new Members(this.state, this);
	readonly bans = new Bans(this.state, this.members, this.messages);
	readonly emojis = new Emojis(this.state, this.pictures);
	readonly webhooks = new Webhooks(this.state);
	readonly invites = new Invites(this.state);
	readonly autoModeration = new AutoModeration(this.state);
	readonly welcomeScreens = new WelcomeScreens(this.state);
	readonly onboardings = new Onboardings(this.state);
}
