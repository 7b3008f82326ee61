// Someone with a token, and what they can do in one call: say something, run a command, press a button. They go through
// the REST API, and see of the answers what Discord would show them.

import { MessageFlags, PermissionFlagsBits } from "discord.js";
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
	/** Posts a message through the REST API; rejects with Discord's refusal. `channel` as in `Simulator.channel`. */
	say(channel: string, text: string): Promise<Said>;
	/**
	 * Runs a slash command, "name" or, where several bots have it, "bot/name"; rejects with Discord's refusal. A user,
	 * role or channel among the options is given by its id.
	 */
	run(
		channel: string,
		command: string,
		options?: Readonly<Record<string, string | number | boolean>>,
	): Promise<Asked>;
	/**
	 * Votes in the poll of a message for the answers with these texts or ids, and for no others any more; none takes the
	 * vote back. Rejects when there is no such poll or answer, and when the poll has ended.
	 */
	vote(
		message: Pick<Said, "id" | "channel_id">,
		...answers: readonly (string | number)[]
	): Promise<void>;
	/** Presses the button with this custom_id or label; rejects when there is none, when it is disabled, and with Discord's refusal. */
	press(
		message: Pick<Said, "id" | "channel_id">,
		button: string,
	): Promise<Asked>;
}

export interface Said {
	readonly id: string;
	readonly channel_id: string;
	readonly content: string;
}

/** What was asked of a bot, and what comes of it. */
export interface Asked {
	/** The interaction's id. */
	readonly id: string;
	readonly state: Interaction["state"];
	/** Resolves once the bot has answered at all, also with "is thinking…"; with false when it did not in time. */
	acknowledged(): Promise<boolean>;
	/**
	 * Resolves with what the person sees in answer: a message, if need be the one that ends "is thinking…"; after an
	 * update the message with the button; or that the bot did not answer in time.
	 */
	reply(): Promise<Reply>;
	/** Resolves with the message that came after the answer; the second of them, and so on. */
	followUp(number?: number): Promise<Seen>;
}

/** A message as the person sees it: each property says how it is now. */
export interface Seen extends Said {
	/** Nobody else sees it. */
	readonly ephemeral: boolean;
	readonly embeds: Message["embeds"];
	readonly buttons: readonly Button[];
	readonly deleted: boolean;
	/** The contents that edits gave it, in order; the first one after "is thinking…" is none. */
	readonly edits: readonly string[];
}

export interface Reply extends Seen {
	/** Whether the bot did not answer in time: then `content` is what Discord says of it, and the only thing there is. */
	readonly failed: boolean;
	readonly followUps: readonly Seen[];
}

interface Ground {
	readonly world: World;
	readonly interactions: Interactions;
	/** Posts to the REST API as this person. */
	call(path: string, body: unknown): Promise<Response>;
	findChannel(name: string): Channel;
}

export function createUserClient(account: Account, ground: Ground): UserClient {
	const { user, token } = account;
	const { world, interactions } = ground;

	const post = async <T>(what: string, path: string, body: unknown) => {
		const response = await ground.call(path, body);
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
		if (!interaction) throw new Error(`interaction ${id} was lost`);
		return createAsked(interactions, interaction);
	};

	return {
		id: user.id,
		username: user.username,
		token,
		say: (channel, content) => {
			const { id } = ground.findChannel(channel);
			return post<Said>(`write in ${channel}`, `/channels/${id}/messages`, {
				content,
			});
		},
		run: async (channelName, name, options = {}) => {
			const channel = ground.findChannel(channelName);
			const { application_id, id } = findCommand(world, channel, name);
			return ask(`run /${name} in ${channelName}`, channel, {
				type: 2,
				application_id,
				data: {
					id,
					options: Object.entries(options).map(([name, value]) => ({
						name,
						value,
					})),
				},
			});
		},
		// What Discord's own clients ask for here is documented nowhere: it does not go through the REST API.
		vote: async ({ id, channel_id }, ...answers) => {
			const channel = ground.findChannel(channel_id);
			const message = world.messages.get(channel_id, id);
			if (user.bot) throw new Error(`${user.username} is a bot: none may vote`);
			if (!message?.poll || !isSeenBy(world, channel, user))
				throw new Error(`${user.username} sees no poll ${id}`);
			const ids = answers.map((answer) => answerIn(message, answer));
			world.polls.vote(channel, message, user, ids);
		},
		press: async ({ id, channel_id }, wanted) => {
			const channel = ground.findChannel(channel_id);
			const message =
				interactions.ephemeral(id, user) ?? world.messages.get(channel_id, id);
			if (!message) throw new Error(`${user.username} sees no message ${id}`);
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
	const bots = inGuild(channel)
		? [...world.accounts.values()].filter((one) =>
				guild?.members.has(one.user.id),
			)
		: [...world.accounts.values()].filter((one) =>
				channel.recipients.includes(one.user),
			);
	const found = bots
		.filter(({ user }) => bot === undefined || user.username === bot)
		.flatMap(({ user }) => world.commands.usable(user.id, guild))
		.filter((one) => one.name === command);
	const [first, ...others] = found;
	if (!first) throw new Error(`there is no command /${name} here`);
	if (others.length > 0)
		throw new Error(`${found.length} bots have /${name}; say "bot/${name}"`);
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
			`there is no button ${wanted} on this message; there is: ${names.join(", ") || "none"}`,
		);
	}
	if (button.url !== undefined)
		throw new Error(`the button ${wanted} is a link, and asks nobody`);
	if (button.disabled) throw new Error(`the button ${wanted} is disabled`);
	return button;
}

function isSeenBy(world: World, channel: Channel, user: User): boolean {
	if (!inGuild(channel)) return channel.recipients.includes(user);
	const granted = channelPermissions(
		world.guilds.of(channel),
		channel,
		user.id,
	);
	return has(granted, PermissionFlagsBits.ViewChannel);
}

function answerIn({ poll }: Message, wanted: string | number): number {
	const answer = poll?.answers.find(
		({ answer_id, poll_media }) =>
			answer_id === wanted || poll_media.text === wanted,
	);
	if (!answer) throw new Error(`the poll has no answer ${wanted}`);
	return answer.answer_id;
}

function createAsked(interactions: Interactions, asked: Interaction): Asked {
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
			return asked.followUps.map(seen);
		},
	});
	const isThinking = (message: Message) =>
		(message.flags & MessageFlags.Loading) !== 0 &&
		interactions.exists(message);
	const reply = (): Reply | undefined => {
		if (asked.state === "failed") return noReply(asked);
		const { original } = asked;
		if (!original || isThinking(original)) return undefined;
		return seen(original);
	};
	return {
		id: asked.id,
		get state() {
			return asked.state;
		},
		acknowledged: () =>
			interactions.until(asked, () =>
				asked.state === "waiting" ? undefined : asked.state !== "failed",
			),
		reply: () => interactions.until(asked, reply),
		followUp: (number = 1) =>
			interactions.until(asked, () => {
				const message = asked.followUps[number - 1];
				return message && seen(message);
			}),
	};
}

/** What Discord's client shows when there was no answer in time. */
function noReply({ command, channel }: Interaction): Reply {
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
