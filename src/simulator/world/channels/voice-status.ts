// Voice channel statuses. Discord clears a status when everyone has left; the simulator does not.

import { AuditLogEvent } from "discord.js";
import type { GuildChannel } from "../state/entities.ts";
import type { Attribution, State } from "../state/state.ts";

/** The statuses by channel. Bots do not see them in the channel object. */
export class VoiceStatuses {
	/** By channel id. */
	readonly #statuses = new Map<string, string>();
	readonly #state: State;

	constructor(state: State) {
		this.#state = state;
	}

	/** The status of a channel, or null. */
	of({ id }: GuildChannel): string | null {
		return this.#statuses.get(id) ?? null;
	}

	/** Sets the status of a channel; null clears it. */
	set(channel: GuildChannel, status: string | null, by?: Attribution): void {
		if (status === null) this.#statuses.delete(channel.id);
		else this.#statuses.set(channel.id, status);
		const guild = this.#state.guildOf(channel);
		this.#state.dispatchToGuild("VOICE_CHANNEL_STATUS_UPDATE", guild, () => ({
			id: channel.id,
			guild_id: guild.id,
			status,
		}));
		const { VoiceChannelStatusCreate, VoiceChannelStatusDelete } =
			AuditLogEvent;
		this.#state.audit(
			guild,
			by,
			status === null ? VoiceChannelStatusDelete : VoiceChannelStatusCreate,
			channel.id,
			{
				options: {
					channel_id: channel.id,
					...(status === null ? {} : { status }),
				},
			},
		);
	}
}
