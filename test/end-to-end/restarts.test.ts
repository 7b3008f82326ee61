// A planned restart under load, with real processes: each call gets a result and is carried out exactly once.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { type BotProcess, startBotProcess } from "../support/bot-process.ts";
import { listeningUrl, type Program, startProgram } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const token = "a-token-of-enough-length";
const callerCount = 16;

let simulator: Simulator;
let bot: BotProcess;
let guildId: string;
let channelIds: readonly string[];
const stack = new AsyncDisposableStack();

beforeAll(async () => {
	simulator = stack.use(await startSimulator());
	const guild = simulator.guild("The Cooks");
	guildId = guild.id;
	// One channel for each caller, because a bot sends only one message at a time to a channel.
	channelIds = Array.from(
		{ length: callerCount },
		(_, index) => simulator.world.channels.add(guild, { name: `room-${index}` }).id,
	);
	bot = stack.use(
		await startBotProcess({
			DISCORD_TOKEN: simulator.bot("alpha").token,
			DISCORD_API_URL: simulator.api,
			GUILD_ID: guildId,
			MCP_AUTH_TOKEN: token,
		}),
	);
}, 120_000);

afterAll(() => stack.disposeAsync());

function startGateway(port: number): Program {
	return startProgram("src/gateway/main.ts", {
		INSTANCES: `alpha=http://127.0.0.1:${bot.port}`,
		MCP_AUTH_TOKEN: token,
		GATEWAY_PORT: String(port),
		GATEWAY_BIND_ADDR: "127.0.0.1",
		GATEWAY_SHARE_PORT: "true",
	});
}

/** Callers that each send numbered messages, one after the other. */
class Load {
	/** The result of each numbered call. */
	readonly answers = new Map<number, string>();
	readonly #perCaller = Array.from({ length: callerCount }, () => 0);
	readonly #callers: Promise<void>[];
	readonly #url: string;
	static #count = 0;
	#isOver = false;

	constructor(url: string) {
		this.#url = url;
		this.#callers = channelIds.map((channelId, index) => this.#run(channelId, index));
	}

	async #run(channel_id: string, index: number): Promise<void> {
		while (!this.#isOver) {
			const number = Load.#count++;
			const answer = await this.#send(channel_id, number).catch(String);
			this.answers.set(number, answer);
			this.#perCaller[index] = (this.#perCaller[index] ?? 0) + 1;
		}
	}

	async #send(channel_id: string, number: number): Promise<string> {
		const response = await fetch(this.#url, {
			method: "POST",
			headers: { Authorization: `Bearer ${token}` },
			body: JSON.stringify({
				jsonrpc: "2.0",
				id: number,
				method: "tools/call",
				params: { name: "send_message", arguments: { guild_id: guildId, channel_id, content: `call ${number}` } },
			}),
		});
		return response.text();
	}

	/**
	 * Resolves when each caller has received this many further results. From the second on, they belong to calls that
	 * begin after now.
	 */
	async answered(times: number): Promise<void> {
		const before = [...this.#perCaller];
		await until("each caller has been answered", () =>
			this.#perCaller.every((count, index) => count >= (before[index] ?? 0) + times),
		);
	}

	/** Ends the load. Resolves with the results that are not a success. */
	async end(): Promise<string[]> {
		this.#isOver = true;
		await Promise.all(this.#callers);
		return [...this.answers.values()].filter((text) => !text.includes("Message sent (ID: "));
	}
}

/** Returns the numbered calls that were not carried out exactly once, with how often each was. */
function notOnce({ answers }: Load): string[] {
	const times = new Map<number, number>();
	for (const { body } of simulator.journal.entries()) {
		const number = Number(/"call (\d+)"/.exec(JSON.stringify(body))?.[1]);
		times.set(number, (times.get(number) ?? 0) + 1);
	}
	return [...answers.keys()].flatMap((number) =>
		times.get(number) === 1 ? [] : [`${number}: ${times.get(number) ?? 0}`],
	);
}

test("a bot that is restarted under 16 callers loses no call, and carries out each once", async () => {
	await using gateway = startGateway(0);
	const load = new Load(await listeningUrl(gateway));
	await load.answered(1);
	const { pid } = bot;
	await bot.restart("SIGTERM");
	expect(bot.pid).not.toBe(pid);
	await load.answered(2);
	expect(await load.end()).toEqual([]);
	expect(notOnce(load)).toEqual([]);
	expect(gateway.lines.join("\n")).toContain("bot is away: holding its calls");
}, 120_000);
