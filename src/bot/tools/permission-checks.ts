// Effective permissions of roles and members, and who has a permission.

import { type APIThreadMember, ChannelType, type GuildBasedChannel, makeURLSearchParams, Routes } from "discord.js";
import * as v from "valibot";
import { channelsFromTop } from "../../discord/channel-order.ts";
import { type Place, placeOf } from "../../discord/effective-permissions.ts";
import { anyChannel, member, requireKnownMembers, role } from "../../discord/find.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import { detailLines } from "../../discord/permission-checks/detail.ts";
import { permissionHolders } from "../../discord/permission-checks/holder-lines.ts";
import { permissionMatrix } from "../../discord/permission-checks/matrix.ts";
import { isOfGuild } from "../../discord/permission-checks/places.ts";
import { permissionNames } from "../../discord/permissions.ts";
import { resultLines } from "../../discord/text.ts";
import { flag, found, guild_id, list, readPermissions } from "../tool/arguments/arguments.ts";
import { readTool } from "../tool/define.ts";

export const checkPermissions = readTool({
	name: "check_permissions",
	toolset: "diagnostics",
	offered: "listed",
	title: "Check permissions",
	description: "What members or roles may do in channels and the guild. Without both: who may, and why.",
	intents: ["GuildMembers"],
	input: {
		guild_id,
		user_ids: v.optional(list(found(member, "member"), 0, 50, "Members.")),
		role_ids: v.optional(list(found(role, "role"), 0, 250, "Roles, also @everyone.")),
		channel_ids: v.optional(
			list(found(anyChannel, "channel or thread"), 0, 500, "Or threads; #Category: its channels; none: the guild."),
		),
		all_channels: flag("All channels.", false),
		permissions: v.optional(list(v.string(), 0, 64, "VIEW_CHANNEL. Default: the most important.")),
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
		const order = channelsFromTop(guild);
		const inside = (channel: GuildBasedChannel) => {
			const own = order.filter(({ parentId }) => parentId === channel.id);
			return own.length > 0 ? own : [channel];
		};
		const places = await Promise.all(
			[...new Set([...(all_channels ? order : []), ...chosen.flatMap(inside)])].map(async (channel) =>
				placeOf(channel, channel.type === ChannelType.PrivateThread ? await threadMembers(channel) : undefined),
			),
		);
		const subjects = [...users, ...roles];
		const [subject] = subjects;
		const isDetail = subjects.length === 1 && places.length === 1;
		const asksGuild = asked ? asked.some(isOfGuild) : subject && all_channels;
		if (places.length === 0 || (asksGuild && !isDetail)) places.unshift(placeOf(undefined));
		const isUnknown = ({ source }: Place) => source && isObfuscated(source);
		const known = places.filter((place) => !isUnknown(place));
		const unknown = places.filter(isUnknown).map(({ channel }) => channel?.id);
		const [place] = known;
		if (!subject) requireKnownMembers(guild, connection);
		return resultLines(
			place &&
				(!subject
					? permissionHolders(guild, known, asked)
					: subjects.length === 1 && known.length === 1
						? detailLines(guild, subject, place, asked)
						: permissionMatrix(guild, subjects, known, asked)),
			unknown.length > 0 &&
				`Unknown in ${unknown.length} channel(s) that the bot cannot see (IDs: ${unknown.join(", ")}): allow the bot VIEW_CHANNEL there. The owner and administrators may do everything.`,
		);
	},
});

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
