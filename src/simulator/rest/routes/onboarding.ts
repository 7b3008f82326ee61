// Onboarding and the welcome screen of a guild.
// https://discord.com/developers/docs/resources/guild#guild-onboarding-object

import { ChannelType, GuildOnboardingPromptType as Kind, GuildOnboardingMode as Mode } from "discord.js";
import { isBelowRequirements, type Prompt, type PromptOption } from "../../world/guilds/onboarding.ts";
import { type Guild, holdsPosts, type WelcomeScreen } from "../../world/state/entities.ts";
import { apply } from "../../world/state/state.ts";
import { knownRoles, requireGuildPermissions } from "../access.ts";
import { apiError, found } from "../errors.ts";
import * as f from "../fields/fields.ts";
import { type Call, route } from "../route.ts";
import { requireReadable } from "./overwrites.ts";

const path = "/guilds/:guild_id/onboarding";

// The limits are those of Discord's OpenAPI document.
const option = f.object({
	id: f.snowflake,
	title: f.required(f.text(1, 50)),
	description: f.text(0, 100),
	emoji_id: f.snowflake,
	emoji_name: f.text(0, 100),
	emoji_animated: f.boolean,
	role_ids: f.list(f.snowflake, 0, 50),
	channel_ids: f.list(f.snowflake, 0, 50),
});

const prompt = f.object({
	// Required also for new prompts: https://github.com/discord/discord-api-docs/issues/6320
	id: f.required(f.snowflake),
	type: f.choice(Kind.MultipleChoice, Kind.Dropdown),
	title: f.required(f.text(1, 100)),
	options: f.required(f.list(option, 1, 50)),
	single_select: f.boolean,
	required: f.boolean,
	in_onboarding: f.boolean,
});

/** A guess (onboarding-unknown): the code. A guess (onboarding-hidden): hidden channels are refused. */
function channelIds(guild: Guild, ids: readonly string[]): string[] {
	for (const id of ids) requireReadable(guild, found(guild.channels.get(id), "UnknownChannel"));
	return [...new Set(ids)];
}

/** A guess (onboarding-emoji): Discord's error code for an unknown custom emoji. */
function optionalEmoji(
	guild: Guild,
	id: string | null | undefined,
	name: string | null | undefined,
): PromptOption["emoji"] {
	if (!id) return { id: null, name: name || null, animated: false };
	const emoji = found(guild.emojis.get(id), "UnknownEmoji");
	return { id, name: emoji.name, animated: emoji.animated };
}

function optionOf(guild: Guild, given: f.Read<typeof option> & object): PromptOption {
	return {
		id: given.id ?? "",
		title: given.title,
		description: given.description ?? "",
		emoji: optionalEmoji(guild, given.emoji_id, given.emoji_name),
		role_ids: knownRoles(guild, new Set(given.role_ids)),
		channel_ids: channelIds(guild, given.channel_ids ?? []),
	};
}

/** A guess (onboarding-prompt-defaults): Discord uses the same default values for omitted fields. */
function promptOf(guild: Guild, given: f.Read<typeof prompt> & object): Prompt {
	return {
		type: Kind.MultipleChoice,
		single_select: false,
		required: false,
		in_onboarding: false,
		...given,
		options: given.options.map((one) => optionOf(guild, one)),
	};
}

const welcomePath = "/guilds/:guild_id/welcome-screen";

const welcomeChannel = f.object({
	channel_id: f.required(f.snowflake),
	description: f.required(f.text(1, 50)),
	emoji_id: f.snowflake,
	emoji_name: f.text(0, 152_133),
});

/** A guess (welcome-channel): the error codes. The types of channels: TwilightZebby/WelcomeEditor, README. */
function welcomeChannels(
	{ guild }: Call<":guild_id">,
	given: readonly (f.Read<typeof welcomeChannel> & object)[],
): WelcomeScreen["welcome_channels"] {
	return given.map(({ channel_id, description, emoji_id, emoji_name }) => {
		const { type } = found(guild.channels.get(channel_id), "UnknownChannel");
		const isText = type === ChannelType.GuildText || type === ChannelType.GuildAnnouncement;
		if (!isText && !holdsPosts({ type })) throw apiError("CannotExecuteActionOnThisChannelType");
		const emoji = optionalEmoji(guild, emoji_id, emoji_name);
		return { channel_id, description, emoji_id: emoji.id, emoji_name: emoji.name };
	});
}

export const onboardingRoutes = [
	route(`GET ${path}`, (call) => {
		const { guild, world } = call;
		// https://docs.discord.food/resources/guild#get-guild-onboarding
		if (!guild.onboarding.enabled) requireGuildPermissions(call, "ManageGuild");
		return world.onboardings.serialize(guild);
	}),
	route(`PUT ${path}`, {
		needs: ["ManageGuild", "ManageRoles"],
		body: {
			prompts: f.list(prompt, 0, 15),
			default_channel_ids: f.list(f.snowflake, 0, 500),
			enabled: f.boolean,
			mode: f.choice(Mode.OnboardingDefault, Mode.OnboardingAdvanced),
		},
		run: (call) => {
			const { guild, body, world, by } = call;
			// All fields are optional: https://github.com/discord/discord-api-docs/issues/6887
			const { prompts, default_channel_ids } = body;
			const changes = {
				...body,
				prompts: prompts?.map((one) => promptOf(guild, one)),
				default_channel_ids: default_channel_ids && channelIds(guild, default_channel_ids),
			};
			const before = world.onboardings.of(guild);
			const after = { ...before };
			apply(after, changes);
			// A guess (onboarding-below): which of the two codes a request gets.
			if (after.enabled && isBelowRequirements(guild, after))
				throw apiError(
					before.enabled
						? "CannotUpdateOnboardingWhileBelowRequirements"
						: "CannotEnableOnboardingRequirementsAreNotMet",
				);
			world.onboardings.edit(guild, changes, by);
			return world.onboardings.serialize(guild);
		},
	}),
	route(`GET ${welcomePath}`, (call) => {
		const { guild, world } = call;
		if (!world.welcomeScreens.isEnabled(guild)) requireGuildPermissions(call, "ManageGuild");
		return found(world.welcomeScreens.of(guild), "UnknownGuildWelcomeScreen");
	}),
	route(`PATCH ${welcomePath}`, {
		needs: "ManageGuild",
		body: {
			enabled: f.boolean,
			description: f.nullable(f.text(0, 140)),
			welcome_channels: f.nullable(f.list(welcomeChannel, 0, 5), []),
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
