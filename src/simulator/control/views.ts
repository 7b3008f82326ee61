// What the simulator's control routes return, as JSON.

import { Locale } from "discord.js";
import type { Interaction } from "../interactions/interaction.ts";
import type { InjectedFault } from "../rest/faults.ts";
import { isSubcommand } from "../rest/fields/option-fields.ts";
import { mayUse } from "../world/accounts/commands.ts";
import {
	type Account,
	type Command,
	type CommandOption,
	type Guild,
	type GuildPlace,
	inGuild,
	type Message,
} from "../world/state/entities.ts";
import { channelPermissions, guildPermissions, has } from "../world/state/permissions.ts";
import * as serialize from "../world/state/serialize.ts";
import type { World } from "../world/world.ts";
import type { Controllable } from "./controllable.ts";

export function summarizeFault({ id, kind, match, executed, hits, limits: { times, actor } }: InjectedFault) {
	return { id, kind, match, executed, hits, times, actor };
}

/** Without the interaction token, which is secret. */
export function summarizeInteraction({ world, interactions }: Controllable, interaction: Interaction) {
	const { id, type, state, user, application, channel, data, message } = interaction;
	const summarizeMessage = (message: Message) => ({
		...world.messages.serialize(message, { id: user.id, seesContent: true }),
		edits: interactions.editsOf(message),
		deleted: !interactions.exists(message),
	});
	return {
		id,
		type,
		state,
		data,
		user: user.username,
		user_id: user.id,
		application: application.user.username,
		application_id: application.user.id,
		channel_id: channel.id,
		message_id: message?.id,
		modal: interaction.modal ?? null,
		choices: interaction.choices ?? null,
		reply: interaction.original ? summarizeMessage(interaction.original) : null,
		follow_ups: interaction.followUps.map(summarizeMessage),
	};
}

/** `hidden`: channels that this user cannot view in guilds of which they are a member. */
export function summarizeState({ world, sockets, url, api, cdn, tour }: Controllable, userId: string) {
	const isHidden = (guild: Guild, place: GuildPlace) =>
		guild.members.has(userId) && !has(channelPermissions(guild, place, userId), "ViewChannel");
	const summarize = ({ user, token }: Account) => ({
		id: user.id,
		username: user.username,
		global_name: user.global_name,
		token,
		bot: user.bot === true,
		locale: world.users.locales.get(user.id) ?? Locale.EnglishUS,
	});
	return {
		url,
		api,
		cdn,
		connected: sockets.connected,
		tour,
		bots: world.users.bots.map((account) => {
			const { id } = account.user;
			const { clientSecret, redirectUris } = world.authorizations.settings(id) ?? {};
			const own = [...world.guilds.values()].filter(({ members }) => members.has(id));
			return {
				...summarize(account),
				client_secret: clientSecret,
				redirect_uris: redirectUris,
				intents: account.privilegedIntents,
				guilds: own.map(({ id, name }) => ({ id, name })),
			};
		}),
		users: world.users.people.map(summarize),
		locales: Object.values(Locale),
		guilds: [...world.guilds.values()].map((guild) => ({
			id: guild.id,
			name: guild.name,
			owner_id: guild.owner_id,
			member_count: serialize.memberCount(guild),
			channels: [...guild.channels.values()].map((channel) => {
				const { id, name, type } = channel;
				return { id, name, type, hidden: isHidden(guild, channel) };
			}),
			threads: [...guild.threads.values()].map((thread) => {
				const { id, name, type, parent_id, archived } = thread;
				return { id, name, type, parent_id, archived, hidden: isHidden(guild, thread) };
			}),
			roles: [...guild.roles.values()].map(({ id, name, position }) => ({ id, name, position })),
		})),
		direct_channels: [...world.channels.values()].flatMap((channel) =>
			inGuild(channel) ? [] : [{ id: channel.id, recipients: channel.recipients.map(({ username }) => username) }],
		),
	};
}

const maxListedMembers = 1000;

/** Only the channels that the person can view. Someone who is not a member sees everything, without permissions. */
export function summarizeGuild(world: World, guild: Guild, userId: string) {
	const isMember = guild.members.has(userId);
	const permissionsIn = (channel: GuildPlace) => (isMember ? channelPermissions(guild, channel, userId) : 0n);
	const shown = <T extends GuildPlace>(channels: ReadonlyMap<string, T>, serializeOne: (channel: T) => object) =>
		[...channels.values()].flatMap((channel) => {
			const bits = permissionsIn(channel);
			return isMember && !has(bits, "ViewChannel") ? [] : [{ ...serializeOne(channel), permissions: String(bits) }];
		});
	const members = [...guild.members.values()];
	const [bots, people] = [members.filter(({ user }) => user.bot), members.filter(({ user }) => !user.bot)];
	return {
		guild: serialize.guild(guild),
		is_member: isMember,
		permissions: String(isMember ? guildPermissions(guild, userId) : 0n),
		channels: shown(guild.channels, serialize.guildChannel),
		threads: shown(guild.threads, (one) => serialize.thread(one, userId)),
		members: [...bots, ...people].slice(0, maxListedMembers).map(serialize.member),
		member_count: serialize.memberCount(guild),
		voice_states: [...guild.voiceStates.keys()].flatMap((id) => {
			const member = guild.members.get(id);
			return member ? [serialize.voiceState(guild, member)] : [];
		}),
		invites: world.invites.list({ guild_id: guild.id }),
		bans: [...guild.bans.values()],
	};
}

/** Each subcommand is a command: `path` is its group and name. `label` is what people see of an option. */
export function summarizeCommands(
	world: World,
	guild: Guild,
	{ permissions, locale }: { permissions: bigint; locale: string },
) {
	return world.users.bots
		.filter(({ user }) => guild.members.has(user.id))
		.flatMap(({ user }) =>
			world.commands
				.usable(user.id, guild)
				.filter((command) => mayUse(command, permissions))
				.flatMap((command) => {
					const { id, type } = command;
					const common = { application_id: user.id, bot: user.username };
					return leavesOf(command, locale, []).map((leaf) => ({ ...common, id, type, ...leaf }));
				}),
		);
}

interface Leaf {
	name: string;
	description: string;
	options: readonly object[];
	path: readonly string[];
}

function leavesOf(command: Command | CommandOption, locale: string, path: readonly string[]): Leaf[] {
	const { options = [] } = command;
	const { name, description } = localized(command, locale);
	const nested = options.filter(isSubcommand);
	if (nested.length > 0)
		return nested.flatMap((one) =>
			leavesOf(one, locale, [...path, one.name]).map((leaf) => ({ ...leaf, name: `${name} ${leaf.name}` })),
		);
	const shown = options.map((option) => {
		const { name: label, description } = localized(option, locale);
		const choices = option.choices?.map((one) => ({ ...one, name: localized(one, locale).name }));
		return { ...option, label, description, choices };
	});
	return [{ name, description, options: shown, path }];
}

type Localizable = Pick<CommandOption, "name" | "name_localizations"> &
	Partial<Pick<CommandOption, "description" | "description_localizations">>;

/** https://docs.discord.com/developers/interactions/application-commands#localization */
function localized(one: Localizable, locale: string) {
	return {
		name: one.name_localizations?.[locale] ?? one.name,
		description: one.description_localizations?.[locale] ?? one.description ?? "",
	};
}
