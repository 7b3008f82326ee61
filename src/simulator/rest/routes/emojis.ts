// Custom emoji of a guild.
// https://discord.com/developers/docs/resources/emoji

import {
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { GuildEmoji } from "../../world/state/entities.ts";
import { guildPermissions } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { apiError, atKey, formError } from "../errors.ts";
import * as f from "../fields.ts";
import { type Call, guildOf, param, route } from "../route.ts";

const all = "/guilds/:guild_id/emojis";
const one = `${all}/:emoji_id` as const;
/** For static and animated emoji each, in a guild without boosts. */
const emojiLimit = 50;
const imageLimitBytes = 256 * 1024;

const name = f.text(2, 32);
const roles = f.nullable(f.list(f.snowflake, 0, 250));

function emojiOf(call: Call): GuildEmoji {
	const emoji = guildOf(call).emojis.get(param(call, "emoji_id"));
	if (!emoji) throw apiError(Code.UnknownEmoji);
	return emoji;
}

function mayAny(call: Call, bits: bigint): boolean {
	const granted = guildPermissions(guildOf(call), call.actor.user.id);
	return (granted & bits) !== 0n;
}

/** Own emoji need CREATE_ or MANAGE_GUILD_EXPRESSIONS, those of others MANAGE_GUILD_EXPRESSIONS. */
function requireEditPermission(call: Call, { user }: GuildEmoji): void {
	const own = user === call.actor.user;
	const enough = own
		? Permission.CreateGuildExpressions | Permission.ManageGuildExpressions
		: Permission.ManageGuildExpressions;
	if (!mayAny(call, enough)) throw apiError(Code.MissingPermissions);
}

function requireName(given: string | undefined): void {
	if (given !== undefined && !/^\w+$/.test(given))
		throw formError(
			"STRING_TYPE_REGEX",
			"String value did not match validation regex.",
			"name",
		);
}

function requireRoles(call: Call, ids: readonly (string | undefined)[]) {
	return ids.map((id = "") => {
		if (!guildOf(call).roles.has(id)) throw apiError(Code.UnknownRole);
		return id;
	});
}

/** Whether an image is animated. Throws if it is no image. */
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

/** The image type by its first bytes. */
function kindOf(bytes: Buffer): string | undefined {
	const start = bytes.toString("latin1", 0, 12);
	if (start.startsWith("\x89PNG\r\n\x1a\n")) return "png";
	if (start.startsWith("\xff\xd8\xff")) return "jpeg";
	if (/^GIF8[79]a/.test(start)) return "gif";
	if (start.startsWith("RIFF") && start.endsWith("WEBP")) return "webp";
	return /ftypavi[fs]$/.test(start) ? "avif" : undefined;
}

export const emojiRoutes = [
	route({
		method: "GET",
		path: all,
		run: (call) => {
			const seesUsers = mayAny(
				call,
				Permission.CreateGuildExpressions | Permission.ManageGuildExpressions,
			);
			const { emojis } = guildOf(call);
			return seesUsers ? [...emojis.values()] : serialize.emojis(guildOf(call));
		},
	}),
	route({
		method: "GET",
		path: one,
		run: (call) => {
			const emoji = emojiOf(call);
			const seesUser =
				mayAny(call, Permission.ManageGuildExpressions) ||
				(emoji.user === call.actor.user &&
					mayAny(call, Permission.CreateGuildExpressions));
			return seesUser ? emoji : serialize.emoji(emoji);
		},
	}),
	route({
		method: "POST",
		path: all,
		needs: Permission.CreateGuildExpressions,
		status: 201,
		body: {
			name: f.required(name),
			image: f.required(f.text(0, 1_000_000)),
			roles,
		},
		run: (call) => {
			const guild = guildOf(call);
			const { body, world, actor, by } = call;
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
			const given = {
				name: body.name,
				animated,
				roles: requireRoles(call, body.roles ?? []),
			};
			return world.emojis.add(guild, actor.user, given, by);
		},
	}),
	route({
		method: "PATCH",
		path: one,
		body: { name, roles },
		run: (call) => {
			const emoji = emojiOf(call);
			const { body, world, by } = call;
			requireEditPermission(call, emoji);
			requireName(body.name);
			const changes = {
				name: body.name,
				roles:
					body.roles === undefined
						? undefined
						: requireRoles(call, body.roles ?? []),
			};
			world.emojis.edit(guildOf(call), emoji, changes, by);
			return emoji;
		},
	}),
	route({
		method: "DELETE",
		path: one,
		run: (call) => {
			const emoji = emojiOf(call);
			requireEditPermission(call, emoji);
			call.world.emojis.remove(guildOf(call), emoji, call.by);
		},
	}),
];
