// The simulator, the bot's real connection and store, and one feature between them, whose times a test may choose.

import * as v from "valibot";
import type {
	Feature,
	FeatureOptions,
} from "../../../src/bot/commands/feature.ts";
import { toml } from "../../../src/bot/config/settings.ts";
import { Connection } from "../../../src/bot/discord/connection/connection.ts";
import { type Store, startStore } from "../../../src/bot/store/store.ts";
import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";
import {
	type Simulator,
	type SimulatorOptions,
	startSimulator,
} from "../../../src/simulator/simulator.ts";
import type {
	Guild,
	Member,
} from "../../../src/simulator/world/state/entities.ts";
import { botConfig } from "../../support/bot-config.ts";
import { type RecordedLog, recordLog } from "../../support/log.ts";
import type { Place } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

export interface StageOptions {
	/** SQLite in a directory of its own unless said otherwise. */
	place?: Pick<Place, "settings">;
	/** The keys of config.toml, beside the bot's name. */
	settings(simulator: Simulator): Record<string, unknown>;
	create(options: FeatureOptions): Feature | undefined;
	simulator?: SimulatorOptions;
	/** Before the bot starts for the first time. */
	prepare?(simulator: Simulator): void;
	/** What the feature is given beside that. */
	given?: Partial<FeatureOptions> & { personality?: string };
	/** What is changed of the store that the feature is given. */
	store?(store: Store): Store;
}

export interface Stage extends AsyncDisposable {
	simulator: Simulator;
	guild: Guild;
	logged: RecordedLog;
	mutex: KeyedMutex;
	readonly store: Store;
	readonly connection: Connection;
	/** The member of the guild who is called so. */
	member(name: string): Member;
	/** A new person, who is a member from now on. */
	join(name: string, changes?: Partial<Member>): Member;
	/** Ends the bot as it ends itself. */
	stop(): Promise<void>;
	/** Ends it as a kill does: nothing is finished, nothing noted. */
	kill(): Promise<void>;
	/** Starts it where it was. */
	start(): Promise<void>;
	/** The writes that were executed: the journal's lines as "METHOD path". */
	writes(): { method: string; path: string; reason: string | null }[];
}

/** A stage on which the bot "alpha" is logged in, and its members are loaded. */
export async function startStage(options: StageOptions): Promise<Stage> {
	const simulator = await startSimulator(options.simulator);
	options.prepare?.(simulator);
	const guild = simulator.guild("The Cooks");
	const logged = recordLog("debug");
	const { log } = logged;
	const { settings: place } = options.place ?? {
		settings: {
			databaseUrl: undefined,
			schema: undefined,
			directory: botConfig().dataDirectory,
		},
	};
	const mutex = new KeyedMutex();
	const abandoned: Feature[] = [];
	let running:
		| {
				feature: Feature;
				connection: Connection;
				store: Store;
				opened: unknown;
		  }
		| undefined;

	const start = async () => {
		const store = startStore({
			...place,
			...{ instance: "Alpha", log, backOffMs: [10, 20] },
		});
		await store.opened;
		const connection = new Connection({
			token: simulator.bot("alpha").token,
			api: simulator.api,
			log,
			onResponse() {},
			attach: (client) => feature?.attach?.(client),
			timing: { backOffMs: [1, 4], identifyMs: 0 },
		});
		const { personality, ...given } = options.given ?? {};
		const config = botConfig({
			personality,
			toml: v.parse(toml, {
				bot_name: "Alpha",
				...options.settings(simulator),
			}),
		});
		const feature = options.create({
			...{ config, connection, log, mutex, ...given },
			store: options.store?.(store) ?? store,
		});
		if (!feature) throw new Error("the feature is off");
		const opened = connection.open();
		running = { feature, connection, store, opened };
		feature.start?.();
		await until("the bot is ready", () => connection.ready);
		await until("its members are known", () =>
			connection.guilds.every((one) => connection.knowsMembers(one)),
		);
	};
	const current = () => {
		if (running) return running;
		throw new Error("the bot does not run");
	};
	const end = async (kind: "stop" | "kill") => {
		if (!running) return;
		const { feature, connection, store, opened } = running;
		running = undefined;
		if (kind === "stop") await feature.close?.();
		else abandoned.push(feature);
		await connection.close();
		await opened;
		await store.close();
	};
	await start();
	return {
		...{ simulator, guild, logged, mutex, start },
		get store() {
			return current().store;
		},
		get connection() {
			return current().connection;
		},
		member(name) {
			for (const member of guild.members.values())
				if (member.user.username === name) return member;
			throw new Error(`no member is called ${name}`);
		},
		join(username, changes) {
			const { world } = simulator;
			return world.members.add(guild, world.users.add({ username }), changes);
		},
		stop: () => end("stop"),
		kill: () => end("kill"),
		writes: () =>
			simulator.journal.entries().map(({ method, path, reason }) => ({
				...{ method, path },
				reason: reason ?? null,
			})),
		async [Symbol.asyncDispose]() {
			await end("stop");
			for (const feature of abandoned) await feature.close?.();
			await simulator.close();
		},
	};
}
