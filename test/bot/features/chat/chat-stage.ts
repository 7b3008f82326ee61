// The simulator, the simulated AI, and AI chat between them, with people who write to it.

import { afterAll, beforeAll } from "bun:test";
import { createAi } from "../../../../src/bot/ai/ai.ts";
import type { BotConfig } from "../../../../src/bot/config/config.ts";
import {
	type ChatTiming,
	createChat,
} from "../../../../src/bot/features/chat/chat.ts";
import {
	type AiRequest,
	type AiSimulation,
	startAiProvider,
} from "../../../../src/simulator/ai/ai-provider.ts";
import type { Message } from "../../../../src/simulator/world/state/entities.ts";
import { until } from "../../../support/until.ts";
import { type Stage, type StageOptions, startStage } from "../stage.ts";

export const general = "The Cooks/general";

export interface ChatStageOptions
	extends Partial<Omit<StageOptions, "create">> {
	timing?: Partial<ChatTiming>;
	config?: Partial<BotConfig>;
	/** Keys of its one provider. */
	provider?: Record<string, unknown>;
	/** No provider is set up. */
	withoutAi?: boolean;
}

/** Numbered words. */
export const words = (count: number) =>
	Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

export interface Written {
	id: string;
	channel_id: string;
}

export interface ChatStage extends AsyncDisposable {
	stage: Stage;
	ai: AiSimulation;
	botId: string;
	mention: string;
	/** Posts as a person, as a reply if `to` is given. */
	write(
		person: string,
		content: string,
		given?: { to?: Written; ping?: boolean; channel?: string },
	): Promise<Written>;
	/** A request as a person, or as the bot; gives the answer's JSON. */
	as(person: string, request: string, body?: object): Promise<{ id: string }>;
	/** The id of a new text channel. */
	newChannel(): Promise<string>;
	/** Who has asked nothing yet, for tests with one bot: a person may ask ten times a minute. */
	newPerson(): string;
	/** What the bot has written in a channel, in order. */
	written(channel?: string): Message[];
	/** The bot's reply to a message, once it says this. */
	reply(to: Written, saying?: RegExp | string): Promise<Message>;
	/** Resolves when an answer is in the store, with its text. */
	noted(answer: Pick<Written, "id">): Promise<unknown>;
	/** What the AI was last told, without the system prompt, a line for each message. */
	told(request?: AiRequest): string[];
	/** Requests that the bot made, as "METHOD" of those on messages. */
	writes(): { method: string; at: number; path: string }[];
}

/** One bot for the tests of a group, and for each of them a channel and a person of its own. */
export function oneStage(options?: ChatStageOptions) {
	let running: ChatStage;
	beforeAll(async () => {
		running = await startChatStage(options);
	});
	afterAll(() => running[Symbol.asyncDispose]());
	return {
		chat: () => running,
		async place() {
			const { newPerson, newChannel } = running;
			return { person: newPerson(), channel: await newChannel() };
		},
	};
}

export async function startChatStage(
	options: ChatStageOptions = {},
): Promise<ChatStage> {
	const ai = await startAiProvider();
	let hours = 0;
	const { timing, config, provider, withoutAi, ...others } = options;
	const stage = await startStage({
		settings: () => ({ features: { chat: true } }),
		...others,
		create: (given) => {
			const settings = {
				order: ["simulated"],
				providers: {
					simulated: {
						...{ url: ai.url, model: "m", api_key_env: "SIMULATED_API_KEY" },
						...provider,
					},
				},
			};
			const apiKeys = { SIMULATED_API_KEY: ai.key };
			return createChat(
				{
					...given,
					config: { ...given.config, ...config },
					ai: withoutAi
						? undefined
						: createAi({
								...{ settings, apiKeys, log: given.log },
								// Hours pass between questions, so that a provider that failed has rested.
								now: () => ++hours * 3_600_000,
							}),
				},
				{ editIntervalMs: 20, retryMs: 20, ...timing },
			);
		},
	});
	const { simulator } = stage;
	const botId = simulator.bot("alpha").id;
	let people = 0;
	const written = (channel = general) =>
		simulator.world.messages
			.in(simulator.channel(channel).id)
			.filter(({ author }) => author.id === botId);
	const as: ChatStage["as"] = async (person, request, body) => {
		const [method = "", path] = request.split(" ");
		const token =
			person === "alpha"
				? `Bot ${simulator.bot("alpha").token}`
				: simulator.user(person).token;
		const response = await fetch(`${simulator.api}/v10${path}`, {
			method,
			headers: { authorization: token, "content-type": "application/json" },
			...(body && { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(text);
		return text === "" ? {} : JSON.parse(text);
	};
	return {
		...{ stage, ai, botId, mention: `<@${botId}>`, written },
		as,
		newChannel: async () =>
			(
				await as("ada", `POST /guilds/${stage.guild.id}/channels`, {
					name: "more",
				})
			).id,
		newPerson() {
			people += 1;
			const username = `person${people}`;
			const { world } = simulator;
			const { user } = world.users.addPerson({ username });
			world.members.add(stage.guild, user);
			return username;
		},
		async write(person, content, { to, ping = true, channel = general } = {}) {
			const id = to?.channel_id ?? simulator.channel(channel).id;
			const sent = await as(person, `POST /channels/${id}/messages`, {
				content,
				...(to && { message_reference: { message_id: to.id } }),
				...(!ping && {
					allowed_mentions: { parse: ["users"], replied_user: false },
				}),
			});
			return { id: sent.id, channel_id: id };
		},
		reply: (to, saying = /^/) =>
			until(`a reply that says ${saying}`, () =>
				simulator.world.messages
					.in(to.channel_id)
					.find(
						({ author, content, message_reference }) =>
							author.id === botId &&
							message_reference?.message_id === to.id &&
							(typeof saying === "string"
								? content === saying
								: saying.test(content)),
					),
			),
		noted: ({ id }) =>
			until(`${id} is in the store`, async () => {
				const rows = await stage.store.sql`
					SELECT 1 FROM conversation_messages WHERE message_id = ${id} AND content <> ''`;
				return rows.length > 0;
			}),
		told(request = ai.requests.at(-1)) {
			return (request?.messages ?? [])
				.filter(({ role }) => role !== "system")
				.map(({ role, content }) => `${role}: ${content}`);
		},
		writes: () =>
			simulator.requests
				.list()
				.filter(
					({ method, path, actor }) =>
						actor === botId &&
						method !== "GET" &&
						/\/messages(\/\d+)?$/.test(path),
				)
				.map(({ method, at, path }) => ({
					...{ method, path, at: Date.parse(at) },
				})),
		async [Symbol.asyncDispose]() {
			ai.behave();
			await stage[Symbol.asyncDispose]();
			await ai.close();
		},
	};
}
