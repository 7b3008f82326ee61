// Voice states: joining, moving between and leaving voice channels. There is no audio.
//
// A gap: There is no voice audio. A bot that asks on the socket to join a voice channel is ignored. There are no stage
// speakers, regions and AFK channels; a status stays when everyone has left.

import { ChannelType } from "discord.js";
import { newVoice } from "../state/defaults.ts";
import { type Guild, type GuildChannel, isVoice, type Member, type VoiceState } from "../state/entities.ts";
import * as serialize from "../state/serialize.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";

type OwnVoice = Changes<Pick<VoiceState, "self_deaf" | "self_mute" | "self_stream" | "self_video">>;

export class Voice {
	constructor(private readonly state: State) {}

	/** Leaves any other voice channel, in all guilds. Throws if `channel` is no voice or stage channel. */
	join(channel: GuildChannel, member: Member, given: OwnVoice = {}, by?: Attribution): void {
		if (!isVoice(channel)) throw new Error(`the channel ${channel.name} is not a voice channel`);
		const guild = this.state.guildOf(channel);
		const { id } = member.user;
		for (const other of this.state.guilds.values()) {
			const left = other.members.get(id);
			if (other !== guild && left) this.leave(other, left);
		}
		const known = guild.voiceStates.get(id);
		const state: VoiceState = {
			user_id: id,
			session_id: known?.session_id ?? this.state.newId(),
			...newVoice,
			...known,
			channel_id: channel.id,
			// On a stage everyone starts in the audience.
			suppress: channel.type === ChannelType.GuildStageVoice,
			request_to_speak_timestamp: null,
		};
		apply(state, given);
		guild.voiceStates.set(id, state);
		this.dispatch(guild, member);
		this.state.auditCounted(guild, by, "MemberMove", null, channel.id);
	}

	leave(guild: Guild, member: Member, by?: Attribution): void {
		if (!guild.voiceStates.delete(member.user.id)) return;
		this.dispatch(guild, member);
		this.state.auditCounted(guild, by, "MemberDisconnect", null);
	}

	dispatch(guild: Guild, member: Member): void {
		this.state.dispatchToGuild("VOICE_STATE_UPDATE", guild, serialize.memberVoiceState(guild, member));
	}
}

/** The status texts of voice channels. Discord's channel objects do not contain them. */
export class VoiceStatuses {
	readonly #statuses = new Map<string, string>();

	constructor(private readonly state: State) {}

	of({ id }: GuildChannel): string | null {
		return this.#statuses.get(id) ?? null;
	}

	set(channel: GuildChannel, status: string | null, by?: Attribution): void {
		const { id, guild_id } = channel;
		if (status === null) this.#statuses.delete(id);
		else this.#statuses.set(id, status);
		const guild = this.state.guildOf(channel);
		this.state.dispatchToGuild("VOICE_CHANNEL_STATUS_UPDATE", guild, { id, guild_id, status });
		const action = `VoiceChannelStatus${status === null ? "Delete" : "Create"}` as const;
		const options = { channel_id: id, ...(status !== null && { status }) };
		this.state.audit(guild, by, action, id, { options });
	}
}
