// Custom emoji of a guild.

import { type Guild, PermissionFlagsBits, Routes } from "discord.js";
import * as v from "valibot";
import { userName } from "../../discord/describe.ts";
import { role } from "../../discord/find.ts";
import { actingMembers, permissionsOf, personHas, requireOf } from "../../discord/permissions.ts";
import { fieldLine, resultLines } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { said } from "../../texts/texts.ts";
import { emojiName, fetchEmojis, type GuildEmoji, guildEmoji } from "../messages/emoji.ts";
import { image } from "../messages/image.ts";
import { asking } from "../results/result.ts";
import { changesOf, found, guild_id, list, reason, sortedIds } from "../tool/arguments/arguments.ts";
import { nameOfId } from "../tool/arguments/names.ts";
import { destructiveTool, editTool, readTool, writeTool } from "../tool/define.ts";

const create = PermissionFlagsBits.CreateGuildExpressions;
const manage = PermissionFlagsBits.ManageGuildExpressions;

const name = v.pipe(
	v.string(),
	v.regex(/^\w{2,32}$/, "expected 2 to 32 letters from A to Z, digits and underscores"),
	v.description("Name."),
);

const role_ids = v.optional(list(found(role, "role"), 0, 100, "Who may use it; empty: everyone."));

export const listEmojis = readTool({
	name: "list_emojis",
	toolset: "expressions",
	title: "List emoji",
	description: "List a guild's custom emoji by id: form in messages, creator, roles that may use it.",
	input: { guild_id },
	async run(_, { guild }) {
		const emojis = await fetchEmojis(guild);
		if (emojis.length === 0) return `The guild ${guild.id} has no custom emoji.`;
		const sorted = emojis.toSorted((a, b) => compareIds(a.id, b.id));
		return [`${emojis.length} emoji, by id:`, ...sorted.map((emoji) => emojiLine(guild, emoji))];
	},
});

function emojiLine(guild: Guild, emoji: GuildEmoji): string {
	const { id, user, managed, available = true } = emoji;
	const roles = emoji.roles ?? [];
	// https://docs.discord.com/developers/resources/emoji#list-guild-emojis
	const showsCreator = [create, manage].some((bit) => personHas(guild, undefined, bit));
	return fieldLine(
		`${inMessages(emoji)} | ID: ${id}`,
		user && showsCreator && `made by: ${userName(user)}`,
		roles.length > 0 && `only for: ${roleNames(guild, roles)}`,
		managed && "managed",
		!available && "not available",
	);
}

const roleNames = (guild: Guild, ids: readonly string[]) =>
	ids.map((id) => nameOfId(guild, id)).join(", ") || "everyone";

function inMessages(emoji: GuildEmoji): string {
	return emoji.animated ? emojiName(emoji).replace("<:", "<a:") : emojiName(emoji);
}

export const createEmoji = writeTool({
	name: "create_emoji",
	toolset: "expressions",
	title: "Create an emoji",
	description: "Create a custom emoji.",
	permissions: [{ permission: "CreateGuildExpressions", inGuild: true }],
	input: { guild_id, name, image, role_ids, reason },
	async run({ name, image, role_ids = [] }, { guild }) {
		const made = (await guild.client.rest.post(Routes.guildEmojis(guild.id), {
			body: { name, image, roles: role_ids },
		})) as GuildEmoji;
		return `Created the emoji ${inMessages(made)} (ID: ${made.id}).`;
	},
});

export const editEmoji = editTool({
	name: "edit_emoji",
	toolset: "expressions",
	title: "Edit an emoji",
	description: "Rename an emoji, or change which roles may use it.",
	lock: "emoji_id",
	input: { guild_id, emoji_id: found(guildEmoji, "emoji"), name: v.optional(name), role_ids, reason },
	async run(args, { guild, emoji }) {
		requireEditable(guild, emoji);
		const target = emojiLabel(emoji);
		const changes = changesOf(
			{ name: emoji.name, role_ids: sortedIds(emoji.roles ?? []) },
			{ name: args.name, role_ids: args.role_ids && sortedIds(args.role_ids) },
			target,
		);
		await guild.client.rest.patch(Routes.guildEmoji(guild.id, emoji.id), {
			body: {
				...(changes.name !== undefined && { name: changes.name }),
				...(changes.role_ids !== undefined && { roles: args.role_ids }),
			},
		});
		return resultLines(
			`Changed ${target}:`,
			changes.name !== undefined && `name: ${emoji.name} → ${changes.name}`,
			changes.role_ids !== undefined &&
				`role_ids: ${roleNames(guild, emoji.roles ?? [])} → ${roleNames(guild, args.role_ids ?? [])}`,
		);
	},
});

export const deleteEmoji = destructiveTool({
	name: "delete_emoji",
	toolset: "expressions",
	title: "Delete an emoji",
	description: "Delete a custom emoji. Messages then show its name.",
	lock: "emoji_id",
	input: { guild_id, emoji_id: found(guildEmoji, "emoji"), reason },
	plan(_, { guild, emoji }) {
		requireEditable(guild, emoji);
		const by = emoji.user ? `, made by ${userName(emoji.user)}` : "";
		const target = `${emojiLabel(emoji)}${by}.`;
		return {
			preview: asking(`Would delete ${target}`, said("preview.delete_emoji", { emoji: inMessages(emoji) })),
			write: () => guild.client.rest.delete(Routes.guildEmoji(guild.id, emoji.id)),
			result: `Deleted ${target}`,
		};
	},
});

function emojiLabel(emoji: GuildEmoji): string {
	return `the emoji ${inMessages(emoji)} (ID: ${emoji.id})`;
}

function requireEditable(guild: Guild, { user }: GuildEmoji): void {
	for (const member of actingMembers(guild)) {
		const manages = (permissionsOf(member, undefined) & manage) !== 0n;
		requireOf(member, undefined, !manages && user?.id === member.id ? create : manage);
	}
}
