// One feature on the real connection and store, against the simulator. Tests choose its intervals.

import type { Feature, FeatureOptions } from "../../../src/bot/commands/feature.ts";
import { GuildSettings } from "../../../src/bot/settings/guild-settings.ts";
import { type Store, startStore } from "../../../src/bot/store/store.ts";
import { ChatPrivacy } from "../../../src/bot/store/tables/privacy.ts";
import { Connection } from "../../../src/discord/connection/connection.ts";
import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";
import type { Simulator, SimulatorOptions } from "../../../src/simulator/simulator.ts";
import type { Member } from "../../../src/simulator/world/state/entities.ts";
import { botConfig } from "../../support/bot-config.ts";
import { splitSettings } from "../../support/guild-settings.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import type { Place } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { memberNamed, roleNamed } from "../../support/world.ts";

export interface FeatureSetup {
	/** Default: SQLite in a new directory. */
	place?: Pick<Place, "settings">;
	/** The keys of config.toml beside the bot's name, and of the guild's settings, in sections. */
	settings?(simulator: Simulator): Record<string, unknown>;
	create(options: FeatureOptions, simulator: Simulator): Feature | undefined;
	simulator?: SimulatorOptions;
	/** Runs the bot "beta" in the guild of another one, with its permissions, instead of "alpha" in a simulator of its own. */
	beside?: Simulator;
	/** Called before the bot starts for the first time. */
	prepare?(simulator: Simulator): void;
	/** Other options of the feature. */
	given?: Partial<FeatureOptions> & { personality?: string };
	/** Replaces the store that the feature gets. */
	store?(store: Store): Store;
	/** Whether the bot reads the texts of messages that do not mention it. */
	messageContent?: boolean;
	/** Requests to Discord per second. Default: no limit. */
	requestsPerSecond?: number;
	/** False: starts without waiting for the members. */
	withMembers?: boolean;
}

/** The bot "alpha" with this feature alone, logged in, with its members loaded. */
export async function startFeature(setup: FeatureSetup) {
	const simulator = setup.beside ?? (await startSimulator(setup.simulator));
	setup.prepare?.(simulator);
	const guild = simulator.guild("The Cooks");
	const name = setup.beside ? "beta" : "alpha";
	const user = simulator.world.users.get(simulator.bot(name).id);
	if (setup.beside && user && !guild.members.has(user.id)) {
		const { id } = simulator.bot("alpha");
		const roles = [...(guild.members.get(id)?.roles ?? [])];
		simulator.world.members.add(guild, user, { roles });
	}
	const logged = recordLog("debug");
	const { log } = logged;
	const directory = botConfig().dataDirectory;
	const sqlite = { databaseUrl: undefined, schema: undefined, directory };
	const place = setup.place?.settings ?? sqlite;
	const abandoned: Feature[] = [];
	let running: Awaited<ReturnType<typeof startOnce>> | undefined;

	async function startOnce() {
		const backOffMs = [10, 20] as const;
		const store = startStore({ ...place, instance: "Alpha", log, backOffMs });
		await store.opened;
		const connection = new Connection({
			token: simulator.bot(name).token,
			api: simulator.api,
			cdn: simulator.cdn,
			log,
			privileged: setup.messageContent ? ["GuildMembers", "MessageContent"] : ["GuildMembers"],
			timing: { backOffMs: [1, 4], invalidSessionMs: [1, 4], identifyMs: 0, resendPauseMs: [5, 20] },
			requestsPerSecond: setup.requestsPerSecond ?? 1_000_000,
		});
		const { personality, ...given } = setup.given ?? {};
		const { toml: sections, stored } = splitSettings(setup.settings?.(simulator) ?? {});
		// A bot that is killed and waits in its mutex does not block the next one.
		const mutex = new KeyedMutex();
		const config = botConfig({ personality, toml: sections });
		const guildSettings = new GuildSettings({ store, mutex, log });
		await guildSettings.change(guild.id, stored, { userId: null, door: "test" });
		const chatPrivacy = new ChatPrivacy(store);
		const feature = setup.create(
			{
				callAs: noTools,
				config,
				settings: guildSettings,
				connection,
				log,
				mutex,
				chatPrivacy,
				...given,
				store: setup.store?.(store) ?? store,
			},
			simulator,
		);
		if (!feature) throw new Error("the feature is off");
		const opened = connection.open((client) => feature.attach?.(client));
		feature.start?.();
		await until("the bot is ready", () => connection.ready);
		if (setup.withMembers !== false)
			await until("its members are known", () => connection.guilds.every((one) => connection.hasAllMembers(one)));
		return { feature, connection, store, opened, chatPrivacy, settings: guildSettings };
	}
	const start = async () => {
		running = await startOnce();
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
		simulator,
		guild,
		logged,
		start,
		get store() {
			return current().store;
		},
		get chatPrivacy() {
			return current().chatPrivacy;
		},
		get settings() {
			return current().settings;
		},
		get connection() {
			return current().connection;
		},
		/** The member of the guild with this user name. */
		member: (name: string) => memberNamed(simulator, name),
		/** Adds a new user to the guild. */
		join(username: string, changes?: Partial<Member>) {
			const { world } = simulator;
			return world.members.add(guild, world.users.add({ username }), changes);
		},
		stop: () => end("stop"),
		/** Like a SIGKILL: nothing is finished or stored. */
		kill: () => end("kill"),
		async [Symbol.asyncDispose]() {
			// What a killed bot waits for may never come.
			for (const feature of abandoned) void feature.close?.();
			await end("stop");
			if (!setup.beside) await simulator.close();
		},
	};
}

/** Adds permissions to a role of the Cooks. */
export function grant(simulator: Simulator, name: string, ...permissions: readonly bigint[]): void {
	const role = roleNamed(simulator, name);
	const bits = permissions.reduce((all, bit) => all | bit, BigInt(role.permissions));
	simulator.world.roles.edit(simulator.guild("The Cooks"), role, { permissions: String(bits) });
}

/** The store, with another function for its statements. */
export function withSql(store: Store, sql: Store["sql"]): Store {
	return new Proxy(store, { get: (target, key) => (key === "sql" ? sql : Reflect.get(target, key, target)) });
}

/** For features that call no tools. */
export function noTools(): Promise<never> {
	throw new Error("this bot has no tools");
}
