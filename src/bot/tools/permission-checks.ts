// Effective permissions of roles and members, and who has a permission.

import {
	type APIThreadMember,
	ChannelType,
	type Guild,
	type GuildBasedChannel,
	GuildMember,
	makeURLSearchParams,
	type Role,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { channelsFromTop } from "../../discord/channel-order.ts";
import { channelName, memberName, nowIs, roleName } from "../../discord/describe.ts";
import {
	computePermissions,
	describeCause,
	holderOf,
	type Place,
	placeOf,
} from "../../discord/effective-permissions.ts";
import { anyChannel, member, requireKnownMembers, role } from "../../discord/find.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import { permissionHolders } from "../../discord/permission-checks/holder-lines.ts";
import { permissionMatrix } from "../../discord/permission-checks/matrix.ts";
import { appliesTo, checkedIn, kindOf } from "../../discord/permission-checks/places.ts";
import { bitsByName, permissionNames } from "../../discord/permissions.ts";
import { resultLines } from "../../discord/text.ts";
import { flag, found, guild_id, list } from "../tool/arguments/arguments.ts";
import { readPermissions } from "../tool/arguments/permissions.ts";
import { readTool } from "../tool/define.ts";

export const checkPermissions = readTool({
	name: "check_permissions",
	toolset: "diagnostics",
	offered: "listed",
	title: "Check permissions",
	description:
		"What members or roles may do in channels (none: in the guild). Without members and roles: who may, and why.",
	intents: ["GuildMembers"],
	input: {
		guild_id,
		user_ids: v.optional(list(found(member, "member"), 0, 50, "Members.")),
		role_ids: v.optional(list(found(role, "role"), 0, 250, "Roles; @everyone has the guild's id.")),
		channel_ids: v.optional(list(found(anyChannel, "channel or thread"), 0, 500, "Channels, threads.")),
		all_channels: v.optional(flag("All channels."), false),
		permissions: v.optional(list(v.string(), 0, 64, "By name: VIEW_CHANNEL. Default: the most important.")),
	},
	person: {
		permissions: [
			{
				permission: "ManageRoles",
				with: "user_ids",
				// Members may know their own permissions.
				when: ({ user_ids = [], role_ids = [] }, id) =>
					user_ids.length === 0 || role_ids.length > 0 || user_ids.some((one) => one !== id),
			},
		],
		permissionsIn: "channel_ids",
	},
	async run({ permissions = [], all_channels }, { guild, connection, users = [], roles = [], channels: chosen = [] }) {
		const asked = permissions.length > 0 ? permissionNames(readPermissions("permissions", permissions)) : undefined;
		const all = all_channels ? channelsFromTop(guild) : [];
		const channels = [...new Set([...all, ...chosen])];
		const places = channels.length > 0 ? await Promise.all(channels.map(findPlace)) : [placeOf(undefined)];
		const subjects = [...users, ...roles];
		const [subject] = subjects;
		const isUnknown = ({ source }: Place) => source && isObfuscated(source);
		const known = places.filter((place) => !isUnknown(place));
		const [place] = known;
		if (!subject) requireKnownMembers(guild, connection);
		return resultLines(
			place &&
				(!subject
					? permissionHolders(guild, known, asked)
					: subjects.length === 1 && known.length === 1
						? detailLines(guild, subject, place, asked)
						: permissionMatrix(guild, subjects, known, asked)),
			unknownLine(places.filter(isUnknown)),
		);
	},
});

function unknownLine(places: readonly Place[]): string | undefined {
	const ids = places.map(({ channel }) => channel?.id);
	return ids.length > 0
		? `Unknown in ${ids.length} channel(s) that the bot cannot see (IDs: ${ids.join(", ")}): allow the bot VIEW_CHANNEL there. The owner and administrators may do everything.`
		: undefined;
}

async function findPlace(channel: GuildBasedChannel): Promise<Place> {
	if (channel.type !== ChannelType.PrivateThread) return placeOf(channel);
	return placeOf(channel, await threadMembers(channel));
}

const pageSize = 100;

async function threadMembers({ id, client }: GuildBasedChannel): Promise<ReadonlySet<string>> {
	const ids = new Set<string>();
	for (let after: string | undefined; ; ) {
		const query = makeURLSearchParams({ with_member: true, limit: pageSize, after });
		const page = (await client.rest.get(Routes.threadMembers(id), { query })) as APIThreadMember[];
		for (const { user_id } of page) if (user_id) ids.add(user_id);
		after = page.at(-1)?.user_id;
		if (page.length < pageSize || !after) return ids;
	}
}

function detailLines(
	guild: Guild,
	subject: GuildMember | Role,
	place: Place,
	asked: readonly string[] | undefined,
): string[] {
	const { channel } = place;
	const holder = holderOf(guild, subject);
	const { bits, causeOf, everything } = computePermissions(holder, place);
	const names = asked && checkedIn(kindOf(channel), asked);
	const decisions = [...bitsByName].flatMap(([name, bit]) => {
		const cause = causeOf(bit);
		const isShown = names ? names.includes(name) : cause && appliesTo(kindOf(channel), name);
		const isAllowed = (bits & bit) !== 0n;
		const why = cause ? describeCause(cause) : "because no role grants it";
		return isShown ? [{ name, isAllowed, reason: `${isAllowed ? "allowed" : "denied"} ${why}` }] : [];
	});
	const allowed = decisions.filter(({ isAllowed }) => isAllowed).length;
	const where = channel ? channelName(channel) : "the guild, without channel permissions";
	const byReason = Map.groupBy(decisions, ({ reason }) => reason);
	return resultLines(
		`${allowed} permission(s) allowed, ${decisions.length - allowed} not, for ${nameOf(subject)} in ${where}${asked ? "" : `; all allowed permissions as bits: ${bits}`}`,
		everything && `everything is allowed ${describeCause(everything)}`,
		asked
			? decisions.map(({ name, reason }) => `${name} | ${reason}`)
			: !everything && [...byReason].map(([reason, all]) => `${reason}: ${all.map(({ name }) => name).join(", ")}`),
		holder.timedOutUntil !== undefined && nowIs(),
		channel?.isThread() &&
			"A thread has the permissions of its channel, with SEND_MESSAGES_IN_THREADS in place of SEND_MESSAGES. A private thread is visible only to its members and with MANAGE_THREADS.",
	);
}

function nameOf(subject: GuildMember | Role): string {
	if (subject instanceof GuildMember) return memberName(subject);
	return `a member with ${roleName(subject)} as the only role`;
}
