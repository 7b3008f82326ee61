// A chargeback, and the bot as a process that is killed in the middle of it, before and after each of its steps. Whatever it
// had done by then, in the end there is one alert, one restriction, one ban on either side, and no role is lost.

import { describe, expect, test } from "bun:test";
import { type GameServer, startGameServer } from "../../src/simulator/game/game-server.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import {
	type ChargebackFixture,
	createChargebackFixture,
	pressable,
	staff,
	staffChannel,
} from "../bot/game/chargeback-world.ts";
import { type BotProcess, startBotProcess } from "../support/bot-process.ts";
import { startSimulator } from "../support/simulator.ts";
import { onPostgres } from "../support/stores.ts";
import { until } from "../support/until.ts";

type Decision = "Ban" | "Dismiss";

/** A request of the bot's, held so that the bot can be killed meanwhile. */
interface Hold {
	/** Whether it has come. */
	hit(): boolean;
	release(): void;
}

interface Step {
	name: string;
	decision: Decision;
	/** Whether it comes only once the staff have decided. */
	decided: boolean;
	/** Holds its request; `after`: it is carried out all the same. */
	hold(world: World, after: boolean): Hold;
}

interface World extends AsyncDisposable {
	simulator: Simulator;
	game: GameServer;
	bot: BotProcess;
	scene: ChargebackFixture;
}

const member = "/guilds/:guild_id/members/:user_id";
const ban = "/guilds/:guild_id/bans/:user_id";
const callback = "POST /interactions/:interaction_id/:interaction_token/callback";

/** Holds the next request to Discord that matches. */
function onDiscord(match: string): Step["hold"] {
	return ({ simulator }, after) => {
		const actor = simulator.bot("alpha").id;
		const fault = simulator.faults.stall(match, { after, times: 1, actor });
		return { hit: () => fault.hits > 0, release: () => fault.release() };
	};
}

/** An answer to an interaction is nobody's by its token, so that whoever sends it is the bot. */
function byToken(match: string): Step["hold"] {
	return ({ simulator }, after) => {
		const fault = simulator.faults.stall(match, { after, times: 1 });
		return { hit: () => fault.hits > 0, release: () => fault.release() };
	};
}

const inGame: Step["hold"] = ({ game }, executed) => {
	game.misbehave("slow", { route: "POST /api/ban", times: 1, executed });
	return { hit: () => game.requests.length > 0, release: () => game.behave() };
};

const beforeDecision = (decision: Decision): Step[] =>
	(
		[
			["its roles are read", `GET ${member}`],
			["it is restricted", `PATCH ${member}`],
			["its alert is looked for", "GET /channels/:channel_id/messages"],
			["its alert is sent", "POST /channels/:channel_id/messages"],
		] as const
	).map(([name, match]) => ({
		...{ name, decision, decided: false },
		hold: onDiscord(match),
	}));

const afterDecision = (decision: Decision): Step[] => [
	{
		name: "its press is acknowledged",
		...{ decision, decided: true },
		hold: byToken(callback),
	},
	{
		name: "its press is answered",
		...{ decision, decided: true },
		hold: byToken("PATCH /webhooks/:application_id/:interaction_token/messages/@original"),
	},
	{
		name: "its alert is edited",
		...{ decision, decided: true },
		hold: onDiscord("PATCH /channels/:channel_id/messages/:message_id"),
	},
];

const banSteps: Step[] = (
	[
		["its ban is looked for", onDiscord(`GET ${ban}`)],
		["it is banned on Discord", onDiscord(`PUT ${ban}`)],
		["it is banned in the game", inGame],
	] as const
).map(([name, hold]) => ({ name, hold, decision: "Ban", decided: true }));

const dismissSteps: Step[] = (
	[
		["its roles are read again", onDiscord(`GET ${member}`)],
		["its roles are given back", onDiscord(`PATCH ${member}`)],
	] as const
).map(([name, hold]) => ({ name, hold, decision: "Dismiss", decided: true }));

const steps: readonly Step[] = [
	...beforeDecision("Dismiss"),
	...afterDecision("Dismiss"),
	...dismissSteps,
	...afterDecision("Ban"),
	...banSteps,
];

/** The bot is ready; it ends with the world, and so do the servers. */
async function startWorld(env: Record<string, string>): Promise<World> {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startSimulator());
	const game = stack.use(await startGameServer());
	const scene = createChargebackFixture(simulator);
	// TOML writes texts, lists and flags as JSON does.
	const keys = Object.entries(scene.settings).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
	const toml = ['bot_name = "Alpha"', "[features]", "game = true", "[game]", ...keys];
	const bot = stack.use(
		await startBotProcess(
			{
				DISCORD_TOKEN: simulator.bot("alpha").token,
				DISCORD_API_URL: simulator.api,
				GUILD_ID: scene.guild.id,
				GAME_VERIFY_URL: game.url,
				GAME_VERIFY_SECRET: game.secret,
				...env,
			},
			`${toml.join("\n")}\n`,
		),
	);
	const running = stack.move();
	return {
		...{ simulator, game, bot, scene },
		[Symbol.asyncDispose]: () => running.disposeAsync(),
	};
}

function tell({ game, bot, scene }: World) {
	return game.chargeback(
		{ username: "Mona", chatId: scene.target.id, tier: "gold" },
		{ url: `http://127.0.0.1:${bot.port}` },
	);
}

/** Presses the button, unless the decision is made. */
async function press({ simulator, scene }: World, decision: Decision) {
	const alert = await scene.shown("2 role(s) saved");
	if (pressable(alert).includes(decision)) await simulator.user(staff).press(alert, decision);
}

/** As Discord does after some minutes: the bot may be away for longer. */
function forgetNonces({ simulator }: World): void {
	simulator.world.messages.nonces.clear();
}

/** Holds what comes next, has `begin` bring it about, and kills the bot while it waits. */
async function killAt(
	world: World,
	{ hold }: Pick<Step, "hold">,
	after: boolean,
	begin: () => Promise<unknown>,
): Promise<void> {
	const held = hold(world, after);
	await begin();
	await until("the step's request", held.hit);
	forgetNonces(world);
	await world.bot.restart("SIGKILL");
	held.release();
}

/** Until everything is done that the decision asks for. */
async function isOver({ scene }: World, decision: Decision): Promise<void> {
	await until(`the alert shows that ${decision} is done`, () => {
		const fields = scene.fields(scene.alerts()[0]);
		return decision === "Ban"
			? fields["Ban on Discord"] === "Done." && fields["Ban in the game"] === "Done."
			: fields.Roles === "Restored.";
	});
}

/** What was done to the person, and told, all in all. */
function outcome({ simulator, game, scene }: World) {
	const { guild, roles, target } = scene;
	const alpha = simulator.bot("alpha").id;
	const changes = simulator.journal.entries(`PATCH ${member}`).map(({ body }) => (body as { roles: string[] }).roles);
	const channel = simulator.channel(staffChannel).id;
	return {
		alerts: scene.alerts().length,
		alertsSent: simulator.journal
			.entries("POST /channels/:channel_id/messages")
			.filter(({ actor, path }) => actor === alpha && path.includes(channel)).length,
		buttons: pressable(scene.alerts()[0]),
		restrictions: changes.filter((wanted) => wanted.includes(roles.restricted)).length,
		restorations: changes.filter((wanted) => !wanted.includes(roles.restricted)).length,
		roles: target.roles(),
		bansOnDiscord: simulator.journal.entries(`PUT ${ban}`).length,
		banned: [...guild.bans.keys()],
		bannedInGame: [...game.bans.keys()],
	};
}

function expected(
	{ scene }: World,
	decision: Decision,
	{ roles, uuid }: { roles: string[]; uuid: string | null | undefined },
): ReturnType<typeof outcome> {
	const common = {
		...{ alerts: 1, alertsSent: 1, buttons: [], restrictions: 1 },
	};
	return decision === "Ban"
		? {
				...common,
				...{ restorations: 0, roles: [], bansOnDiscord: 1 },
				banned: [scene.target.id],
				bannedInGame: [uuid ?? ""],
			}
		: {
				...common,
				...{ restorations: 1, roles, bansOnDiscord: 0 },
				...{ banned: [], bannedInGame: [] },
			};
}

/** One chargeback from its first word to its end, killed at one step. */
async function survives(world: World, step: Step, after: boolean): Promise<void> {
	const { decision, decided } = step;
	const roles = world.scene.target.roles();
	let told: Awaited<ReturnType<typeof tell>> | undefined;
	const begin = async () => {
		told = await tell(world);
		expect(told.status).toBe(202);
	};
	if (!decided) await killAt(world, step, after, begin);
	else {
		await begin();
		await world.scene.shown("2 role(s) saved");
		await killAt(world, step, after, () => press(world, decision));
	}
	// A game server that has not heard tells again.
	expect((await told?.again())?.status).toBe(202);
	await press(world, decision);
	await isOver(world, decision);
	const uuid = told?.event.uuid;
	expect(outcome(world)).toEqual(expected(world, decision, { roles, uuid }));
}

const limitMs = 180_000;

/** So many bots start at once that each still starts within its time. */
const turns = Array.from({ length: 4 }, () => Promise.resolve());
let asked = 0;

/** Runs `work` in a world of its own, when it is its turn. */
async function inWorld(work: (world: World) => Promise<void>, env: Record<string, string> = {}): Promise<void> {
	const lane = asked++ % turns.length;
	const before = turns[lane];
	const { promise, resolve } = Promise.withResolvers<void>();
	turns[lane] = promise;
	await before;
	try {
		await using world = await startWorld(env);
		await work(world);
	} finally {
		resolve();
	}
}

describe.concurrent("a chargeback survives that the bot is killed", () => {
	for (const step of steps)
		for (const after of [false, true])
			test(
				`${after ? "after" : "before"} ${step.name} (${step.decision})`,
				() => inWorld((world) => survives(world, step, after)),
				limitMs,
			);
});

/** Killed at each of these steps that comes, until all have come once. `begin` is repeated after each kill. */
async function killAtAll(
	world: World,
	all: readonly Step[],
	after: (index: number) => boolean,
	begin: () => Promise<unknown>,
): Promise<void> {
	let waiting = all.map(({ hold }, index) => hold(world, after(index)));
	while (waiting.length > 0) {
		await begin();
		await until("one of the steps' requests", () => waiting.some((held) => held.hit()));
		const come = waiting.filter((held) => held.hit());
		waiting = waiting.filter((held) => !come.includes(held));
		forgetNonces(world);
		await world.bot.restart("SIGKILL");
		for (const held of come) held.release();
	}
}

/** One chargeback from its first word to its end, killed at all of its steps. */
async function survivesAll(world: World, decision: Decision, after: (index: number) => boolean): Promise<void> {
	const roles = world.scene.target.roles();
	let uuid: string | null | undefined;
	await killAtAll(world, beforeDecision(decision), after, async () => {
		// What is stored is taken up by itself.
		uuid ??= (await tell(world)).event.uuid;
	});
	const [acknowledged, , edited] = afterDecision(decision);
	const last = decision === "Ban" ? banSteps : dismissSteps;
	const later = [acknowledged, ...last, edited].filter((step) => !!step);
	await killAtAll(world, later, after, () => press(world, decision));
	await press(world, decision);
	await isOver(world, decision);
	expect(outcome(world)).toEqual(expected(world, decision, { roles, uuid }));
}

/** Every other step: before it on one database, after it on the other. */
const isOdd = (index: number) => index % 2 === 1;
const isEven = (index: number) => index % 2 === 0;

describe.concurrent("a chargeback survives that the bot is killed", () => {
	for (const decision of ["Ban", "Dismiss"] as const)
		test(
			`now before and now after every step of it (${decision})`,
			() => inWorld((world) => survivesAll(world, decision, isOdd)),
			limitMs,
		);
});

onPostgres((databases) => {
	for (const decision of ["Ban", "Dismiss"] as const)
		test(
			`a chargeback survives it with PostgreSQL, too (${decision})`,
			async () => {
				const { databaseUrl = "", schema = "" } = (await databases.place()).settings;
				const env = { DATABASE_URL: databaseUrl, DB_SCHEMA: schema };
				await inWorld((world) => survivesAll(world, decision, isEven), env);
			},
			limitMs,
		);
});
