// Guilds: adding, editing and removing them, and what a bot receives when it joins one.
//
// A gap: The verification level of a guild stops nobody from writing. A guild has no splash, banner and discovery. A
// new community gets no messages from Discord, and no NEWS. Settings keep a deleted channel.

import type { Stages } from "../channels/stages.ts";
import type { Messages } from "../messages/messages.ts";
import type { EventPayloads } from "../state/api-types.ts";
import { everyonePermissions, newGuildSettings, newMember, newRole, noOnboarding } from "../state/defaults.ts";
import {
	type Channel,
	type Guild,
	type GuildPlace,
	type GuildSettings,
	inGuild,
	type Member,
	type User,
} from "../state/entities.ts";
import * as serialize from "../state/serialize.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";
import type { Pictures } from "./pictures.ts";
import type { ScheduledEvents } from "./scheduled-events.ts";

type GuildChanges = Changes<
	GuildSettings & Pick<Guild, "owner_id" | "features" | "premium_tier" | "mfa_level" | "incidents_data">
>;

interface Parts {
	pictures: Pictures;
	messages: Messages;
	stages: Stages;
	scheduledEvents: ScheduledEvents;
}

export class Guilds {
	constructor(
		private readonly state: State,
		private readonly parts: Parts,
	) {}

	get(id: string): Guild | undefined {
		return this.state.guilds.get(id);
	}

	values(): IterableIterator<Guild> {
		return this.state.guilds.values();
	}

	of(channel: GuildPlace): Guild;
	of(channel: Channel): Guild | undefined;
	of(channel: Channel): Guild | undefined {
		return inGuild(channel) ? this.state.guildOf(channel) : undefined;
	}

	add(given: { name: string; owner: User; everyone?: bigint; id?: string | undefined }): Guild {
		const id = given.id ?? this.state.newId();
		const { owner } = given;
		const everyone = newRole(id);
		everyone.name = "@everyone";
		everyone.permissions = String(given.everyone ?? everyonePermissions);
		const guild: Guild = {
			id,
			name: given.name,
			owner_id: owner.id,
			...newGuildSettings,
			features: [],
			premium_tier: 0,
			mfa_level: 0,
			incidents_data: null,
			welcomeScreen: null,
			onboarding: noOnboarding,
			roles: new Map([[id, everyone]]),
			channels: new Map(),
			threads: new Map(),
			members: new Map([[owner.id, newMember(owner)]]),
			countedMembers: 0,
			bans: new Map(),
			emojis: new Map(),
			voiceStates: new Map(),
			auditLog: [],
		};
		this.state.guilds.set(id, guild);
		if (owner.bot) this.dispatchCreate(guild, owner);
		return guild;
	}

	edit(guild: Guild, changes: GuildChanges, by?: Attribution): void {
		const before = { ...guild };
		apply(guild, changes);
		// A guess (cdn-deleted): the CDN has a former icon no more.
		if (guild.icon !== before.icon) this.parts.pictures.delete(`icons/${guild.id}/${before.icon}`);
		this.state.dispatchToGuild("GUILD_UPDATE", guild, serialize.guild(guild));
		this.state.audit(guild, by, "GuildUpdate", guild.id, { before: auditFields(before), after: auditFields(changes) });
	}

	remove(guild: Guild): void {
		const { id } = guild;
		this.state.dispatchToGuild("GUILD_DELETE", guild, { id });
		for (const id of [...guild.channels.keys(), ...guild.threads.keys()]) {
			this.state.channels.delete(id);
			this.parts.messages.removeChannel(id);
		}
		this.state.guilds.delete(guild.id);
	}

	dispatchCreate(guild: Guild, bot: User): void {
		this.state.dispatchToGuild("GUILD_CREATE", guild, this.serializeFor(guild, bot), { only: [bot.id] });
	}

	/** For GUILD_CREATE. Default `members`: the bot and those in voice channels. Throws if the bot is not in the guild. */
	serializeFor(guild: Guild, bot: User, members?: Iterable<Member>): EventPayloads["GUILD_CREATE"] {
		const { messages, stages, scheduledEvents } = this.parts;
		const own = guild.members.get(bot.id);
		if (!own) throw new Error(`the bot ${bot.username} is not in the guild ${guild.name}`);
		const inVoice = [...guild.voiceStates.keys()].flatMap((id) => guild.members.get(id) ?? []);
		const shown = [...(members ?? new Set([own, ...inVoice]))];
		return {
			...serialize.guild(guild),
			joined_at: own.joined_at,
			large: serialize.memberCount(guild) > 50,
			unavailable: false,
			member_count: serialize.memberCount(guild),
			members: shown.map(serialize.member),
			channels: Array.from(guild.channels.values(), (channel) => serialize.guildChannelFor(guild, channel, bot.id)),
			threads: messages.threads.active(guild, bot.id).map((thread) => serialize.thread(thread, bot.id)),
			presences: shown.map((member) => ({ ...serialize.presence(member), guild_id: guild.id })),
			voice_states: inVoice.map((one) => serialize.voiceState(guild, one)),
			stage_instances: stages.in(guild),
			guild_scheduled_events: scheduledEvents.in(guild).map((event) => scheduledEvents.serialize(event)),
			soundboard_sounds: [],
		};
	}
}

function auditFields({ icon, ...rest }: GuildChanges) {
	return { ...rest, icon_hash: icon };
}
