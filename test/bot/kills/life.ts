// Durable work and its lives. The simulator, the database and the game server go on; each life has its own connection to
// Discord and its own objects.

import { afterAll } from "bun:test";
import type { Client, Guild } from "discord.js";
import { type ComponentHandler, serveComponents } from "../../../src/bot/commands/components.ts";
import type { FeatureOptions } from "../../../src/bot/commands/feature.ts";
import type { Store } from "../../../src/bot/store/store.ts";
import { ChatPrivacy } from "../../../src/bot/store/tables/privacy.ts";
import { Connection } from "../../../src/discord/connection/connection.ts";
import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";
import type { Sql } from "../../../src/lib/store/statement.ts";
import { type GameServer, startGameServer } from "../../../src/simulator/game/game-server.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import type { Member, Guild as SimulatedGuild } from "../../../src/simulator/world/state/entities.ts";
import { botConfig } from "../../support/bot-config.ts";
import { settingsOf, splitSettings } from "../../support/guild-settings.ts";
import { Kill, proxy, type Trouble } from "../../support/kills.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { present, until } from "../../support/until.ts";
import { memberNamed, roleNamed } from "../../support/world.ts";
import { noTools } from "../features/running-feature.ts";

/** One life of the work. */
export interface Life {
	connection: Connection;
	/** The guild as this life knows it. */
	guild: Guild;
	/** Statements of the test, which no kill ends. */
	sql: Sql;
	feature: Feature;
	kill: Kill;
	/** Whether another was killed before. */
	isSecond: boolean;
	/** Ends it without waiting for what it does. */
	end(): Promise<void>;
}

export interface Feature {
	attach?(client: Client): void;
	start?(): void;
	close?(): Promise<void> | void;
	/** Runs in each life before anything is killed. */
	prepare?(life: Pick<Life, "guild" | "isSecond">): Promise<void>;
	/** Begins what is killed; again in the next life, where it happens again. */
	begin?(life: Life): unknown;
}

export interface World {
	simulator: Simulator;
	guild: SimulatedGuild;
	game: GameServer;
	/** For the features that compare with a clock. */
	clock: { now: number };
	role(name: string): string;
	person(name: string): Member;
	/** How many requests to a route were executed. */
	executed(route: string): number;
}

/** Durable work in its world. */
export interface Work {
	settings?: Record<string, unknown>;
	create(options: FeatureOptions, gameUrl: string): Feature | undefined;
	/** Whether the first life may be killed from now on. */
	isReady?(life: Life): Promise<boolean>;
	/** Something happens on Discord, once, while the first life runs. */
	happen?(): unknown;
	isOver(life: Life): boolean | Promise<boolean>;
	/** What is left of it on Discord and in the game, the same after every kill. It may also check what differs. */
	outcome(life: Life, at: Trouble | undefined): unknown;
}

/** Prepares the world and returns the work. */
export type Scenario = (world: World) => Work;

const leftovers: (() => unknown)[] = [];
afterAll(async () => {
	await Promise.all(leftovers.map((end) => end()));
}, 120_000);

const isWrite = ([text = ""]: readonly string[]) => !/^\s*SELECT\b/.test(text);

export async function startLife(
	{ simulator, game }: Pick<World, "simulator" | "game">,
	{ settings, create, isReady }: Pick<Work, "settings" | "create" | "isReady">,
	real: Store,
	kill: Kill,
	isSecond = false,
): Promise<Life> {
	const { log } = recordLog("debug");
	const discord = proxy(kill, () => new URL(simulator.api).origin);
	const gameServer = proxy(kill, () => game.url);
	const store = {
		sql: (...statement: Parameters<Sql>) => kill.statement(isWrite(statement[0]), () => real.sql(...statement)),
		transaction: (work: Parameters<Store["transaction"]>[0]) => kill.statement(true, () => real.transaction(work)),
	} as unknown as Store;
	const connection = new Connection({
		token: simulator.bot("alpha").token,
		api: `${discord.url.origin}/api`,
		cdn: discord.url.origin,
		log,
		privileged: ["GuildMembers"],
		timing: { backOffMs: [1, 4], invalidSessionMs: [1, 4], identifyMs: 0 },
		requestsPerSecond: 1_000,
	});
	const { toml: sections, stored } = splitSettings(settings ?? {});
	const config = botConfig({ toml: sections });
	const mutex = new KeyedMutex();
	const guildSettings = await settingsOf({ [simulator.guild("The Cooks").id]: stored });
	const own = { config, settings: guildSettings, connection, store, log, mutex, callAs: noTools };
	const feature = present(create({ ...own, chatPrivacy: new ChatPrivacy(store) }, gameServer.url.origin));
	const opened = connection.open((client) => feature.attach?.(client));
	await until("the bot is ready", () => connection.ready);
	await until("its members are known", () => connection.guilds.every((one) => connection.hasAllMembers(one)));
	const guild = present(connection.guilds[0]);
	await feature.prepare?.({ guild, isSecond });
	kill.isArmed = isReady === undefined;
	feature.start?.();
	leftovers.push(async () => {
		await feature.close?.();
		for (const server of [discord, gameServer]) await server.stop(true);
	});
	return {
		connection,
		guild,
		sql: real.sql,
		feature,
		kill,
		isSecond,
		async end() {
			kill.isDead = true;
			await connection.close();
			await opened;
		},
	};
}

/** A scenario from its beginning to its end, with trouble in its first life; returns what that life counted. */
export async function run(scenario: Scenario, store: Store, at?: Trouble) {
	await using simulator = await startSimulator();
	await using game = await startGameServer({ secret: "secret" });
	const guild = simulator.guild("The Cooks");
	const world: World = {
		simulator,
		guild,
		game,
		clock: { now: 0 },
		role: (name) => roleNamed(simulator, name).id,
		person: (name) => memberNamed(simulator, name),
		executed: (route) => simulator.journal.entries(route).length,
	};
	const work = scenario(world);
	const kill = new Kill(at);
	const first = await startLife(world, work, store, kill);
	let life = first;
	try {
		await until("it is ready", async () => work.isReady?.(first) ?? true);
		kill.isArmed = true;
		work.happen?.();
		void first.feature.begin?.(first);
		await until("it is over, or killed", async () => kill.isDead || (await work.isOver(first)));
		if (kill.isDead) {
			await first.end();
			life = await startLife(world, work, store, new Kill(), true);
			void life.feature.begin?.(life);
			await until("the next life ends it", () => work.isOver(life));
		}
		return { kill, outcome: await work.outcome(life, at) };
	} finally {
		await life.end();
	}
}

/** A feature of which the table needs what every feature has. */
type Part = Required<Pick<Feature, "attach" | "start" | "close">> & { components?: readonly ComponentHandler[] };

export function featureOf(...parts: readonly Part[]): Feature {
	return {
		attach(client) {
			for (const part of parts) part.attach(client);
			const handlers = parts.flatMap(({ components = [] }) => components);
			serveComponents(client, handlers, recordLog().log);
		},
		start() {
			for (const part of parts) part.start();
		},
		async close() {
			await Promise.all(parts.map((part) => part.close()));
		},
	};
}
