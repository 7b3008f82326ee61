// The client of a person or bot with a token: sends messages, runs commands, uses buttons, menus and modals, votes. It uses
// the REST API and sees responses as Discord's client shows them.

import { ApplicationCommandType as CommandKind, ComponentType, InteractionType } from "discord.js";
import { mayUse } from "../world/accounts/commands.ts";
import {
	buttonsIn,
	filledIn,
	inputsIn,
	type Modal,
	type ModalInput,
	selectMenusIn,
} from "../world/messages/components.ts";
import {
	type Account,
	type Channel,
	type Command,
	type CommandType,
	inGuild,
	type Message,
	type User,
} from "../world/state/entities.ts";
import { has } from "../world/state/permissions.ts";
import type { World } from "../world/world.ts";
import { createHandle, type InteractionHandle, type MessageIds, type SentMessage } from "./handle.ts";
import type { Choice, Interaction, SentOption } from "./interaction.ts";
import type { Interactions } from "./interactions.ts";

export interface Upload {
	filename: string;
	content: string | Uint8Array;
	content_type?: string;
}

export type OptionValues = Readonly<Record<string, string | number | boolean>>;

interface ClientContext {
	world: World;
	interactions: Interactions;
	call(path: string, body: unknown, files?: readonly Upload[]): Promise<Response>;
	findChannel: (name: string) => Channel;
}

export class UserClient {
	readonly id: string;
	readonly username: string;
	readonly token: string;
	readonly #user: User;

	constructor(
		{ user, token }: Account,
		private readonly context: ClientContext,
	) {
		this.id = user.id;
		this.username = user.username;
		this.token = token;
		this.#user = user;
	}

	/** `channel` is its id or name. Rejects with Discord's error if Discord would refuse the message. */
	say(
		channel: string,
		content: string,
		{ attachments = [] }: { attachments?: readonly Upload[] } = {},
	): Promise<SentMessage> {
		const path = `/channels/${this.context.findChannel(channel).id}/messages`;
		return this.#post(`write in ${channel}`, path, { content }, attachments);
	}

	/** For slash and context menus. A command registered globally and in the guild is there twice. */
	commands(channelName: string): readonly Command[] {
		const { world, findChannel } = this.context;
		const channel = findChannel(channelName);
		const granted = world.channels.permissionsOf(channel, this.#user);
		return commandsIn(world, channel).filter((command) => mayUse(command, granted));
	}

	/** `line`: "name", "name group subcommand" or "bot/name". Rejects with Discord's error. */
	async run(channelName: string, line: string, values: OptionValues = {}): Promise<InteractionHandle> {
		const { channel, body } = this.#slash(channelName, line, values);
		const type = InteractionType.ApplicationCommand;
		return this.#ask(`run /${line} in ${channelName}`, channel, { type, ...body });
	}

	/** For the option `focused`; `options` has its text so far. Rejects if the bot does not respond in time. */
	async suggest(channelName: string, line: string, options: OptionValues, focused: string): Promise<readonly Choice[]> {
		const { channel, body } = this.#slash(channelName, line, { [focused]: "", ...options }, focused);
		const type = InteractionType.ApplicationCommandAutocomplete;
		const interaction = await this.#create(`type /${line}`, channel, { type, ...body });
		return this.context.interactions.until(interaction, () => {
			// What Discord's client shows.
			if (interaction.state === "failed") throw new Error("Loading options failed");
			return interaction.choices;
		});
	}

	async runOnUser(channel: string, command: string, userId: string): Promise<InteractionHandle> {
		return this.#runOn(CommandKind.User, channel, command, userId);
	}

	async runOnMessage({ id, channel_id }: MessageIds, command: string): Promise<InteractionHandle> {
		return this.#runOn(CommandKind.Message, channel_id, command, id);
	}

	/** Removes earlier votes. Rejects if the poll or an answer (its text or id) does not exist, or the poll has ended. */
	async vote({ id, channel_id }: MessageIds, ...answers: readonly (string | number)[]): Promise<void> {
		// The route that Discord's clients use is not documented: this bypasses the REST API.
		const { world, findChannel } = this.context;
		const user = this.#user;
		const channel = findChannel(channel_id);
		const message = world.messages.get(channel_id, id);
		if (user.bot) throw new Error(`${user.username} is a bot and cannot vote`);
		if (!message?.poll || !has(world.channels.permissionsOf(channel, user), "ViewChannel"))
			throw new Error(
				`the user ${user.username} cannot vote: there is no message ${id} with a poll that the user can see`,
			);
		const all = message.poll.answers;
		const ids = answers.map((wanted) => {
			const answer = all.find(({ answer_id, poll_media }) => answer_id === wanted || poll_media.text === wanted);
			if (!answer) throw new Error(`the poll has no answer ${wanted}`);
			return answer.answer_id;
		});
		world.polls.vote(channel, message, user, ids);
	}

	/** `button` is its custom_id or label. Rejects if it is missing or disabled, or if Discord would refuse the click. */
	async press(message: MessageIds, button: string): Promise<InteractionHandle> {
		const seen = this.#seen(message);
		const { custom_id, url, disabled } = findNamed("button", buttonsIn(seen.components), button);
		if (url !== undefined) throw new Error(`the button ${button} is a link, which nobody can press`);
		if (disabled) throw new Error(`the button ${button} is disabled`);
		return this.#use(`press ${button}`, seen, { component_type: ComponentType.Button, custom_id });
	}

	/** `values` are those of the menu's options, or ids of users, roles or channels. */
	async select(message: MessageIds, menu: string, ...values: readonly string[]): Promise<InteractionHandle> {
		const seen = this.#seen(message);
		const { type: component_type, custom_id } = findNamed("select menu", selectMenusIn(seen.components), menu);
		return this.#use(`choose in ${menu}`, seen, { component_type, custom_id, values });
	}

	/** `values` of the modal that the bot opened, by custom_id. Inputs that are left out keep their first value. */
	async submit(
		{ id }: Pick<InteractionHandle, "id">,
		values: Readonly<Record<string, string | readonly string[]>>,
	): Promise<InteractionHandle> {
		const { interactions } = this.context;
		const trigger = interactions.get(id);
		if (!trigger) throw new Error(`the simulator has no interaction ${id}`);
		const modal = await interactions.until(trigger, () =>
			trigger.state === "waiting" ? undefined : (trigger.modal ?? null),
		);
		if (!modal) throw new Error(`the bot opened no modal for ${id}`);
		return this.#ask(`submit ${modal.custom_id}`, trigger.channel, {
			type: InteractionType.ModalSubmit,
			application_id: trigger.application.user.id,
			data: { id, ...submissionOf(modal, values) },
		});
	}

	async #post<T>(what: string, path: string, body: unknown, files: readonly Upload[] = []): Promise<T> {
		const response = await this.context.call(path, body, files);
		if (!response.ok) throw new Error(`${this.username} could not ${what}: ${await response.text()}`);
		return (await response.json()) as T;
	}

	async #create(what: string, channel: Channel, body: object): Promise<Interaction> {
		const place = inGuild(channel) ? { guild_id: channel.guild_id } : {};
		const whole = { ...body, channel_id: channel.id, ...place };
		const { id } = await this.#post<{ id: string }>(what, "/interactions", whole);
		const interaction = this.context.interactions.get(id);
		if (!interaction) throw new Error(`the simulator has no interaction ${id}`);
		return interaction;
	}

	async #ask(what: string, channel: Channel, body: object): Promise<InteractionHandle> {
		return createHandle(this.context.interactions, await this.#create(what, channel, body));
	}

	#slash(channelName: string, line: string, values: OptionValues, focused?: string) {
		const channel = this.context.findChannel(channelName);
		const [name = "", ...subcommands] = line.split(" ");
		const type = CommandKind.ChatInput;
		const { application_id, id } = findCommand(this.context.world, channel, name, type);
		const options = optionsOf(subcommands, values, focused);
		return { channel, body: { application_id, data: { id, type, options } } };
	}

	#runOn(type: CommandType, channelName: string, name: string, target_id: string): Promise<InteractionHandle> {
		const channel = this.context.findChannel(channelName);
		const { application_id, id } = findCommand(this.context.world, channel, name, type);
		return this.#ask(`use ${name} in ${channelName}`, channel, {
			type: InteractionType.ApplicationCommand,
			application_id,
			data: { id, type, target_id },
		});
	}

	#use(what: string, message: Message, data: object): Promise<InteractionHandle> {
		return this.#ask(what, this.context.findChannel(message.channel_id), {
			type: InteractionType.MessageComponent,
			application_id: message.author.id,
			message_id: message.id,
			data,
		});
	}

	#seen({ id, channel_id }: MessageIds): Message {
		const { interactions, world } = this.context;
		const message = interactions.ephemeral(id, this.#user) ?? world.messages.get(channel_id, id);
		if (message) return message;
		throw new Error(`the user ${this.username} cannot see the message ${id}`);
	}
}

function commandsIn(world: World, channel: Channel): Command[] {
	const guild = world.guilds.of(channel);
	return [...world.accounts.values()]
		.filter(({ user }) => (inGuild(channel) ? guild?.members.has(user.id) : channel.recipients.includes(user)))
		.flatMap(({ user }) => world.commands.usable(user.id, guild));
}

function findCommand(world: World, channel: Channel, name: string, type: CommandType): Command {
	const [wanted, bot] = name.split("/").reverse();
	const isWanted = (one: Command) =>
		one.name === wanted &&
		one.type === type &&
		(bot === undefined || world.users.get(one.application_id)?.username === bot);
	const found = commandsIn(world, channel).filter(isWanted);
	const bots = new Set(found.map(({ application_id }) => application_id));
	// Of two commands of a bot, the one registered in the guild is used.
	const [first] = found;
	if (!first) throw new Error(`the user can see no command /${name}`);
	if (bots.size > 1) throw new Error(`${bots.size} bots have the command /${name}: write "<bot>/${name}"`);
	return first;
}

function findNamed<One extends { custom_id?: string; label?: string }>(
	noun: string,
	all: readonly One[],
	wanted: string,
): One {
	const found = all.find(({ custom_id }) => custom_id === wanted) ?? all.find(({ label }) => label === wanted);
	if (found) return found;
	const names = all.map(({ label, custom_id }) => label ?? custom_id);
	throw new Error(`the message has no ${noun} ${wanted}; it has: ${names.join(", ") || "none"}`);
}

/** The options of a subcommand are nested in it. `focused` is the option whose value the user is typing. */
function optionsOf(subcommands: readonly string[], values: OptionValues, focused?: string): readonly SentOption[] {
	const options = Object.entries(values).map(
		([name, value]): SentOption => ({ name, value, ...(name === focused && { focused: true }) }),
	);
	return subcommands.reduceRight<readonly SentOption[]>((inner, name) => [{ name, options: inner }], options);
}

export function bodyWith(json: unknown, files: readonly Upload[]) {
	if (files.length === 0) return JSON.stringify(json);
	const form = new FormData();
	form.append("payload_json", JSON.stringify(json));
	for (const [index, { filename, content, content_type }] of files.entries()) {
		const type = content_type ?? "application/octet-stream";
		// A Uint8Array can be a view of a shared buffer, which a File does not take.
		const bytes = typeof content === "string" ? content : Buffer.from(content);
		form.append(`files[${index}]`, new File([bytes], filename, { type }));
	}
	return form;
}

/** Returns the request data of a modal submitted with these values. Inputs without a value keep their initial value. */
function submissionOf(modal: Modal, values: Readonly<Record<string, string | readonly string[]>>) {
	const known = inputsIn(modal).map(({ input }) => input.custom_id);
	for (const name of Object.keys(values))
		if (!known.includes(name)) throw new Error(`the modal has no input ${name}; its inputs are: ${known.join(", ")}`);
	const fill = (input: ModalInput) => {
		const { type, id, custom_id } = input;
		const given = values[custom_id];
		if (type === ComponentType.TextInput) return { type, id, custom_id, value: given ?? input.value ?? "" };
		return { type, id, custom_id, values: [given ?? []].flat() };
	};
	return filledIn(modal, fill);
}
