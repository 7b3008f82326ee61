// The client of a person or bot with a token: sends messages, runs commands, presses buttons, votes. It uses the REST API
// and sees responses as Discord's client shows them.

import { MessageFlags, PermissionFlagsBits as Permission } from "discord.js";
import { type Button, buttonsIn } from "../world/messages/buttons.ts";
import type {
	Account,
	Channel,
	Message,
	User,
} from "../world/state/entities.ts";
import { inGuild } from "../world/state/entities.ts";
import { channelPermissions, has } from "../world/state/permissions.ts";
import type { World } from "../world/world.ts";
import type { Interaction, Interactions } from "./interactions.ts";

export interface UserClient {
	readonly id: string;
	readonly username: string;
	readonly token: string;
	/**
	 * Sends a message to a channel. `channel` is the channel's id or name. Rejects with Discord's error if Discord would
	 * refuse the message.
	 */
	say(channel: string, text: string): Promise<SentMessage>;
	/**
	 * Runs the slash command "name", or "bot/name" if several bots have a command of this name. Users, roles and channels
	 * as option values are given by id. Rejects with Discord's error if Discord would refuse the command.
	 */
	run(
		channel: string,
		command: string,
		options?: Readonly<Record<string, string | number | boolean>>,
	): Promise<InteractionHandle>;
	/**
	 * Votes in a poll and removes the user's earlier votes. Answers are named by text or id. Rejects if the poll or an
	 * answer does not exist, or the poll has ended.
	 */
	vote(
		message: MessageIds,
		...answers: readonly (string | number)[]
	): Promise<void>;
	/**
	 * Presses a button of a message. `button` is the button's custom_id or label. Rejects if the button does not exist,
	 * if it is disabled, or if Discord would refuse the click.
	 */
	press(message: MessageIds, button: string): Promise<InteractionHandle>;
}

type MessageIds = Pick<Message, "id" | "channel_id">;
export type SentMessage = Readonly<MessageIds & Pick<Message, "content">>;

/** A use of a slash command or button, with functions to wait for the bot's response. */
export interface InteractionHandle {
	readonly id: string;
	readonly state: Interaction["state"];
	/**
	 * Resolves with true when the bot responds to the slash command or button or defers its response; with false if the
	 * bot does neither in time.
	 */
	acknowledged(): Promise<boolean>;
	/**
	 * Resolves with the final message of the bot's response to the slash command or button: a new message, or the
	 * button's message if the bot updates it. The result says whether the bot failed to respond in time.
	 */
	reply(): Promise<Reply>;
	/**
	 * Resolves with the bot's follow-up message number `number` to a slash command or button; 1, the default, is the
	 * first.
	 */
	followUp(number?: number): Promise<VisibleMessage>;
}

/** A message as the user sees it. Its properties always have the current values. */
export interface VisibleMessage extends SentMessage {
	/** Whether the message is ephemeral: only the user who used the slash command or button sees it. */
	readonly ephemeral: boolean;
	readonly embeds: Message["embeds"];
	readonly buttons: readonly Button[];
	readonly deleted: boolean;
	/**
	 * The content after each edit of the message, oldest first. Completing a deferred response does not count as an edit.
	 */
	readonly edits: readonly string[];
}

export interface Reply extends VisibleMessage {
	/**
	 * Whether the bot did not respond to a slash command or button in time. If so, `content` is the error text that
	 * Discord's client shows.
	 */
	readonly failed: boolean;
	readonly followUps: readonly VisibleMessage[];
}

interface ClientContext {
	readonly world: World;
	readonly interactions: Interactions;
	/** Sends a POST request with a JSON body to the simulated REST API as this user. */
	call(path: string, body: unknown): Promise<Response>;
	findChannel(name: string): Channel;
}

export function createUserClient(
	account: Account,
	context: ClientContext,
): UserClient {
	const { user, token } = account;
	const { world, interactions } = context;

	const post = async <T>(what: string, path: string, body: unknown) => {
		const response = await context.call(path, body);
		if (!response.ok)
			throw new Error(
				`${user.username} could not ${what}: ${await response.text()}`,
			);
		return (await response.json()) as T;
	};
	const ask = async (what: string, channel: Channel, body: object) => {
		const { id } = await post<{ id: string }>(what, "/interactions", {
			...body,
			channel_id: channel.id,
			...(inGuild(channel) ? { guild_id: channel.guild_id } : {}),
		});
		const interaction = interactions.get(id);
		if (!interaction) throw new Error(`the simulator has no interaction ${id}`);
		return createHandle(interactions, interaction);
	};

	return {
		id: user.id,
		username: user.username,
		token,
		say: (channel, content) => {
			const path = `/channels/${context.findChannel(channel).id}/messages`;
			return post<SentMessage>(`write in ${channel}`, path, { content });
		},
		run: async (channelName, name, options = {}) => {
			const channel = context.findChannel(channelName);
			const { application_id, id } = findCommand(world, channel, name);
			const given = Object.entries(options);
			return ask(`run /${name} in ${channelName}`, channel, {
				type: 2,
				application_id,
				data: { id, options: given.map(([name, value]) => ({ name, value })) },
			});
		},
		// The route that Discord's clients use is not documented: this bypasses the REST API.
		vote: async ({ id, channel_id }, ...answers) => {
			const channel = context.findChannel(channel_id);
			const message = world.messages.get(channel_id, id);
			if (user.bot)
				throw new Error(`${user.username} is a bot and cannot vote`);
			if (!message?.poll || !isSeenBy(world, channel, user))
				throw new Error(
					`the user ${user.username} cannot vote: there is no message ${id} with a poll that the user can see`,
				);
			const ids = answers.map((answer) => answerIn(message, answer));
			world.polls.vote(channel, message, user, ids);
		},
		press: async ({ id, channel_id }, wanted) => {
			const channel = context.findChannel(channel_id);
			const message =
				interactions.ephemeral(id, user) ?? world.messages.get(channel_id, id);
			if (!message)
				throw new Error(
					`the user ${user.username} cannot see the message ${id}`,
				);
			const button = findButton(message, wanted);
			return ask(`press ${wanted}`, channel, {
				type: 3,
				application_id: message.author.id,
				message_id: id,
				data: { component_type: 2, custom_id: button.custom_id },
			});
		},
	};
}

function findCommand(world: World, channel: Channel, name: string) {
	const guild = inGuild(channel) ? world.guilds.of(channel) : undefined;
	const [command, bot] = name.split("/").reverse();
	const found = [...world.accounts.values()]
		.filter(({ user }) =>
			inGuild(channel)
				? guild?.members.has(user.id)
				: channel.recipients.includes(user),
		)
		.filter(({ user }) => bot === undefined || user.username === bot)
		.flatMap(({ user }) => world.commands.usable(user.id, guild))
		.filter((one) => one.name === command);
	const [first, ...others] = found;
	if (!first) throw new Error(`the user can see no command /${name}`);
	if (others.length > 0)
		throw new Error(
			`${found.length} bots have the command /${name}: write "<bot>/${name}"`,
		);
	return first;
}

function findButton(message: Message, wanted: string): Button {
	const buttons = buttonsIn(message.components);
	const button =
		buttons.find(({ custom_id }) => custom_id === wanted) ??
		buttons.find(({ label }) => label === wanted);
	if (!button) {
		const names = buttons.map(({ label, custom_id }) => label ?? custom_id);
		throw new Error(
			`the message ${message.id} has no button ${wanted}; its buttons are: ${names.join(", ") || "none"}`,
		);
	}
	if (button.url !== undefined)
		throw new Error(`the button ${wanted} is a link, which nobody can press`);
	if (button.disabled) throw new Error(`the button ${wanted} is disabled`);
	return button;
}

function isSeenBy(world: World, channel: Channel, user: User): boolean {
	if (!inGuild(channel)) return channel.recipients.includes(user);
	const guild = world.guilds.of(channel);
	const granted = channelPermissions(guild, channel, user.id);
	return has(granted, Permission.ViewChannel);
}

function answerIn({ poll }: Message, wanted: string | number): number {
	const answer = poll?.answers.find(
		({ answer_id, poll_media }) =>
			answer_id === wanted || poll_media.text === wanted,
	);
	if (!answer) throw new Error(`the poll has no answer ${wanted}`);
	return answer.answer_id;
}

function createHandle(
	interactions: Interactions,
	interaction: Interaction,
): InteractionHandle {
	const seen = (message: Message): Reply => ({
		id: message.id,
		failed: false,
		channel_id: message.channel_id,
		get content() {
			return message.content;
		},
		get ephemeral() {
			return (message.flags & MessageFlags.Ephemeral) !== 0;
		},
		get embeds() {
			return message.embeds;
		},
		get buttons() {
			return buttonsIn(message.components);
		},
		get deleted() {
			return !interactions.exists(message);
		},
		get edits() {
			return interactions.editsOf(message);
		},
		get followUps() {
			return interaction.followUps.map(seen);
		},
	});
	const isThinking = (message: Message) =>
		(message.flags & MessageFlags.Loading) !== 0 &&
		interactions.exists(message);
	const reply = (): Reply | undefined => {
		if (interaction.state === "failed") return failedReply(interaction);
		const { original } = interaction;
		if (!original || isThinking(original)) return undefined;
		return seen(original);
	};
	return {
		id: interaction.id,
		get state() {
			return interaction.state;
		},
		acknowledged: () =>
			interactions.until(interaction, () =>
				interaction.state === "waiting"
					? undefined
					: interaction.state !== "failed",
			),
		reply: () => interactions.until(interaction, reply),
		followUp: (number = 1) =>
			interactions.until(interaction, () => {
				const message = interaction.followUps[number - 1];
				return message && seen(message);
			}),
	};
}

/** The response that Discord's client shows to a user if the bot did not respond in time. */
function failedReply({ command, channel }: Interaction): Reply {
	return {
		id: "",
		channel_id: channel.id,
		failed: true,
		content: command
			? "The application did not respond"
			: "This interaction failed",
		ephemeral: true,
		deleted: false,
		embeds: [],
		buttons: [],
		edits: [],
		followUps: [],
	};
}
