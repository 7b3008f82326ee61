// AI chat between the simulator and a simulated AI provider.

import { afterAll, beforeAll } from "bun:test";
import { createAi } from "../../../../src/ai/ai.ts";
import { AskedCalls } from "../../../../src/bot/approval/asked-calls.ts";
import type { BotConfig } from "../../../../src/bot/config/config.ts";
import { type ChatTiming, createChat } from "../../../../src/bot/features/chat/chat.ts";
import { startAiProvider } from "../../../../src/simulator/ai/ai-provider.ts";
import type { Message } from "../../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../../support/test-with.ts";
import { until } from "../../../support/until.ts";
import { type FeatureSetup, startFeature } from "../running-feature.ts";

export const general = "The Cooks/general";

export interface ChatSetup extends Partial<Omit<FeatureSetup, "create">> {
	timing?: Partial<ChatTiming>;
	config?: Partial<BotConfig>;
	/** Settings of its one provider. */
	provider?: Record<string, unknown>;
	/** Without a provider. */
	withoutAi?: boolean;
}

/** Numbered words. */
export const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

export interface Written {
	id: string;
	channel_id: string;
}

export type RunningChat = Awaited<ReturnType<typeof startChat>>;

/** One bot for a group of tests; `place` creates a channel and a person for each. */
export function shareChat(options?: ChatSetup) {
	let chat: RunningChat;
	beforeAll(async () => {
		chat = await startChat(options);
	});
	afterAll(() => chat[Symbol.asyncDispose]());
	return {
		chat: () => chat,
		async place() {
			return { person: chat.newPerson(), channel: await chat.newChannel() };
		},
	};
}

export async function startChat(options: ChatSetup = {}) {
	const ai = await startAiProvider();
	let hours = 0;
	const { timing, config, provider, withoutAi, ...others } = options;
	const api_key_env = "SIMULATED_API_KEY";
	const settings = {
		order: ["simulated"],
		providers: { simulated: { url: ai.url, model: "m", api_key_env, ...provider } },
	};
	// Hours between questions end the cooldown of a failed provider.
	const now = () => ++hours * 3_600_000;
	const feature = await startFeature({
		settings: () => ({ features: { chat: true } }),
		...others,
		create(given) {
			const apiKeys = { [api_key_env]: ai.key };
			const created = createAi({ settings, apiKeys, log: given.log, now });
			const askedCalls = new AskedCalls({ record() {}, settings: given.settings, log: given.log });
			return createChat(
				{ ...given, askedCalls, config: { ...given.config, ...config }, ai: withoutAi ? undefined : created },
				{ editIntervalMs: 20, retryMs: 20, ...timing },
			);
		},
	});
	const { simulator } = feature;
	const { id: botId, token } = simulator.bot("alpha");
	const mention = `<@${botId}>`;
	let people = 0;

	/** Sends a request as a person or as the bot. Returns the response's JSON. */
	async function as(person: string, request: string, body?: object): Promise<{ id: string }> {
		const [method = "", path] = request.split(" ");
		const authorization = person === "alpha" ? `Bot ${token}` : simulator.user(person).token;
		const response = await fetch(`${simulator.api}/v10${path}`, {
			method,
			headers: { authorization, "content-type": "application/json" },
			...(body && { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(text);
		return JSON.parse(text || "{}");
	}

	/** Posts as a person, as a reply if `to` is given. */
	async function write(
		person: string,
		content: string,
		given: { to?: Written; ping?: boolean; channel?: string } = {},
	): Promise<Written> {
		const { to, ping = true, channel = general } = given;
		const channel_id = to?.channel_id ?? simulator.channel(channel).id;
		const { id } = await as(person, `POST /channels/${channel_id}/messages`, {
			content,
			...(to && { message_reference: { message_id: to.id } }),
			...(!ping && { allowed_mentions: { parse: ["users"], replied_user: false } }),
		});
		return { id, channel_id };
	}

	/** The bot's reply to a message, once its content matches. */
	function reply(to: Written, saying: RegExp | string = /^/): Promise<Message> {
		return until(`a reply that matches ${saying}`, () =>
			simulator.world.messages
				.in(to.channel_id)
				.find(
					({ author, content, message_reference }) =>
						author.id === botId &&
						message_reference?.message_id === to.id &&
						(typeof saying === "string" ? content === saying : saying.test(content)),
				),
		);
	}

	return {
		feature,
		ai,
		botId,
		mention,
		as,
		write,
		reply,
		/** Mentions the bot, or replies to `to`, and waits for its reply. */
		async ask(
			person: string,
			content: string,
			given: { to?: Written; channel?: string; saying?: RegExp | string } = {},
		) {
			const text = given.to ? content : `${mention} ${content}`;
			return reply(await write(person, text, given), given.saying);
		},
		/** The id of a new text channel. */
		async newChannel() {
			const path = `POST /guilds/${feature.guild.id}/channels`;
			return (await as("ada", path, { name: "more" })).id;
		},
		/** A person without questions yet: a person may ask ten times a minute. */
		newPerson() {
			people += 1;
			const username = `person${people}`;
			const { world } = simulator;
			const { user } = world.users.addPerson({ username });
			world.members.add(feature.guild, user);
			return username;
		},
		/** What the bot has written in a channel, in order. */
		written: (channel = general) =>
			simulator.world.messages.in(simulator.channel(channel).id).filter(({ author }) => author.id === botId),
		/** Resolves when an answer is in the store, with its text. */
		noted: ({ id }: Pick<Written, "id">) =>
			until(`${id} is in the store`, async () => {
				const rows = await feature.store.sql`
					SELECT 1 FROM conversation_messages WHERE message_id = ${id} AND content <> ''`;
				return rows.length > 0;
			}),
		/** The messages of a request to the AI, by default the last, without the system prompt. */
		told: (request = ai.requests.at(-1)) =>
			(request?.messages ?? [])
				.filter(({ role }) => role !== "system")
				.map(({ role, content }) => `${role}: ${content}`),
		/** The bot's writes to messages of a channel. */
		writes: (channel: string) =>
			simulator.requests
				.list()
				.filter(
					({ method, path, actor }) =>
						actor === botId && method !== "GET" && /\/messages(\/\d+)?$/.test(path) && path.includes(channel),
				),
		async [Symbol.asyncDispose]() {
			ai.behave();
			await feature[Symbol.asyncDispose]();
			await ai.close();
		},
	};
}

export const chatTest = testWith(startChat);
