// A bot whose AI has tools, and plays a script.

import { startAiProvider } from "../../../../src/simulator/ai/ai-provider.ts";
import type { AnswerStep } from "../../../../src/simulator/ai/chat-completions.ts";
import type { Simulator } from "../../../../src/simulator/simulator.ts";
import type { Message } from "../../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../../support/test-with.ts";
import { until } from "../../../support/until.ts";
import { startWorld } from "../../../support/world.ts";

export const general = "The Cooks/general";
export const staff = "The Cooks/staff";

interface Written {
	id: string;
	channel_id: string;
}

interface AskingSetup {
	/** Of config.toml. */
	config?: Record<string, unknown>;
	/** Of the guild. */
	settings?(simulator: Simulator): Record<string, unknown> | Promise<Record<string, unknown>>;
}

export type Asking = Awaited<ReturnType<typeof startAsking>>;

export async function startAsking({ config, settings }: AskingSetup = {}) {
	const ai = await startAiProvider();
	const provider = { url: ai.url, model: "m", api_key_env: "SCRIPTED_API_KEY" };
	const world = await startWorld(
		{},
		{
			toml: { ...config, features: { chat: true, moderation: true }, ai: { providers: { scripted: provider } } },
			settings: async (simulator) => ({ "chat.tools": true, ...(await settings?.(simulator)) }),
			apiKeys: { SCRIPTED_API_KEY: ai.key },
		},
	);
	const { simulator } = world;
	const alpha = simulator.bot("alpha");

	/** Mentions the bot, as a reply if `to` is given. */
	async function say(person: string, text: string, channel = general, to?: Written): Promise<Written> {
		const channel_id = to?.channel_id ?? simulator.channel(channel).id;
		const response = await fetch(`${simulator.api}/v10/channels/${channel_id}/messages`, {
			method: "POST",
			headers: { authorization: simulator.user(person).token, "content-type": "application/json" },
			body: JSON.stringify({
				content: `<@${alpha.id}> ${text}`,
				...(to && { message_reference: { message_id: to.id } }),
			}),
		});
		if (!response.ok) throw new Error(await response.text());
		return (await response.json()) as Written;
	}

	/** The bot's messages after `id`. */
	const after = ({ id, channel_id }: Written) =>
		simulator.world.messages
			.in(channel_id)
			.filter((message) => message.author.id === alpha.id && BigInt(message.id) > BigInt(id));

	return {
		world,
		simulator,
		ai,
		alpha,
		say,
		/** Mentions the bot. The AI takes the steps, one for each request. */
		ask(person: string, text: string, steps: readonly AnswerStep[], channel = general, to?: Written) {
			ai.script = [...steps];
			return say(person, text, channel, to);
		},
		/** The bot's message after `asked` for which `is` holds. */
		answer: (asked: Written, is: (message: Message) => boolean): Promise<Message> =>
			until("the bot has answered", () => after(asked).find(is)),
		/** With a button of this label. */
		withButton: (asked: Written, label: string): Promise<Message> =>
			until(`there is a button ${label}`, () =>
				after(asked).find(({ components }) => JSON.stringify(components).includes(`"label":"${label}"`)),
			),
		/** Presses the button under an answer for them alone, once the bot knows what it has posted. */
		async open(person: string, notice: Message) {
			for (;;) {
				const shown = await simulator.user(person).press(notice, "Show to me");
				if (!(await shown.reply()).content.includes("do not remember")) return shown;
			}
		},
		/** What the model read of the results of its calls. */
		results: () =>
			(ai.requests.at(-1)?.messages ?? []).flatMap(({ role, content }) => (role === "tool" ? [content] : [])),
		async [Symbol.asyncDispose]() {
			await world[Symbol.asyncDispose]();
			await ai.close();
		},
	};
}

export const askingTest = testWith(startAsking);
