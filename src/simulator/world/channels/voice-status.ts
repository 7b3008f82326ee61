// Voice channel statuses. Discord clears a status when everyone has left; the simulator does not.

import { AuditLogEvent } from "discord.js";
import type { GuildChannel } from "../state/entities.ts";
import type { Attribution, State } from "../state/state.ts";

/** The status texts of voice channels. Discord's channel objects do not contain them. */
export class VoiceStatuses {
	readonly #statuses = new Map<string, string>();

	constructor(private readonly state: State) {}

	/** The status text of a voice channel, or null if it has none. */
	of({ id }: GuildChannel): string | null {
		return this.#statuses.get(id) ?? null;
	}

	set(channel: GuildChannel, status: string | null, by?: Attribution): void {
		const { id, guild_id } = channel;
		if (status === null) this.#statuses.delete(id);
		else this.#statuses.set(id, status);
		const guild = this.state.guildOf(channel);
		this.state.dispatchToGuild("VOICE_CHANNEL_STATUS_UPDATE", guild, { id, guild_id, status });
		const verb = status === null ? "Delete" : "Create";
		const action = AuditLogEvent[`VoiceChannelStatus${verb}`];
		const options = { channel_id: id, ...(status !== null && { status }) };
		this.state.audit(guild, by, action, id, { options });
	}
}
