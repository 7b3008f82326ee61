// The real gateway and bot, and the simulator as Discord, for clients and people who sign in.

import { PermissionFlagsBits } from "discord.js";
import { readConfig } from "../../src/gateway/config/config.ts";
import { createGateway } from "../../src/gateway/gateway.ts";
import { createClients } from "../../src/gateway/oauth/clients/clients.ts";
import type { SafeFetch } from "../../src/gateway/oauth/clients/safe-fetch.ts";
import { openStore } from "../../src/gateway/store/store.ts";
import { type ListenOptions, pathOf } from "../../src/lib/program/listen.ts";
import { signedInPerson } from "../gateway/console/console-client.ts";
import { Browser } from "../gateway/oauth/browser.ts";
import { fieldOf } from "../gateway/oauth/sign-in-world.ts";
import type { TomlKeys } from "./bot-config.ts";
import { gatewayToken } from "./gateway.ts";
import { recordLog } from "./log.ts";
import { memberNamed, startWorld, type TestWorld } from "./world.ts";

export interface SignInWorld extends AsyncDisposable {
	/** The origin of the gateway. */
	url: string;
	world: TestWorld;
	/** The gateway's clock for tokens, in milliseconds since 1970. */
	clock: { now: number };
	/** Requests to the gateway so far, such as `POST /oauth/token 200`. */
	requests: string[];
	/** Gives a member Manage Server and Manage Channels, or takes them away. */
	setManager(person: string, isManager: boolean): Promise<void>;
	/** Gives a member Administrator, or takes it away. */
	setAdministrator(person: string, isAdministrator: boolean): Promise<void>;
	/** Walks a person from a client to Discord and back. Returns where the gateway then sends the browser. */
	toGateway(person: string, url: string): Promise<{ browser: Browser; location: string }>;
	/** Walks a person from a client to where they return to it, with their consent. */
	allow(person: string, url: string, access: string): Promise<URL>;
	/** Ends all connections of a person as they do it, in the console. */
	endConnections(person: string): Promise<void>;
	/** Deletes all clients that have registered. */
	forgetClients(): Promise<void>;
}

export interface SignInOptions {
	/** Additional environment variables of the gateway. */
	env?: Record<string, string>;
	/** The bot's config.toml. */
	toml?: TomlKeys;
	/** Serves the metadata documents of clients. Default: the internet. */
	documents?: SafeFetch;
}

/** Starts all of it, with the guild and the people of the simulator's default world. */
export async function startSignIn({ env, documents, toml }: SignInOptions = {}): Promise<SignInWorld> {
	const world = await startWorld({}, { mcpToken: gatewayToken, toml });
	const { simulator, guild, bot } = world;
	const requests: string[] = [];
	let respond: ListenOptions["fetch"] = () => new Response(null);
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		idleTimeout: 0,
		async fetch(request, http) {
			const response = await respond(request, http);
			requests.push(`${request.method} ${pathOf(request)} ${response?.status}`);
			return response;
		},
	});
	const url = server.url.origin;
	const application = simulator.bot("alpha").id;
	const { clientSecret } = simulator.world.authorizations.configure(application, {
		redirectUris: [`${url}/oauth/callback`],
	});
	const config = readConfig({
		INSTANCES: `alpha=${bot.url}`,
		MCP_AUTH_TOKEN: gatewayToken,
		GATEWAY_DATABASE: `${world.dataDirectory}/gateway.sqlite`,
		PUBLIC_URL: url,
		DISCORD_CLIENT_ID: application,
		DISCORD_CLIENT_SECRET: clientSecret,
		DISCORD_API_URL: simulator.api,
		...env,
	});
	const { log } = recordLog();
	if (!config.store) throw new Error("there is no database");
	const store = openStore(config.store, log);
	const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
	const now = () => clock.now;
	const clocks = { now, monotonicNow: now };
	const clients = createClients({ store, log, clocks, ...documents });
	const gateway = createGateway(config, log, { store, signIn: { clocks, clients } });
	respond = gateway.fetch;
	await gateway.refresh();

	const manager = simulator.world.roles.add(guild, {
		name: "Manager",
		permissions: String(PermissionFlagsBits.ManageGuild | PermissionFlagsBits.ManageChannels),
	});

	const administrator = simulator.world.roles.add(guild, {
		name: "Administrator",
		permissions: String(PermissionFlagsBits.Administrator),
	});

	async function setRole(person: string, role: { id: string }, isHeld: boolean) {
		const member = memberNamed(world, person);
		const others = member.roles.filter((id) => id !== role.id);
		simulator.world.members.edit(guild, member, { roles: isHeld ? [...others, role.id] : others });
		await world.heard();
	}

	async function toGateway(person: string, from: string) {
		const browser = new Browser();
		const discord = await browser.redirected(from);
		const { id } = simulator.user(person);
		const form = new URLSearchParams({ user_id: id, authorize: "true" });
		const { origin } = new URL(discord);
		const callback = await browser.submitted(discord, form, origin);
		return { browser, location: callback };
	}

	return {
		url,
		world,
		clock,
		requests,
		setManager: (person, isManager) => setRole(person, manager, isManager),
		setAdministrator: (person, isAdministrator) => setRole(person, administrator, isAdministrator),
		toGateway,
		async allow(person, from, access) {
			const { browser, location } = await toGateway(person, from);
			const consent = await browser.redirected(location);
			const csrf = fieldOf(await browser.get(consent), "csrf");
			const form = new URLSearchParams({ csrf, decision: "allow", access });
			return new URL(await browser.submitted(consent, form));
		},
		async endConnections(person) {
			const { id } = simulator.user(person);
			const client = await signedInPerson(url, { id, name: person }, clock.now);
			const { body } = await client.get<{ connections: { id: string }[] }>("access");
			for (const { id } of body.connections) await client.post("access/revoke", { connection: id });
		},
		async forgetClients() {
			await store.sql`DELETE FROM oauth_clients`;
		},
		async [Symbol.asyncDispose]() {
			await server.stop(true);
			await gateway.close();
			await store.close();
			await world[Symbol.asyncDispose]();
		},
	};
}
