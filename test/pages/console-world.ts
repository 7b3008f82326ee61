// Starts the gateway with its console, two real bots and a scripted one behind it, the simulator as Discord, and a
// browser.

import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { startBot } from "../../src/bot/bot.ts";
import { freePort } from "../../src/demo/ports.ts";
import { readConfig } from "../../src/gateway/config/config.ts";
import { startGateway } from "../../src/gateway/gateway.ts";
import { createKey } from "../../src/gateway/keys/keys.ts";
import { Grants } from "../../src/gateway/oauth/grants/grants.ts";
import { systemClocks } from "../../src/gateway/oauth/protocol/clocks.ts";
import { openStore } from "../../src/gateway/store/store.ts";
import { principalCapability } from "../../src/lib/principal.ts";
import { botConfig, connectedConfig } from "../support/bot-config.ts";
import { databaseDirectory } from "../support/database-directory.ts";
import { startFakeUp } from "../support/fake-up.ts";
import { createGatewayClient, gatewayToken } from "../support/gateway.ts";
import { storeSettings } from "../support/guild-settings.ts";
import { recordLog } from "../support/log.ts";
import { startSimulator } from "../support/simulator.ts";
import { startStubBackend, textResult } from "../support/stub-backend.ts";
import { until } from "../support/until.ts";
import { quickTiming } from "../support/world.ts";

/** A name with markup, a character that reverses text, and great length, to test that the page handles it as text. */
export const hostile = `<img src=x onerror="document.title='broken'">\u202e${"W".repeat(10_000)}`;

/** A read-only tool with one argument of each kind. It returns its arguments. */
const kindsTool = {
	name: "show_kinds",
	title: "Show kinds",
	description: "Shows its arguments.",
	annotations: { readOnlyHint: true },
	inputSchema: {
		type: "object",
		required: ["text", "count"],
		properties: {
			text: { type: "string", description: "Any text." },
			count: { type: "integer", minimum: 1, maximum: 9 },
			share: { type: "number" },
			loud: { type: "boolean" },
			colour: { type: "string", enum: ["red", "blue"] },
			ids: { type: "array", items: { type: "string" } },
			filter: { type: "object" },
			rows: { type: "array", items: { type: "object" } },
			["__proto__"]: { type: ["string", "null"], enum: 7, description: {} },
		},
	},
};

export type ConsoleWorld = Awaited<ReturnType<typeof startConsoleWorld>>;

/**
 * Starts all parts. The scripted bot has a guild with the hostile name and one read-only tool; with `hasScripted:
 * false` it is left out. With `hasApproval`, destructive calls of alpha wait for an approval.
 */
export async function startConsoleWorld({ hasScripted = true, hasApproval = true } = {}) {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.adopt(await startSimulator(), (one) => one.close());
	const { log } = recordLog();
	const directory = stack.adopt(await mkdtemp(join(databaseDirectory, "guildhall-console-")), (path) =>
		rm(path, { recursive: true, force: true }),
	);
	const [gatewayPort, alphaPort, betaPort] = await Promise.all([freePort(), freePort(), freePort()]);
	const origin = `http://127.0.0.1:${gatewayPort}`;
	const application = simulator.bot("alpha").id;
	const { clientSecret } = simulator.world.authorizations.configure(application, {
		redirectUris: [`${origin}/oauth/callback`],
	});

	const alpha = restartable(() =>
		startOneBot(
			"alpha",
			"The Cooks",
			alphaPort,
			hasApproval ? { approval: "destructive", approval_for_root: true } : {},
		),
	);
	const beta = restartable(() => startOneBot("beta", "The Bakers", betaPort));
	const gamma = startStubBackend({
		guilds: { "900000000000000001": hostile },
		tools: [JSON.stringify(kindsTool)],
		experimental: [principalCapability],
		on: { show_kinds: ({ id, body }) => textResult(id, JSON.stringify(JSON.parse(body).params.arguments)) },
	});
	stack.defer(() => gamma.stop());
	const up = stack.use(startFakeUp(["gateway", "alpha", "beta", "gamma"]));
	let token = gatewayToken;
	const gateway = restartable(() =>
		startGateway(
			readConfig({
				INSTANCES: [
					`alpha=http://127.0.0.1:${alphaPort}`,
					`beta=http://127.0.0.1:${betaPort}`,
					...(hasScripted ? [`gamma=${gamma.url}`] : []),
				].join(","),
				MCP_AUTH_TOKEN: token,
				GATEWAY_UP_SOCKET: up.socket,
				GATEWAY_PORT: String(gatewayPort),
				GATEWAY_BIND_ADDR: "127.0.0.1",
				GATEWAY_DATABASE: join(directory, "gateway.sqlite"),
				PUBLIC_URL: origin,
				DISCORD_CLIENT_ID: application,
				DISCORD_CLIENT_SECRET: clientSecret,
				DISCORD_API_URL: simulator.api,
			}),
			log,
			{ progress: { afterMs: 0, everyMs: 0 } },
		),
	);

	async function startOneBot(name: string, guild: string, mcpPort: number, mcp: Record<string, unknown> = {}) {
		const toml = { bot_name: name, mcp: { toolsets: "all", ...mcp }, features: { moderation: true }, backup: {} };
		const own = { guildId: simulator.guild(guild).id, dataDirectory: join(directory, name), mcpPort, toml };
		const config = connectedConfig(simulator, { mcpToken: gatewayToken, ...own }, name);
		await Bun.write(join(config.dataDirectory, ".keep"), "");
		const bot = startBot(config, log, { timing: quickTiming, requestsPerSecond: 1_000_000 });
		await until(`${name} is loaded`, () => bot.loaded);
		return bot;
	}

	/** Opens the gateway's database, which the gateway also has open. */
	function openDatabase() {
		const database = join(directory, "gateway.sqlite");
		const store = openStore({ database, schema: "" }, log);
		return { store, [Symbol.asyncDispose]: () => store.close() };
	}

	for (const program of [alpha, beta, gateway]) stack.use(program);
	const dataDirectory = join(directory, "alpha");
	await Bun.write(join(dataDirectory, ".keep"), "");
	const settings = { "approval.channel": simulator.channel("The Cooks/staff").id };
	await storeSettings(botConfig({ dataDirectory }), { [simulator.guild("The Cooks").id]: settings });
	await Promise.all([alpha.start(), beta.start()]);
	await gateway.start();
	const running = stack.move();
	return {
		simulator,
		directory,
		alpha,
		beta,
		gamma,
		up,
		gateway,
		origin,
		url: `${origin}/console`,
		guild: simulator.guild("The Cooks"),
		client: createGatewayClient(`${origin}/mcp`),
		/** Returns an MCP client with this token. */
		clientWith: (other: string) => createGatewayClient(`${origin}/mcp`, other),
		/** Creates a key and returns its token. */
		async createKey(name: string) {
			await using opened = openDatabase();
			return (await createKey(opened.store, name, { access: "all" })) ?? "";
		},
		/** Sets the token of the gateway from its next start on. */
		setToken(other: string) {
			token = other;
		},
		/** Creates a connection of a client that acts in Zoë's name. */
		async grant(client: string) {
			const person = { id: simulator.user("zoe").id, name: "Zoë" };
			await using opened = openDatabase();
			const grants = new Grants(opened.store, systemClocks.now);
			const codeVerifier = "v".repeat(43);
			const code = await grants.issueCode({
				request: {
					client: { id: client, name: client },
					redirectUri: "https://client.example",
					state: undefined,
					codeChallenge: new Bun.CryptoHasher("sha256").update(codeVerifier).digest("base64url"),
					resource: "/mcp",
					access: "write",
				},
				person,
				access: "write",
			});
			await grants.redeem(code, { clientId: client, redirectUri: undefined, codeVerifier, resource: undefined });
		},
		[Symbol.asyncDispose]: () => running.disposeAsync(),
	};
}

/** A program that can be stopped and started again. */
function restartable<Program extends { close(): unknown }>(create: () => Promise<Program>) {
	let program: Program | undefined;
	async function stop() {
		await program?.close();
		program = undefined;
	}
	return {
		async start() {
			program = await create();
		},
		stop,
		async restart() {
			await stop();
			program = await create();
		},
		[Symbol.asyncDispose]: stop,
	};
}
