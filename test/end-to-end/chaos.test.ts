// Calls while everything around them fails: none is lost, and none is carried out twice.
//
// Clients send numbered reads and writes to a real gateway, while its bots are killed, restarted and stopped, have their
// sessions ended and their connections cut, the gateway itself is killed, and while Discord drops, stalls and refuses. In
// the end the answers are held against the simulator's journal, and each unknown outcome against what was cut off.
//
//     CHAOS_SECONDS=600 bun test test/end-to-end/chaos.test.ts
//     CHAOS_SEED=<number> repeats the random choices of a run, though not its timing.

import { expect, test } from "bun:test";
import { freePort } from "../../src/demo/ports.ts";
import type { InjectedFault } from "../../src/simulator/rest/faults.ts";
import { demoSeed, moderatorPermissions, type Seed } from "../../src/simulator/seed.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { type BotProcess, startBotProcess } from "../support/bot-process.ts";
import { modernRequest, postTo, token } from "../support/both-servers.ts";
import {
	type Answer,
	type CallOutcome,
	countOutcomes,
	findViolations,
	type LedgerCall,
	readAnswer,
} from "../support/ledger.ts";
import { listeningUrl, type Program, startProgram } from "../support/program.ts";
import { type Random, seeded } from "../support/random.ts";
import { startSimulator } from "../support/simulator.ts";
import { startUnreliableProxy, type UnreliableProxy } from "../support/unreliable-proxy.ts";
import { present, until } from "../support/until.ts";

const seconds = Number(process.env.CHAOS_SECONDS ?? 10);
const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 1e9));
/** What a busy machine may need on top of that before there was one trouble of each kind. */
const graceSeconds = 60;

/** How long the gateway lets a call take. */
const callTimeoutMs = 5_000;
/** A client that has no answer by now will have none. */
const patienceMs = 20_000;
const clientsPerBot = 5;
/** Where the four tools that write do so. */
const writeRoutes = [
	"POST /channels/:channel_id/messages",
	"PATCH /channels/:channel_id/messages/:message_id",
	"POST /channels/:channel_id/threads",
	"PATCH /channels/:channel_id",
] as const;

/** An instance: the bot, its guild, and what there is to say in it. */
interface Target {
	name: string;
	guildId: string;
	/** One for each client: discord.js sends to one channel one thing at a time. */
	channelIds: readonly string[];
	bot: BotProcess;
	/** Between the gateway and the bot; one of the bots is reached directly. */
	proxy: UnreliableProxy | undefined;
}

const names = ["alpha", "beta", "gamma"] as const;
const clientCount = names.length * clientsPerBot;

/** A bot in a guild of its own for each name. */
function threeGuilds(): Seed {
	const { users, guilds } = demoSeed();
	const pattern = present(guilds[0]);
	return {
		users,
		bots: names.map((username) => ({ username })),
		guilds: names.map((username) => ({
			...pattern,
			name: `guild of ${username}`,
			bots: [{ username, permissions: moderatorPermissions }],
		})),
	};
}

/** A client: what it sends, to which of the targets, and what it was answered. */
class Client {
	/** A message of the bot's in each of its channels, to edit. */
	readonly #sent = new Map<string, string>();
	readonly #number: number;
	readonly #random: Random;
	readonly #world: Chaos;

	constructor(world: Chaos, number: number) {
		this.#world = world;
		this.#number = number;
		this.#random = seeded(seed + 1_000 + number);
	}

	/** Calls one thing after the other until `isOver`. */
	async run(isOver: () => boolean): Promise<void> {
		const random = this.#random;
		const { targets } = this.#world;
		const home = targets[this.#number % targets.length] as Target;
		// The last of a bot's clients is one that does not wait for all of its answers.
		const hangsUp = this.#number >= targets.length * (clientsPerBot - 1);
		while (!isOver()) {
			const target = random.chance(0.85) ? home : random.pick(targets);
			const gone = new AbortController();
			const leave = hangsUp && random.chance(0.5) ? setTimeout(() => gone.abort(), random.below(60)) : undefined;
			const { answers } = random.chance(0.6)
				? await this.write(target, gone.signal)
				: await this.#read(target, gone.signal);
			clearTimeout(leave);
			// Who is refused at once would otherwise do most of the calling.
			const refused = answers[0]?.outcome === "not done";
			await Bun.sleep((refused ? 100 : 5) + random.below(20));
		}
	}

	/** Writes what nobody else writes, in one of four ways. An answer that names something else is none. */
	async write(target: Target, gone?: AbortSignal): Promise<LedgerCall> {
		const channel_id = target.channelIds[this.#number] ?? "";
		const message_id = this.#sent.get(channel_id);
		const writes = { writes: true, gone, marker: (n: number) => `write ${n}"` };
		const text = (number: number) => `write ${number}`;
		const what = this.#random.below(6);
		if (what === 0 && message_id)
			return this.#send(
				target,
				{ name: "edit_message", ...writes },
				(number) => ({ channel_id, message_id, content: text(number) }),
				(_, said) => said.startsWith("Changed content of the message "),
			);
		if (what === 1)
			return this.#send(
				target,
				{ name: "create_thread", ...writes },
				(number) => ({ channel_id, name: text(number) }),
				(number, said) => said.includes(text(number)),
			);
		if (what === 2)
			return this.#send(
				target,
				{ name: "edit_channel", ...writes },
				(number) => ({ channel_id, topic: text(number) }),
				(number, said) => said.includes(text(number)) || /topic/.test(said),
			);
		return this.#send(
			target,
			{ name: "send_message", ...writes },
			(number) => ({ channel_id, content: text(number) }),
			(number, said) => {
				const id = /^Message sent \(ID: (\d+)\) to #/.exec(said)?.[1] ?? "";
				const { world } = this.#world.simulator;
				this.#sent.set(channel_id, id);
				return world.messages.get(channel_id, id)?.content === text(number);
			},
		);
	}

	/** Asks something whose answer tells the question, or at least the bot. */
	async #read(target: Target, gone: AbortSignal): Promise<LedgerCall> {
		const channel_id = target.channelIds[this.#number] ?? "";
		const what = this.#random.below(3);
		if (what === 0)
			return this.#send(
				target,
				{ name: "list_guilds", writes: false, gone, marker: () => "list_guilds" },
				() => ({}),
				(_, said) => said.includes(target.guildId),
			);
		if (what === 1)
			return this.#send(
				target,
				{ name: "lookup_user_by_name", writes: false, gone, marker: (number) => `nobody-${number}-` },
				(number) => ({ query: `nobody-${number}-` }),
				(number, said) => said.includes(`"nobody-${number}-"`),
			);
		// No tool that only reads asks Discord; this one does before it would write.
		return this.#send(
			target,
			{ name: "delete_messages", writes: false, gone, marker: () => channel_id },
			() => ({ channel_id, count: 1, dry_run: true }),
			(_, said) => /^Dry run: nothing was done\./.test(said),
		);
	}

	async #send(
		target: Target,
		call: {
			name: string;
			writes: boolean;
			gone: AbortSignal | undefined;
			/** What its request has in it, and as good as no other. */
			marker(number: number): string;
		},
		args: (number: number) => Record<string, unknown>,
		isAnswer: (number: number, said: string) => boolean,
	): Promise<LedgerCall> {
		const random = this.#random;
		const { ledger, gateway, causes } = this.#world;
		const number = ledger.length;
		const where = random.chance(0.5) ? { instance: target.name } : { guild_id: target.guildId };
		const params = { name: call.name, arguments: { ...args(number), ...where } };
		const modern = random.chance(0.3);
		const entry: LedgerCall = {
			number,
			what: `${call.name} for ${JSON.stringify(where)}, ${modern ? "modern" : "legacy"}`,
			writes: call.writes,
			answers: [],
		};
		ledger.push(entry);
		const { headers, body } = modern
			? modernRequest("tools/call", params, String(number))
			: { headers: {}, body: JSON.stringify({ jsonrpc: "2.0", id: number, method: "tools/call", params }) };
		const signals = [AbortSignal.timeout(patienceMs)];
		if (call.gone) signals.push(call.gone);
		const signal = AbortSignal.any(signals);
		const asked: Asked = {
			target,
			marker: call.marker(number),
			channelId: target.channelIds[this.#number] ?? "",
			from: performance.now(),
			fromDate: Date.now(),
		};
		const answers: Answer[] = await postTo(gateway.url, body, headers, signal)
			.then(async (response) => readAnswer(number, response.status, await response.text()))
			.catch((error) => [
				{
					outcome: call.gone?.aborted ? "cancelled" : outcomeWithoutGateway(error, causes.killedGateway(asked)),
					said: String(error),
				},
			]);
		if (answers.some(({ outcome }) => outcome === "unknown"))
			entry.cause = causes.of(asked) ?? answers.find(({ said }) => said.includes("(no answer within"))?.said;
		for (const answer of answers)
			entry.answers.push(
				answer.outcome === "done" && !isAnswer(number, answer.said)
					? { outcome: "lost", said: `the answer of another call: ${answer.said}` }
					: answer,
			);
		return entry;
	}
}

/** What a call is whose connection to the gateway failed: it was refused, or cut off as the gateway was killed. */
function outcomeWithoutGateway(error: unknown, wasKilled: boolean): CallOutcome {
	const { code } = Object(error) as { code?: string };
	if (code === "ConnectionRefused" || code === "ECONNREFUSED") return "not done";
	return wasKilled ? "unknown" : "lost";
}

/** A call that waits for its answer, and how to know its requests. */
interface Asked {
	target: Target;
	marker: string;
	channelId: string;
	/** When it was sent, by the clock that causes go by and by that of the simulator. */
	from: number;
	fromDate: number;
}

const gatewayKilled = "the gateway was killed";

/** What may have cut off a call after it was sent. */
class Causes {
	readonly #simulator: Simulator;
	readonly #spans: { what: string; name?: string; from: number; to: number }[] = [];

	constructor(simulator: Simulator) {
		this.#simulator = simulator;
	}

	/** While `work` lasts, calls to the bot of this name, or all calls, may be cut off. */
	async during<T>(what: string, name: string | undefined, work: () => Promise<T>): Promise<T> {
		const span = { what, ...(name && { name }), from: performance.now(), to: Number.POSITIVE_INFINITY };
		this.#spans.push(span);
		try {
			return await work();
		} finally {
			span.to = performance.now();
		}
	}

	/** Whether the gateway was killed while this call waited. */
	killedGateway({ from }: Asked): boolean {
		return this.#spans.some(({ what, to }) => what === gatewayKilled && to >= from);
	}

	/** What cut off this call, whose answer has just come; undefined: nothing did. */
	of({ target, marker, channelId, from, fromDate }: Asked): string | undefined {
		const span = this.#spans.findLast(({ name, to }) => to >= from && (name ?? target.name) === target.name);
		if (span) return span.what;
		const cut = target.proxy?.cutOff.some(({ request, at }) => request?.includes(marker) ?? at >= from);
		if (cut) return "the connection to the bot was cut";
		const hit = this.#simulator.requests
			.list()
			.findLast(({ at, path, fault }) => fault && path.includes(channelId) && Date.parse(at) >= fromDate);
		return hit && `Discord: ${hit.fault}`;
	}
}

/** The gateway as a process that is killed, and comes back where it was. */
interface GatewayProcess extends AsyncDisposable {
	url: string;
	/** Kills it and starts it again; resolves when it listens. */
	restart(): Promise<void>;
}

async function startGatewayProcess(env: Record<string, string>): Promise<GatewayProcess> {
	const port = await freePort();
	let program: Program;
	const start = async () => {
		program = startProgram("src/gateway/main.ts", {
			...env,
			GATEWAY_PORT: String(port),
			GATEWAY_BIND_ADDR: "127.0.0.1",
		});
		await listeningUrl(program);
	};
	await start();
	return {
		url: `http://127.0.0.1:${port}/mcp`,
		async restart() {
			program.kill("SIGKILL");
			await program.exited;
			await start();
		},
		[Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
	};
}

/** The whole of it: what runs, what goes wrong in it, and what was asked and answered. */
interface Chaos {
	simulator: Simulator;
	gateway: GatewayProcess;
	causes: Causes;
	/** Sessions opened in the place of others by gateways that were killed. */
	reinitialisations: number;
	targets: readonly Target[];
	ledger: LedgerCall[];
}

const longStop = "bot stopped for longer than a call may take";

/** What goes wrong with a bot, each until it is over; false where it could not go wrong. */
function botTroubles({ bot, proxy }: Target, random: Random) {
	const troubles: Record<string, () => Promise<unknown>> = {
		"bot killed": () => bot.restart("SIGKILL"),
		"bot restarted": () => bot.restart("SIGTERM"),
		"bot stopped": () => bot.pause(100 + random.below(1_000)),
		[longStop]: () => bot.pause(callTimeoutMs + 1_000),
	};
	if (proxy)
		troubles["session ended"] = () =>
			// In the gateway's name, behind its back. A bot that is away has no session to end.
			fetch(bot.url, {
				method: "DELETE",
				keepalive: false,
				signal: AbortSignal.timeout(1_000),
				headers: { Authorization: `Bearer ${token}`, "Mcp-Session-Id": proxy.sessionId ?? "" },
			}).then(
				({ ok }) => ok,
				() => false,
			);
	return troubles;
}

/** What goes wrong with Discord, for the next few requests that match. */
function platformTroubles({ faults, sockets }: Simulator, random: Random) {
	const route = () =>
		random.chance(0.9)
			? random.pick([writeRoutes[0], writeRoutes[0], ...writeRoutes])
			: "GET /channels/:channel_id/messages";
	const times = () => ({ times: 1 + random.below(3) });
	const stall = (after: boolean) => {
		const fault = faults.stall(route(), { ...times(), after });
		const heldMs = 200 + random.below(2_000);
		// From the first request on: on a slow machine none may come for a while.
		void until("the stalled request", () => fault.hits > 0)
			.catch(() => {})
			.then(() => setTimeout(() => fault.release(), heldMs));
		return fault;
	};
	const retryAfterMs = 200;
	const troubles: Record<string, () => InjectedFault | undefined> = {
		"request dropped": () => faults.drop(route(), { when: "before", ...times() }),
		"answer dropped": () => faults.drop(route(), { when: "after", ...times() }),
		"request stalled": () => stall(false),
		"answer stalled": () => stall(true),
		"500 instead": () => faults.fail(route(), 500, times()),
		"500 afterwards": () => faults.fail(route(), 500, { executed: true, ...times() }),
		"429": () => faults.rateLimit(route(), { retryAfterMs, ...times() }),
		"429 for everything": () => faults.rateLimit(route(), { retryAfterMs, times: 1, global: true }),
		"sockets closed": () => {
			sockets.disconnect({ resumable: random.chance(0.5) });
			return undefined;
		},
	};
	return troubles;
}

/** How often what went wrong; 0 for what is still to come. */
class TroubleCount {
	readonly #times = new Map<string, number>();
	readonly #waiting: [name: string, fault: InjectedFault][] = [];

	add(name: string, times = 1): void {
		this.#times.set(name, (this.#times.get(name) ?? 0) + times);
	}

	/** A fault counts once it has hit. */
	addOnceHit(name: string, fault: InjectedFault): void {
		this.#waiting.push([name, fault]);
	}

	entries(): [name: string, times: number][] {
		for (const [name, fault] of this.#waiting.splice(0)) {
			if (fault.hits > 0) this.add(name);
			else this.#waiting.push([name, fault]);
		}
		return [...this.#times];
	}

	/** What has not gone wrong yet. */
	missing(): string[] {
		return this.entries()
			.filter(([, times]) => times === 0)
			.map(([name]) => name);
	}
}

/** One trouble after the other, for each of the bots and for Discord, until `isOver`. Resolves when all is well again. */
async function makeTrouble(chaos: Chaos, count: TroubleCount, isOver: () => boolean): Promise<void> {
	const { targets, simulator, causes, gateway } = chaos;
	const troubled = targets.map(async (target, index) => {
		const random = seeded(seed + 200 + index);
		const kinds = botTroubles(target, random);
		const names = Object.keys(kinds);
		for (const name of names) count.add(name, 0);
		// After the first time the longest comes seldom: meanwhile there is nobody to be troubled otherwise.
		const often = names.filter((name) => name !== longStop);
		const deck = [longStop, ...often, ...often, ...often, ...often];
		for (const name of shuffled(deck, random, names)) {
			await Bun.sleep(300 + random.below(1_000));
			if (isOver()) return;
			const work = async () => kinds[name]?.();
			const happened = name.startsWith("bot ") ? await causes.during(name, target.name, work) : await work();
			if (happened !== false) count.add(name);
		}
	});
	const killing = (async () => {
		const random = seeded(seed + 400);
		count.add(gatewayKilled, 0);
		for (;;) {
			await Bun.sleep(4_000 + random.below(4_000));
			if (isOver()) return;
			chaos.reinitialisations += await countReinitialisations(gateway.url);
			await causes.during(gatewayKilled, undefined, gateway.restart);
			count.add(gatewayKilled);
		}
	})();
	const random = seeded(seed + 300);
	const kinds = platformTroubles(simulator, random);
	for (const name of Object.keys(kinds)) count.add(name, 0);
	for (const name of shuffled(Object.keys(kinds), random)) {
		await Bun.sleep(100 + random.below(300));
		if (isOver()) break;
		const fault = kinds[name]?.();
		if (fault) count.addOnceHit(name, fault);
		else count.add(name);
	}
	await Promise.all([...troubled, killing]);
	simulator.faults.clear();
	for (const { proxy } of targets) proxy?.calmDown();
	await Promise.all(targets.map(({ bot }) => bot.ready()));
}

/** `first` in random order; then all of the items in random order, then again in another, without end. */
function* shuffled<T>(items: readonly T[], random: Random, first: readonly T[] = []): Generator<T> {
	yield* dealt(first, random);
	for (;;) yield* dealt(items, random);
}

function* dealt<T>(items: readonly T[], random: Random): Generator<T> {
	const deck = [...items];
	while (deck.length > 0) yield deck.splice(random.below(deck.length), 1)[0] as T;
}

/** Simulator, bots and gateway, each serving. They end with `stack`. */
async function startChaos(stack: AsyncDisposableStack): Promise<Chaos> {
	const simulator = stack.use(await startSimulator({ seed: threeGuilds() }));
	const targets: Target[] = [];
	for (const [index, name] of names.entries()) {
		const guild = simulator.guild(`guild of ${name}`);
		const channelIds = Array.from(
			{ length: clientCount },
			(_, client) => simulator.world.channels.add(guild, { name: `room-${client}` }).id,
		);
		const bot = stack.use(
			await startBotProcess(
				{
					DISCORD_TOKEN: simulator.bot(name).token,
					DISCORD_API_URL: simulator.api,
					GUILD_ID: guild.id,
					MCP_AUTH_TOKEN: token,
				},
				'bot_name = "Test"\n[mcp]\ntoolsets = "all"\n',
			),
		);
		const random = seeded(seed + 100 + index);
		const meddling = { port: bot.port, probability: 0.08, random };
		const proxy = index === 0 ? undefined : stack.use(await startUnreliableProxy(meddling));
		targets.push({ name, guildId: guild.id, channelIds, bot, proxy });
	}
	const instances = targets.map(({ name, bot, proxy }) => `${name}=http://127.0.0.1:${(proxy ?? bot).port}`);
	const gateway = stack.use(
		await startGatewayProcess({
			INSTANCES: instances.join(","),
			MCP_AUTH_TOKEN: token,
			REFRESH_INTERVAL_SECONDS: "2",
			CALL_TIMEOUT_SECONDS: String(callTimeoutMs / 1000),
			// Fewer than there are clients of a bot: while it stands still, some are turned away.
			MAX_IN_FLIGHT: "4",
		}),
	);
	return { simulator, gateway, targets, ledger: [], reinitialisations: 0, causes: new Causes(simulator) };
}

/** How often each numbered write was carried out, and what else was. */
function readJournal({ journal }: Simulator) {
	const written = new Map<number, number>();
	const others: string[] = [];
	for (const { path, body } of journal.entries()) {
		const number = /"write (\d+)"/.exec(JSON.stringify(body))?.[1];
		// Each start registers the slash commands.
		if (path.endsWith("/commands")) continue;
		if (number === undefined) others.push(path);
		else written.set(Number(number), (written.get(Number(number)) ?? 0) + 1);
	}
	return { written, others };
}

test(
	`in ${seconds} s of kills, stops, cuts and faults no call is lost and none is carried out twice`,
	async () => {
		console.log(`chaos for ${seconds} s, CHAOS_SEED=${seed}`);
		await using stack = new AsyncDisposableStack();
		const chaos = await startChaos(stack);
		const { simulator, gateway, targets, ledger } = chaos;
		const clients = Array.from({ length: clientCount }, (_, index) => new Client(chaos, index));
		/** Whoever writes after all others in a channel is answered after them. */
		const allAnswer = () =>
			Promise.all(
				targets.flatMap((target) =>
					clients.map((client) =>
						until(`${target.name} answers`, async () => {
							const { answers } = await client.write(target);
							return answers[0]?.outcome === "done";
						}),
					),
				),
			);
		await allAnswer();

		const count = new TroubleCount();
		const begin = performance.now();
		const haveAllMeddled = () => {
			const times = new Map<string, number>();
			for (const { proxy } of targets)
				for (const [name, more] of proxy?.meddled ?? []) times.set(name, (times.get(name) ?? 0) + more);
			return times.values().every((all) => all > 0);
		};
		const isOver = () => {
			const over = (performance.now() - begin) / 1000 - seconds;
			if (ended || over > graceSeconds) return true;
			return over > 0 && count.missing().length === 0 && haveAllMeddled();
		};
		let ended = false;
		stack.defer(() => {
			ended = true;
		});
		await Promise.all([makeTrouble(chaos, count, isOver), ...clients.map((client) => client.run(isOver))]);
		// What does not come to rest is told together with what came of it.
		const stuck: string[] = [];
		const note = (error: unknown) => void stuck.push(String(error));
		await allAnswer().catch(note);
		await until("Discord has no request left", () =>
			simulator.requests.list().every(({ status }) => status !== "waiting"),
		).catch(note);

		const missing = count.missing();
		for (const { proxy } of targets) for (const [name, times] of proxy?.meddled ?? []) count.add(name, times);
		const { written, others } = readJournal(simulator);
		const { lost, duplicated, unannounced, unexplained } = findViolations(ledger, written);
		const outcomes = countOutcomes(ledger);
		const reinitialisations = chaos.reinitialisations + (await countReinitialisations(gateway.url));
		console.log(
			[
				`${ledger.length} calls, ${written.size} of them written down`,
				`lost ${lost.length}, duplicated ${duplicated.length}, unannounced ${unannounced.length}, unknown ${outcomes.unknown}, unexplained ${unexplained.length}, re-initialisations ${reinitialisations}`,
				`done ${outcomes.done}, not done ${outcomes["not done"]}, cancelled ${outcomes.cancelled}`,
				...count.entries().map(([name, times]) => `  ${name}: ${times}`),
			].join("\n"),
		);

		const few = (lines: readonly string[]) => lines.slice(0, 20);
		expect({
			lost: few(lost),
			duplicated: few(duplicated),
			unannounced: few(unannounced),
			unexplained: few(unexplained),
			others: few(others),
			stuck,
		}).toEqual({ lost: [], duplicated: [], unannounced: [], unexplained: [], others: [], stuck: [] });
		// And there was something to withstand.
		expect(missing).toEqual([]);
		expect(count.entries().filter(([, times]) => times === 0)).toEqual([]);
		expect(ledger.length).toBeGreaterThan(10 * seconds);
		expect(written.size).toBeGreaterThan(3 * seconds);
		expect(outcomes.done).toBeGreaterThan(5 * seconds);
		expect(reinitialisations).toBeGreaterThan(0);
	},
	(seconds + graceSeconds + 60) * 1000,
);

/** Sessions that the gateway opened in the place of others. */
async function countReinitialisations(gatewayUrl: string): Promise<number> {
	const response = await fetch(new URL("/metrics", gatewayUrl), { headers: { Authorization: `Bearer ${token}` } });
	const name = "guildhall_gateway_session_reinitialisations_total";
	const samples = (await response.text()).matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\d+)`, "gm"));
	return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
}

const done: Answer = { outcome: "done", said: "sent" };
const refused: Answer = { outcome: "not done", said: "refused" };
const unknown: Answer = { outcome: "unknown", said: "who knows" };

test.each([
	["a write done once", [done], 1, undefined],
	["a write refused", [refused], 0, undefined],
	["a write with unknown outcome, done", [unknown], 1, undefined],
	["a write with unknown outcome, not done", [unknown], 0, undefined],
	["a write with unknown outcome for no reason", [unknown], 1, "unexplained"],
	["a write done, and nowhere to be found", [done], 0, "lost"],
	["a write without an answer", [], 1, "lost"],
	["a write done twice", [done], 2, "duplicated"],
	["a write with unknown outcome, done twice", [unknown], 2, "duplicated"],
	["a write answered twice", [done, done], 1, "duplicated"],
	["a write refused and done", [refused], 1, "unannounced"],
] as const)("the ledger sees %s for what it is", (what, answers, times, kind) => {
	const cause = kind === "unexplained" ? undefined : "a cut";
	const call = { number: 7, what, writes: true, answers: [...answers], cause };
	const found = findViolations([call], new Map(times > 0 ? [[7, times]] : []));
	expect(
		Object.entries(found)
			.filter(([, lines]) => lines.length > 0)
			.map(([name]) => name),
	).toEqual(kind ? [kind] : []);
});
