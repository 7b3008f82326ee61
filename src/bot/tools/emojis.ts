// The emoji that a guild has of its own.

import { type Guild, PermissionFlagsBits, Routes } from "discord.js";
import * as v from "valibot";
import { role } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import { botPermissions, requirePermissions } from "../discord/permissions.ts";
import { oneField } from "../discord/text.ts";
import {
	emojiName,
	fetchEmojis,
	type GuildEmoji,
	guildEmoji,
} from "../messages/emoji.ts";
import { image } from "../messages/image.ts";
import { found, guild_id, list, reason } from "../tool/arguments.ts";
import { destructiveTool, tool } from "../tool/define.ts";
import { changesOf } from "../tool/diff.ts";

const name = v.pipe(
	v.string(),
	v.regex(
		/^\w{2,32}$/,
		"expected 2 to 32 letters from A to Z, digits and underscores",
	),
	v.description("Name of the emoji."),
);

const role_ids = v.optional(
	list(
		found(role, "role"),
		0,
		100,
		"The roles that alone may use it; none for everyone.",
	),
);

export const listEmojis = tool({
	name: "list_emojis",
	toolset: "expressions",
	title: "List emoji",
	description:
		"List a guild's own emoji, by id: as they are written in messages, id, who made them, which roles may use them.",
	effect: "read",
	input: v.strictObject({ guild_id }),
	async run(_, { guild }) {
		const emojis = await fetchEmojis(guild);
		if (emojis.length === 0)
			return `The guild ${guild.id} has no emoji of its own.`;
		const sorted = emojis.toSorted((a, b) => compareIds(a.id, b.id));
		return [`${emojis.length} emoji, by id:`, ...sorted.map(emojiLine)];
	},
});

function emojiLine(emoji: GuildEmoji): string {
	const { id, user, roles = [], managed, available = true } = emoji;
	return [
		`${inMessages(emoji)} | ID: ${id}`,
		...(user ? [`made by: @${oneField(user.username)} (ID: ${user.id})`] : []),
		...(roles.length > 0 ? [`only for roles: ${roles.join(", ")}`] : []),
		...(managed ? ["managed"] : []),
		...(available ? [] : ["not available"]),
	].join(" | ");
}

/** An emoji as it is written in a message. */
function inMessages(emoji: GuildEmoji): string {
	return emoji.animated
		? emojiName(emoji).replace("<:", "<a:")
		: emojiName(emoji);
}

export const createEmoji = tool({
	name: "create_emoji",
	toolset: "expressions",
	title: "Create an emoji",
	description: "Give a guild an emoji of its own. A GIF moves.",
	effect: "write",
	guildPermissions: ["CreateGuildExpressions"],
	input: v.strictObject({
		guild_id,
		name,
		image,
		role_ids,
		reason,
	}),
	async run({ name, image, role_ids = [] }, { guild }) {
		const made = (await guild.client.rest.post(Routes.guildEmojis(guild.id), {
			body: { name, image, roles: role_ids },
		})) as GuildEmoji;
		return `Created the emoji ${inMessages(made)} (ID: ${made.id}).`;
	},
});

export const editEmoji = tool({
	name: "edit_emoji",
	toolset: "expressions",
	title: "Edit an emoji",
	description:
		"Rename an emoji, or change which roles may use it. Its picture stays.",
	effect: "write",
	idempotent: true,
	lock: "emoji_id",
	input: v.strictObject({
		guild_id,
		emoji_id: found(guildEmoji, "emoji"),
		name: v.optional(name),
		role_ids,
		reason,
	}),
	async run(args, { guild, emoji }) {
		requireReach(guild, emoji);
		const what = called(emoji);
		const changes = changesOf(
			{ name: emoji.name, role_ids: inOrder(emoji.roles ?? []) },
			{ name: args.name, role_ids: args.role_ids && inOrder(args.role_ids) },
			what,
		);
		await guild.client.rest.patch(Routes.guildEmoji(guild.id, emoji.id), {
			body: {
				...(changes.name !== undefined && { name: changes.name }),
				...(changes.role_ids !== undefined && { roles: args.role_ids }),
			},
		});
		return `Changed ${Object.keys(changes).join(", ")} of ${what}.`;
	},
});

/** Ids as one text, which is the same for the same ids. */
function inOrder(ids: readonly string[]): string {
	return ids.toSorted(compareIds).join(" ");
}

export const deleteEmoji = destructiveTool({
	name: "delete_emoji",
	toolset: "expressions",
	title: "Delete an emoji",
	description:
		"Delete an emoji of a guild. Messages then show its name, and it cannot be brought back.",
	lock: "emoji_id",
	idempotent: true,
	input: v.strictObject({
		guild_id,
		emoji_id: found(guildEmoji, "emoji"),
		reason,
	}),
	plan(_, { guild, emoji }) {
		requireReach(guild, emoji);
		const by = emoji.user
			? `, made by @${oneField(emoji.user.username)} (ID: ${emoji.user.id})`
			: "";
		const what = `${called(emoji)}${by}.`;
		return {
			preview: `Would delete ${what}`,
			async act() {
				await guild.client.rest.delete(Routes.guildEmoji(guild.id, emoji.id));
				return `Deleted ${what}`;
			},
		};
	},
});

function called(emoji: GuildEmoji): string {
	return `the emoji ${inMessages(emoji)} (ID: ${emoji.id})`;
}

/** Its own emoji the bot may change with either permission, those of others with one. */
function requireReach(guild: Guild, { user }: GuildEmoji): void {
	const manage = PermissionFlagsBits.ManageGuildExpressions;
	if ((botPermissions(guild, undefined) & manage) !== 0n) return;
	const own = user?.id === guild.client.user.id;
	requirePermissions(
		guild,
		undefined,
		own ? PermissionFlagsBits.CreateGuildExpressions : manage,
	);
}
