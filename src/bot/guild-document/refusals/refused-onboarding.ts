// What Discord requires of onboarding and of its channels.
// https://discord.com/developers/docs/resources/guild#modify-guild-onboarding

import { ChannelType, type Guild, GuildOnboardingMode, PermissionFlagsBits } from "discord.js";
import type { RawOverwrite } from "../../../guild-document/steps.ts";
import { channelName } from "../../discord/describe.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import { describeBits } from "../../discord/permissions.ts";
import { powerfulPermissions } from "../../discord/powers.ts";
import { oneField } from "../../discord/text.ts";
import { type CheckedStep, type GuildFacts, onboardingAfter } from "./guild-facts.ts";

const { Administrator, SendMessages, SendMessagesInThreads, ViewChannel } = PermissionFlagsBits;

const minChannels = 7;
const minWritableChannels = 5;

/** Returns the permissions that @everyone has in a channel with these overwrites, as a bit field. */
function bitsOfEveryone({ id }: Guild, facts: GuildFacts, overwrites: readonly RawOverwrite[]): bigint {
	const base = facts.roles.get(id)?.permissions ?? 0n;
	if ((base & Administrator) !== 0n) return ~0n;
	const own = overwrites.find((one) => one.id === id);
	const bits = (base & ~(own?.deny ?? 0n)) | (own?.allow ?? 0n);
	return (bits & ViewChannel) === 0n ? 0n : bits;
}

/** Returns why Discord would refuse the onboarding settings that a plan step sets; undefined if it would not. */
export function refusedOnboarding(guild: Guild, facts: GuildFacts, step: CheckedStep): string | undefined {
	const { enabled, mode, defaultIds, optionIds } = onboardingAfter(facts, step);
	const bitsIn = (id: string) => {
		const channel = facts.channels.get(id);
		const cached = guild.channels.cache.get(id);
		// Unknown: Discord checks it.
		if (cached && isObfuscated(cached)) return ~0n;
		return channel ? bitsOfEveryone(guild, facts, channel.overwrites) : 0n;
	};
	const hidden = [...defaultIds, ...optionIds].find((id) => facts.channels.has(id) && bitsIn(id) === 0n);
	if (hidden !== undefined)
		return `${labelOf(guild, hidden)} is hidden from @everyone, and channels of onboarding must not be. Remove it from onboarding, or let everyone see it.`;
	if (!enabled) return undefined;
	if (!facts.features.has("COMMUNITY"))
		return "Only communities can enable onboarding, and the guild is not one. An administrator can enable Community in the guild's settings, or the document with settings.community.";
	const isAdvanced = mode === GuildOnboardingMode.OnboardingAdvanced;
	const given = new Set(isAdvanced ? [...defaultIds, ...optionIds] : defaultIds);
	// A category stands for its channels.
	const counted = [...facts.channels].filter(
		([id, { type, parentId }]) => type !== ChannelType.GuildCategory && (given.has(id) || given.has(parentId)),
	);
	const isWritable = ([id, { type }]: (typeof counted)[number]) => {
		const hasPosts = type === ChannelType.GuildForum || type === ChannelType.GuildMedia;
		return (bitsIn(id) & (hasPosts ? SendMessagesInThreads : SendMessages)) !== 0n;
	};
	const writable = counted.filter(isWritable).length;
	if (counted.length >= minChannels && writable >= minWritableChannels) return undefined;
	const which = isAdvanced ? "default channels and channels of its questions" : "default channels";
	return `Onboarding that is enabled needs at least ${minChannels} ${which}, ${minWritableChannels} of which let everyone write. It would have ${counted.length}, of which ${writable} do.`;
}

/**
 * Returns a warning if the onboarding that a plan step sets offers roles with permissions of administrators or
 * moderators, which every new member could choose; undefined otherwise.
 */
export function noteOnGivenRoles({ roles }: GuildFacts, { kind, body: { prompts } }: CheckedStep): string | undefined {
	if (kind !== "onboarding" || !Array.isArray(prompts)) return undefined;
	const options: { role_ids?: string[] }[] = prompts.flatMap(({ options = [] }) => options);
	const ids = new Set(options.flatMap(({ role_ids = [] }) => role_ids));
	const given = [...ids].flatMap((id) => {
		const { name = "", permissions = 0n } = roles.get(id) ?? {};
		const bits = permissions & powerfulPermissions;
		return bits === 0n ? [] : `${oneField(name)} with ${describeBits(bits)}`;
	});
	return given.length > 0 ? `Every new member can choose to get the role ${given.join("; ")}.` : undefined;
}

/**
 * Returns why a plan step may not change the permission overwrites of a channel: it would hide a channel of onboarding
 * from @everyone, which Discord refuses. Returns undefined if it may. Error 350003:
 * https://github.com/discord/discord-api-docs/issues/7296
 */
export function refusedHiding(
	guild: Guild,
	facts: GuildFacts,
	{ action, guard, targetId = "" }: CheckedStep,
): string | undefined {
	const { onboarding } = facts;
	const isShown = onboarding?.defaultIds.includes(targetId) || onboarding?.optionIds.includes(targetId);
	if (action !== "edit" || !guard.overwrites || !isShown) return undefined;
	return bitsOfEveryone(guild, facts, guard.overwrites.after) === 0n
		? "It is a channel of onboarding, which Discord does not let anyone hide from @everyone. Remove it from onboarding first."
		: undefined;
}

function labelOf(guild: Guild, id: string): string {
	const channel = guild.channels.cache.get(id);
	return channel ? channelName(channel) : oneField(id.replace(/^\+/, ""));
}
