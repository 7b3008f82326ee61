// Stage instances: the live stages and their topics. A stage without speakers stays live.
// https://discord.com/developers/docs/resources/stage-instance

import type { Guild, GuildChannel, StageInstance } from "../state/entities.ts";
import type { Verb } from "../state/events.ts";
import { GuildObjects } from "../state/guild-objects.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";

type StageChanges = Changes<Pick<StageInstance, "topic" | "privacy_level">>;

export class Stages extends GuildObjects<StageInstance> {
	constructor(state: State) {
		super(state, "StageInstance");
	}

	of(channel: GuildChannel): StageInstance | undefined {
		return this.in(this.state.guildOf(channel)).find(({ channel_id }) => channel_id === channel.id);
	}

	start({ id, guild_id }: GuildChannel, given: StageChanges & { topic: string }, by?: Attribution): StageInstance {
		const stage: StageInstance = {
			id: this.state.newId(),
			guild_id,
			channel_id: id,
			topic: given.topic,
			// GUILD_ONLY
			privacy_level: 2,
			discoverable_disabled: true,
			guild_scheduled_event_id: null,
		};
		apply(stage, given);
		return this.insert(stage, stage, by);
	}

	protected dispatch(verb: Verb, guild: Guild, stage: StageInstance): void {
		this.state.dispatchToGuild(`STAGE_INSTANCE_${verb}`, guild, { ...stage });
	}

	protected logged({ topic, privacy_level }: StageChanges): object {
		return { topic, privacy_level };
	}

	protected override optionsOf({ channel_id }: StageInstance) {
		return { channel_id };
	}
}
