// What voice channels say under their name. Discord clears it when everyone has left; here it stays.

import { AuditLogEvent } from "discord.js";
import type { GuildChannel } from "../state/entities.ts";
import type { Attribution, State } from "../state/state.ts";

/** The statuses of all voice channels that have one. It is no field of the channel, as Discord sends it to bots. */
export class VoiceStatuses {
	/** By the id of the channel. */
	readonly #statuses = new Map<string, string>();
	readonly #state: State;

	constructor(state: State) {
		this.#state = state;
	}

	/** What the channel says; null for nothing. */
	of({ id }: GuildChannel): string | null {
		return this.#statuses.get(id) ?? null;
	}

	/** From now on it says this; null for nothing. */
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
