// Permission overwrites of channels.
// https://discord.com/developers/docs/resources/channel#edit-channel-permissions

import { onboardingChannelIds } from "../../world/guilds/onboarding.ts";
import type { Guild, GuildChannel, Overwrite } from "../../world/state/entities.ts";
import { has, mayOverwrite, permissionsOfEveryone } from "../../world/state/permissions.ts";
import { requirePermissions } from "../access.ts";
import { apiError } from "../errors.ts";
import { choice, list, object, permissionBits, required, snowflake } from "../fields/fields.ts";
import { type Call, guildChannelOf, type ReadForm, route } from "../route.ts";

const overwriteLimit = 1000;

const overwriteFields = { type: choice(0, 1), allow: permissionBits, deny: permissionBits };

export const overwriteList = list(object({ ...overwriteFields, id: required(snowflake) }), 0, overwriteLimit);

type GivenOverwrite = ReadForm<typeof overwriteFields> & { id: string };

export function checkOverwrites(
	call: Call,
	guild: Guild,
	given: readonly GivenOverwrite[],
	channel: GuildChannel | undefined,
): Overwrite[] {
	const overwrites = given.map((one) => stored(guild, one));
	const before = channel?.permission_overwrites ?? [];
	let changed = 0n;
	for (const { id } of [...overwrites, ...before])
		changed |= changedBits(
			before.find((one) => one.id === id),
			overwrites.find((one) => one.id === id),
		);
	if (channel) requirePermissions(call, channel, "ManageRoles");
	requireOverwrite(call, guild, channel, changed);
	if (channel) keepReadable(guild, channel, overwrites);
	return overwrites;
}

/** Throws unless @everyone can view a channel. Discord requires this of channels in a guild's onboarding. */
export function requireReadable(guild: Guild, channel: GuildChannel): void {
	if (has(permissionsOfEveryone(guild, channel), "ViewChannel")) return;
	// The code is undocumented: https://github.com/discord/discord-api-docs/issues/7296
	throw apiError(350003, { message: "Onboarding channels must be readable by everyone" });
}

export function keepReadable(guild: Guild, channel: GuildChannel, overwrites: readonly Overwrite[]): void {
	if (!onboardingChannelIds(guild).has(channel.id)) return;
	requireReadable(guild, { ...channel, permission_overwrites: [...overwrites] });
}

function requireOverwrite({ actor }: Call, guild: Guild, channel: GuildChannel | undefined, bits: bigint): void {
	if (!mayOverwrite(guild, channel, actor.user.id, bits)) throw apiError("MissingPermissions");
}

function changedBits(old: Overwrite | undefined, now: Overwrite | undefined): bigint {
	const bits = (text: string | undefined) => BigInt(text ?? 0);
	return (bits(old?.allow) ^ bits(now?.allow)) | (bits(old?.deny) ^ bits(now?.deny));
}

function stored(guild: Guild, { id, type, allow, deny }: GivenOverwrite) {
	const kind = type ?? (guild.roles.has(id) ? 0 : 1);
	if (kind === 0 && !guild.roles.has(id)) throw apiError("UnknownRole");
	return { id, type: kind, allow: String(allow ?? 0n), deny: String(deny ?? 0n) };
}

const one = "/channels/:channel_id/permissions/:overwrite_id";

function overwriteOf(call: Call<typeof one>) {
	const channel = guildChannelOf(call);
	const { overwrite_id: id } = call.params;
	const old = channel.permission_overwrites.find((known) => known.id === id);
	const others = channel.permission_overwrites.filter((one) => one !== old);
	return { channel, guild: call.world.guilds.of(channel), id, old, others };
}

export const overwriteRoutes = [
	route(`PUT ${one}`, {
		needs: "ManageRoles",
		body: { ...overwriteFields, type: required(choice(0, 1)) },
		run: (call) => {
			const { channel, guild, id, old, others } = overwriteOf(call);
			const now = stored(guild, { id, ...call.body });
			requireOverwrite(call, guild, channel, changedBits(old, now));
			keepReadable(guild, channel, [...others, now]);
			call.world.channels.setOverwrite(channel, now, call.by);
		},
	}),
	route(`DELETE ${one}`, {
		needs: "ManageRoles",
		run: (call) => {
			const { channel, guild, old, others } = overwriteOf(call);
			if (!old) throw apiError("UnknownPermissionOverwrite");
			requireOverwrite(call, guild, channel, changedBits(old, undefined));
			keepReadable(guild, channel, others);
			call.world.channels.removeOverwrite(channel, old, call.by);
		},
	}),
];
