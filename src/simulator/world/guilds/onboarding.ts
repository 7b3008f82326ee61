// Onboarding of guilds: default channels, and prompts whose options give roles and channels. Members do not go through it.
// https://discord.com/developers/docs/resources/guild#guild-onboarding-object
//
// A gap: New members do not go through onboarding and get no roles from it. A deleted emoji stays in it and in the
// welcome screen.

import {
	type APIGuildOnboarding,
	ChannelType,
	GuildOnboardingMode as Mode,
	PermissionFlagsBits as Permission,
	RoleFlags,
} from "discord.js";
import type { Sent } from "../state/api-types.ts";
import { type Guild, type GuildChannel, holdsPosts, type Onboarding, type WelcomeScreen } from "../state/entities.ts";
import { has, permissionsOfEveryone } from "../state/permissions.ts";
import * as serialize from "../state/serialize.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";

export type Prompt = Onboarding["prompts"][number];
export type PromptOption = Prompt["options"][number];

const defaultChannelMinimum = 7;
const writableChannelMinimum = 5;

export class Onboardings {
	constructor(private readonly state: State) {}

	/** A guess (onboarding-deleted): Discord leaves deleted channels and roles out, too, and keeps onboarding enabled. */
	of({ onboarding, channels, roles }: Guild): Onboarding {
		const option = (one: PromptOption): PromptOption => ({
			...one,
			channel_ids: one.channel_ids.filter((id) => channels.has(id)),
			role_ids: one.role_ids.filter((id) => roles.has(id)),
		});
		return {
			...onboarding,
			default_channel_ids: onboarding.default_channel_ids.filter((id) => channels.has(id)),
			prompts: onboarding.prompts.map((prompt) => ({ ...prompt, options: prompt.options.map(option) })),
		};
	}

	serialize(guild: Guild): Sent<APIGuildOnboarding> {
		return { guild_id: guild.id, ...this.of(guild) };
	}

	edit(guild: Guild, changes: Changes<Onboarding>, by?: Attribution): void {
		const before = this.of(guild);
		const prompts = changes.prompts?.map((one) => this.#withIds(one, before.prompts));
		const after = { ...before };
		apply(after, { ...changes, prompts });
		guild.onboarding = after;
		this.#flagRoles(guild);
		this.state.dispatchToGuild("GUILD_UPDATE", guild, serialize.guild(guild));
		this.#audit(guild, before, by);
	}

	#withIds(prompt: Prompt, known: readonly Prompt[]): Prompt {
		const old = known.find(({ id }) => id === prompt.id);
		const isKnown = (id: string) => old?.options.some((one) => one.id === id);
		return {
			...prompt,
			id: old?.id ?? this.state.newId(),
			options: prompt.options.map((option) => ({ ...option, id: isKnown(option.id) ? option.id : this.state.newId() })),
		};
	}

	/**
	 * Sets the flag IN_PROMPT of those roles that members can choose in the guild's onboarding, and clears it for other
	 * roles: https://discord.com/developers/docs/topics/permissions#role-object-role-flags
	 * A guess (onboarding-role-events): Discord sends an event for each role whose flag changes.
	 */
	#flagRoles(guild: Guild): void {
		const chosen = new Set(guild.onboarding.prompts.flatMap(({ options }) => options.flatMap((one) => one.role_ids)));
		for (const role of guild.roles.values()) {
			const others = role.flags & ~RoleFlags.InPrompt;
			const flags = chosen.has(role.id) ? others | RoleFlags.InPrompt : others;
			if (flags === role.flags) continue;
			role.flags = flags;
			this.state.dispatchToGuild("GUILD_ROLE_UPDATE", guild, { guild_id: guild.id, role });
		}
	}

	/**
	 * Adds the audit log entries about an edit of the guild's onboarding. There are no separate entries about deleted
	 * prompts: https://github.com/discord/discord-api-docs/issues/6892
	 * A guess (onboarding-audit): Discord's entries have the same target and the same fields.
	 */
	#audit(guild: Guild, before: Onboarding, by: Attribution | undefined): void {
		for (const { id, ...after } of guild.onboarding.prompts) {
			const old = before.prompts.find((one) => one.id === id);
			const action = old ? "OnboardingPromptUpdate" : "OnboardingPromptCreate";
			this.state.audit(guild, by, action, id, { before: old, after });
		}
		this.state.audit(guild, by, "OnboardingUpdate", guild.id, { before, after: guild.onboarding });
	}
}

export function onboardingChannelIds({ onboarding }: Guild): Set<string> {
	return new Set([
		...onboarding.default_channel_ids,
		...onboarding.prompts.flatMap(({ options }) => options.flatMap(({ channel_ids }) => channel_ids)),
	]);
}

/**
 * Whether a guild lacks what enabling this onboarding requires: being a community, and giving new members enough
 * channels. https://discord.com/developers/docs/resources/guild#modify-guild-onboarding
 * A guess (onboarding-community): Discord requires a community.
 */
export function isBelowRequirements(guild: Guild, onboarding: Onboarding): boolean {
	return (
		!guild.features.includes("COMMUNITY") ||
		countChannels(guild, onboarding, isReadable) < defaultChannelMinimum ||
		countChannels(guild, onboarding, isWritable) < writableChannelMinimum
	);
}

function isReadable(guild: Guild, channel: GuildChannel): boolean {
	return channel.type !== ChannelType.GuildCategory && has(permissionsOfEveryone(guild, channel), "ViewChannel");
}

function isWritable(guild: Guild, channel: GuildChannel): boolean {
	const needed = holdsPosts(channel) ? Permission.SendMessagesInThreads : Permission.SendMessages;
	return isReadable(guild, channel) && has(permissionsOfEveryone(guild, channel), needed);
}

/**
 * Counts the channels that every new member gets through onboarding and for which `passes` returns true. A category in
 * the onboarding stands for all channels in it.
 * A guess (onboarding-mode): in the mode ONBOARDING_ADVANCED, each required prompt counts with the answer that adds the
 * fewest channels.
 */
function countChannels(
	guild: Guild,
	{ default_channel_ids, prompts, mode }: Onboarding,
	passes: (guild: Guild, channel: GuildChannel) => boolean,
): number {
	const idsOf = (ids: readonly string[]) =>
		[...guild.channels.values()]
			.filter(({ id, parent_id }) => ids.includes(id) || ids.includes(parent_id ?? ""))
			.filter((channel) => passes(guild, channel))
			.map(({ id }) => id);
	const counted = new Set(idsOf(default_channel_ids));
	if (mode !== Mode.OnboardingAdvanced) return counted.size;
	for (const { options, required, in_onboarding } of prompts) {
		if (!required || !in_onboarding) continue;
		const added = options.map(({ channel_ids }) => idsOf(channel_ids).filter((id) => !counted.has(id)));
		const [fewest = []] = added.sort((a, b) => a.length - b.length);
		for (const id of fewest) counted.add(id);
	}
	return counted.size;
}

const feature = "WELCOME_SCREEN_ENABLED";

export class WelcomeScreens {
	constructor(private readonly state: State) {}

	/** A guild's welcome screen; undefined if it was never edited. Deleted channels are left out. */
	of({ welcomeScreen, channels }: Guild): WelcomeScreen | undefined {
		if (welcomeScreen === null) return undefined;
		const { description, welcome_channels } = welcomeScreen;
		return { description, welcome_channels: welcome_channels.filter(({ channel_id }) => channels.has(channel_id)) };
	}

	/** Without channels it counts as disabled: https://github.com/discord/discord-api-docs/pull/4344 */
	isEnabled(guild: Guild): boolean {
		return guild.features.includes(feature) && (this.of(guild)?.welcome_channels.length ?? 0) > 0;
	}

	/** A guess (welcome-audit): Discord adds the same entry to the audit log. */
	edit(guild: Guild, changes: Changes<WelcomeScreen & { enabled: boolean }>, by?: Attribution): WelcomeScreen {
		const old = this.of(guild);
		const before = { ...old, enabled: guild.features.includes(feature) };
		const { enabled: wanted = before.enabled, ...texts } = changes;
		const screen: WelcomeScreen = { description: null, welcome_channels: [], ...old };
		apply(screen, texts);
		const enabled = wanted && screen.welcome_channels.length > 0;
		guild.welcomeScreen = screen;
		if (enabled !== before.enabled) {
			const others = guild.features.filter((one) => one !== feature);
			guild.features = enabled ? [...others, feature] : others;
			this.state.dispatchToGuild("GUILD_UPDATE", guild, serialize.guild(guild));
		}
		this.state.audit(guild, by, "GuildUpdate", guild.id, { before, after: { ...screen, enabled } });
		return screen;
	}
}
