// Custom emoji of a guild.
// https://discord.com/developers/docs/resources/emoji

import {
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { GuildEmoji } from "../../world/state/entities.ts";
import { guildPermissions } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { apiError, atKey, formError, found } from "../errors.ts";
import * as f from "../fields.ts";
import { type Call, route } from "../route.ts";

const all = "/guilds/:guild_id/emojis";
const one = `${all}/:emoji_id` as const;
/** Maximum number of static emoji, and of animated emoji, in a guild without boosts. */
const emojiLimit = 50;
const imageLimitBytes = 256 * 1024;

const name = f.text(2, 32);
const roles = f.nullable(f.list(f.snowflake, 0, 250));

const { CreateGuildExpressions, ManageGuildExpressions } = Permission;

function emojiOf({ guild, params }: Call<typeof one>): GuildEmoji {
	return found(guild.emojis.get(params.emoji_id), Code.UnknownEmoji);
}

function mayAny({ guild, actor }: Call<":guild_id">, bits: bigint): boolean {
	return (guildPermissions(guild, actor.user.id) & bits) !== 0n;
}

/**
 * Whether the sender of the request may edit an emoji. MANAGE_GUILD_EXPRESSIONS allows it for any emoji,
 * CREATE_GUILD_EXPRESSIONS for emoji that the sender created.
 */
function mayManage(call: Call<":guild_id">, { user }: GuildEmoji): boolean {
	return (
		mayAny(call, ManageGuildExpressions) ||
		(user === call.actor.user && mayAny(call, CreateGuildExpressions))
	);
}

/** Returns the emoji of the request path. Throws unless the sender of the request may edit it. */
function managedEmoji(call: Call<typeof one>): GuildEmoji {
	const emoji = emojiOf(call);
	if (!mayManage(call, emoji)) throw apiError(Code.MissingPermissions);
	return emoji;
}

function requireName(given: string | undefined): void {
	if (given !== undefined && !/^\w+$/.test(given))
		throw formError(
			"STRING_TYPE_REGEX",
			"String value did not match validation regex.",
			"name",
		);
}

function requireRoles({ guild }: Call<":guild_id">, ids: readonly string[]) {
	for (const id of ids) found(guild.roles.get(id), Code.UnknownRole);
	return [...ids];
}

/**
 * Whether an image is animated. `image` is a data URL. Throws if the image is too large or the data is not an image.
 */
function isAnimated(image: string): boolean {
	// The declared type does not matter: discord.js calls every image a JPEG.
	const [, data = ""] =
		/^data:image\/\w+;base64,([A-Za-z0-9+/]+={0,2})$/.exec(image) ?? [];
	const bytes = Buffer.from(data, "base64");
	if (bytes.length > imageLimitBytes)
		throw formError(
			"BINARY_TYPE_MAX_SIZE",
			"File cannot be larger than 256.0 kb.",
		);
	const kind = kindOf(bytes);
	if (kind === undefined)
		throw formError("IMAGE_INVALID", "Invalid image data");
	return kind === "gif";
}

/** Recognizes the type of an image by its first bytes; undefined if it is no known type. */
function kindOf(bytes: Buffer): string | undefined {
	const start = bytes.toString("latin1", 0, 12);
	if (start.startsWith("\x89PNG\r\n\x1a\n")) return "png";
	if (start.startsWith("\xff\xd8\xff")) return "jpeg";
	if (/^GIF8[79]a/.test(start)) return "gif";
	if (start.startsWith("RIFF") && start.endsWith("WEBP")) return "webp";
	return /ftypavi[fs]$/.test(start) ? "avif" : undefined;
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
		body: {
			name: f.required(name),
			image: f.required(f.text(0, 1_000_000)),
			roles,
		},
		run: (call) => {
			const { guild, body, world, actor, by } = call;
			requireName(body.name);
			const animated = atKey("image", () => isAnimated(body.image));
			const sameKind = [...guild.emojis.values()].filter(
				(emoji) => emoji.animated === animated,
			);
			if (sameKind.length >= emojiLimit)
				throw apiError(
					animated
						? Code.MaximumNumberOfAnimatedEmojisReached
						: Code.MaximumNumberOfEmojisReached,
				);
			const roles = requireRoles(call, body.roles ?? []);
			const given = { name: body.name, animated, roles };
			return world.emojis.add(guild, actor.user, given, by);
		},
	}),
	route(`PATCH ${one}`, {
		body: { name, roles },
		run: (call) => {
			const { guild, body, world, by } = call;
			const emoji = managedEmoji(call);
			requireName(body.name);
			const roles = body.roles === null ? [] : body.roles;
			const changes = {
				name: body.name,
				roles: roles && requireRoles(call, roles),
			};
			world.emojis.edit(guild, emoji, changes, by);
			return emoji;
		},
	}),
	route(`DELETE ${one}`, (call) =>
		call.world.emojis.remove(call.guild, managedEmoji(call), call.by),
	),
];
