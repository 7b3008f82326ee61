// The welcome screen of a guild.
// https://discord.com/developers/docs/resources/guild#welcome-screen-object

import { ChannelType } from "discord.js";
import { holdsPosts, type WelcomeScreen } from "../../world/state/entities.ts";
import { requireGuildPermissions } from "../access.ts";
import { apiError, found } from "../errors.ts";
import { boolean, list, nullable, object, type Read, required, snowflake, text } from "../fields/fields.ts";
import { type Call, route } from "../route.ts";
import { optionalEmoji } from "./onboarding.ts";

const path = "/guilds/:guild_id/welcome-screen";

const welcomeChannel = object({
	channel_id: required(snowflake),
	description: required(text(1, 50)),
	emoji_id: snowflake,
	emoji_name: text(0, 152_133),
});

/**
 * Converts the welcome channels of a request body to the stored form. Only text, announcement, forum and media channels
 * are allowed (source: TwilightZebby/WelcomeEditor, README).
 * A guess (welcome-channel): Discord's error codes for an unknown channel and for a channel of another type.
 */
function welcomeChannels(
	{ guild }: Call<":guild_id">,
	given: readonly (Read<typeof welcomeChannel> & object)[],
): WelcomeScreen["welcome_channels"] {
	return given.map(({ channel_id, description, emoji_id, emoji_name }) => {
		const { type } = found(guild.channels.get(channel_id), "UnknownChannel");
		const isText = type === ChannelType.GuildText || type === ChannelType.GuildAnnouncement;
		if (!isText && !holdsPosts({ type })) throw apiError("CannotExecuteActionOnThisChannelType");
		const emoji = optionalEmoji(guild, emoji_id, emoji_name);
		return { channel_id, description, emoji_id: emoji.id, emoji_name: emoji.name };
	});
}

export const welcomeScreenRoutes = [
	route(`GET ${path}`, (call) => {
		const { guild, world } = call;
		if (!world.welcomeScreens.isEnabled(guild)) requireGuildPermissions(call, "ManageGuild");
		return found(world.welcomeScreens.of(guild), "UnknownGuildWelcomeScreen");
	}),
	route(`PATCH ${path}`, {
		needs: "ManageGuild",
		body: {
			enabled: boolean,
			description: nullable(text(0, 140)),
			welcome_channels: nullable(list(welcomeChannel, 0, 5), []),
		},
		run: (call) => {
			const { guild, body, world, by } = call;
			// A guess (welcome-community): the error code.
			if (!guild.features.includes("COMMUNITY")) throw apiError("MissingAccess");
			const { enabled, description, welcome_channels: given } = body;
			const changes = { enabled, description, welcome_channels: given && welcomeChannels(call, given) };
			return world.welcomeScreens.edit(guild, changes, by);
		},
	}),
];
