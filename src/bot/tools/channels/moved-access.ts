// What becomes of the access to channels that tools move into another category.

import { PermissionFlagsBits } from "discord.js";
import { forClients } from "../../../discord/acting-person.ts";
import type { RawChannel } from "../../../discord/channel-order.ts";
import { channelName } from "../../../discord/describe.ts";
import type { Channel } from "../../../discord/find.ts";
import { requireUndoable } from "../../../discord/overwrites.ts";
import { impliedIn, requireGrantable, requirePermissions } from "../../../discord/permissions.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import { changedBits } from "../../../guild-document/names/overwrites.ts";
import { gainsText, movedAccess } from "../../../guild-document/steps/moved-access.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { invalidParameters } from "../../../mcp/tool.ts";
import { type Entries, entriesOf } from "./channel-access.ts";
import { subjectName } from "./channel-text.ts";

export const lockNeedsCategory =
	'lock_permissions: only works if the channels move to another category; to sync channels with their category: copy_channel_permissions with {"target_channel_ids":[…]}';

export interface AccessAfterMove {
	/** Undefined if the channel keeps its own. */
	entries?: Entries;
	lines: readonly string[];
}

/** `all`: just fetched. Throws a ToolError if the bot may not give the category's access, or could not undo it. */
export function accessAfterMove(
	channel: Channel,
	all: readonly RawChannel[],
	parentId: string,
	lock: boolean | undefined,
): AccessAfterMove {
	if (parentId === "" && lock) throw invalidParameters([lockNeedsCategory]);
	const { guild } = channel;
	const raw = (id: string | null | undefined) => all.find((one) => one.id === id);
	const own = raw(channel.id);
	const [before, entries, old] = [own, raw(parentId), raw(own?.parent_id)].map(
		(one) => one && entriesOf(one.permission_overwrites),
	);
	const { access, gains } = movedAccess(
		{ own: before ?? new Map(), isSynced: before && old ? changedBits(before, old) === 0n : false, to: entries, lock },
		{
			guildId: guild.id,
			ownerId: guild.ownerId,
			roles: guild.roles.cache.mapValues(({ permissions }) => permissions.bitfield),
			rolesOf: (id) => guild.members.cache.get(id)?.roles.cache.map((role) => role.id),
		},
	);
	if (access === "same") return { lines: [] };
	const who = gainsText(gains, (id) => subjectName(guild, id));
	if (access === "keeps" || !entries)
		return {
			lines: [
				who === ""
					? "keeps its own access"
					: `keeps its own access, because with that of its category these would gain access: ${who}${forClients(". lock_permissions: true gives it that")}`,
			],
		};
	try {
		const { ManageRoles } = PermissionFlagsBits;
		requirePermissions(guild, channel, ManageRoles | impliedIn(channel), () => [
			"It needs that to give the channel the access of its new category.",
		]);
		requireGrantable(guild, channel, changedBits(before ?? new Map(), entries));
		requireUndoable(channel, entries, visibleChannel(guild, parentId));
	} catch (error) {
		if (!(error instanceof ToolError)) throw error;
		const reason = error.message.replace(" Nothing was done.", "");
		throw new ToolError(
			`${channelName(channel)} would get the access of its new category. ${reason}${forClients(" lock_permissions: false moves it with its own access.")} Nothing was done.`,
			{ cause: error },
		);
	}
	return { entries, lines: ["gets the access of its category", ...(who === "" ? [] : [`these gain access: ${who}`])] };
}
