// Custom emoji of a guild.
// https://discord.com/developers/docs/resources/emoji

import { PermissionFlagsBits as Permission } from "discord.js";
import type { GuildEmoji } from "../../world/state/entities.ts";
import { guildPermissions } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { knownRoles } from "../access.ts";
import { apiError, formError, found } from "../errors.ts";
import { image, list, nullable, required, snowflake, text } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

const all = "/guilds/:guild_id/emojis";
const one = `${all}/:emoji_id` as const;
/** Static ones, and animated ones, by boost level: https://support.discord.com/hc/en-us/articles/360028038352 */
export const emojiLimits = [50, 100, 150, 250];
const imageLimitBytes = 256 * 1024;
/** Larger images are refused as a field: https://github.com/Mephisto5558/Teufelsbot/issues/233 */
const formLimitBytes = 2048 * 1024;

const name = text(2, 32);
const roles = nullable(list(snowflake, 0, 250), []);

const { CreateGuildExpressions, ManageGuildExpressions } = Permission;

function emojiOf({ guild, params }: Call<typeof one>): GuildEmoji {
	return found(guild.emojis.get(params.emoji_id), "UnknownEmoji");
}

function mayAny({ guild, actor }: Call<":guild_id">, bits: bigint): boolean {
	return (guildPermissions(guild, actor.user.id) & bits) !== 0n;
}

function mayManage(call: Call<":guild_id">, { user }: GuildEmoji): boolean {
	return mayAny(call, ManageGuildExpressions) || (user === call.actor.user && mayAny(call, CreateGuildExpressions));
}

function managedEmoji(call: Call<typeof one>): GuildEmoji {
	const emoji = emojiOf(call);
	if (!mayManage(call, emoji)) throw apiError("MissingPermissions");
	return emoji;
}

function requireName(given: string | undefined): void {
	if (given !== undefined && !/^\w+$/.test(given))
		throw formError("STRING_TYPE_REGEX", "String value did not match validation regex.", "name");
}

export const emojiRoutes = [
	route(`GET ${all}`, (call) => {
		const { guild } = call;
		return mayAny(call, CreateGuildExpressions | ManageGuildExpressions)
			? [...guild.emojis.values()]
			: serialize.emojis(guild);
	}),
	route(`GET ${one}`, (call) => {
		const emoji = emojiOf(call);
		return mayManage(call, emoji) ? emoji : serialize.emoji(emoji);
	}),
	route(`POST ${all}`, {
		needs: CreateGuildExpressions,
		status: 201,
		body: { name: required(name), image: required(image(formLimitBytes)), roles },
		run: (call) => {
			const { guild, body, world, actor, by } = call;
			requireName(body.name);
			const { animated, bytes } = body.image;
			// https://github.com/discord/discord-api-docs/pull/6093
			if (bytes.length > imageLimitBytes)
				throw apiError("FileUploadedExceedsMaximumSize", { message: "Asset exceeds maximum size: 33554432" });
			const sameKind = [...guild.emojis.values()].filter((emoji) => emoji.animated === animated);
			if (sameKind.length >= (emojiLimits[guild.premium_tier] ?? 0))
				throw apiError(animated ? "MaximumNumberOfAnimatedEmojisReached" : "MaximumNumberOfEmojisReached");
			const roles = knownRoles(guild, body.roles ?? []);
			return world.emojis.add(guild, actor.user, { name: body.name, picture: body.image, roles }, by);
		},
	}),
	route(`PATCH ${one}`, {
		body: { name, roles },
		run: (call) => {
			const { guild, body, world, by } = call;
			const emoji = managedEmoji(call);
			requireName(body.name);
			const changes = { name: body.name, roles: body.roles && knownRoles(guild, body.roles) };
			world.emojis.edit(guild, emoji, changes, by);
			return emoji;
		},
	}),
	route(`DELETE ${one}`, (call) => call.world.emojis.remove(call.guild, managedEmoji(call), call.by)),
];
