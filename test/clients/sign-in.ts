// Real MCP clients sign in and call tools: the gateway and the bot, with the simulator as Discord. Each is used as in an
// application, with the dependencies of this folder.
// clients.test.ts installs these, and runs this file in a process of its own.

import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { signedInPerson } from "../gateway/console/console-client.ts";
import { type SignInWorld, startSignIn } from "../support/sign-in.ts";
import { until } from "../support/until.ts";
import { type Connect, redirectUrl, type SignedInClient } from "./client.ts";

const documentUrl = "https://client.example/client.json";
const signerUrl = "https://client.example/signer.json";

interface Row {
	name: string;
	/** The name that it states. */
	client?: string;
	/** The file that uses it, and what it exports. */
	file: string;
	export?: string;
	revision?: string;
	/** Whether its id is its metadata document. Otherwise it registers. */
	hasDocument?: boolean;
	/** It calls only tools that are listed, and those that need more access are not. */
	callsListed?: boolean;
}

const sessions = { client: "SDK v2", export: "connectWithSession", revision: "2025-11-25" };
const documented = { client: "With a document", hasDocument: true };
const rows: Row[] = [
	{ name: "SDK v1", file: "sdk-v1.ts", revision: "2025-11-25" },
	{ name: "SDK v1 with a metadata document", file: "sdk-v1.ts", ...documented },
	{ name: "SDK v2 with sessions", file: "sdk-v2.ts", ...sessions },
	{ name: "SDK v2", file: "sdk-v2.ts", revision: "2026-07-28" },
	{ name: "SDK v2 with a metadata document", file: "sdk-v2.ts", ...documented },
	{ name: "AI SDK", file: "ai-sdk.ts", callsListed: true },
	{ name: "mcp-remote", client: "MCP CLI Proxy", file: "mcp-remote.ts" },
];

async function load(file: string, name = "connect"): Promise<Connect> {
	return (await import(`./${file}`))[name];
}

let world: SignInWorld;
/** Of the client that signs. */
let privateKey: Record<string, unknown>;
// Version 2 of the SDK warns of each refusal.
const warnings = spyOn(console, "warn").mockImplementation(() => {});
afterAll(() => warnings.mockRestore());
beforeAll(async () => {
	const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
	privateKey = { ...(await crypto.subtle.exportKey("jwk", pair.privateKey)) };
	const jwks = { keys: [await crypto.subtle.exportKey("jwk", pair.publicKey)] };
	const all: Record<string, object> = {
		[documentUrl]: { client_id: documentUrl, token_endpoint_auth_method: "none" },
		[signerUrl]: { client_id: signerUrl, token_endpoint_auth_method: "private_key_jwt", jwks },
	};
	const common = { client_name: "With a document", redirect_uris: [redirectUrl] };
	world = await startSignIn({
		documents: {
			resolve: async () => ["93.184.215.14"],
			fetch: async (url) => Response.json({ ...common, ...all[`https://client.example${new URL(url).pathname}`] }),
		},
	});
});
afterAll(() => world[Symbol.asyncDispose]());

test("SDK v2 signs its requests for tokens with the key of its metadata document", async () => {
	// Its signatures have the time of day.
	world.clock.now = Date.now();
	await world.setManager("mona_lisa", true);
	const connect = await load("sdk-v2.ts");
	const signIn = (url: string) => world.allow("mona_lisa", url, "read");
	const options = { url: `${world.url}/mcp`, metadataUrl: signerUrl, signIn };
	await expect(connect(options)).rejects.toThrow();
	expect(world.requests).toContain("POST /oauth/token 401");
	await using client = await connect({ ...options, privateKey });
	expect(await client.call("list_channels", { guild_id: world.world.guild.id })).toContain("general");
	expect(world.requests).not.toContain("POST /oauth/register 201");
});

describe.each(rows)("$name", (row) => {
	const person = "mona_lisa";
	const name = `from-client-${rows.indexOf(row)}`;
	let client: SignedInClient;
	let requests: string[];
	let guild_id: string;

	/** Signs in, with the person's consent to write. */
	async function connect(): Promise<SignedInClient> {
		const start = await load(row.file, row.export);
		return start({
			url: `${world.url}/mcp`,
			metadataUrl: row.hasDocument ? documentUrl : undefined,
			signIn: (url) => world.allow(person, url, "write"),
		});
	}
	const requested = (line: string) => requests.filter((request) => request === line).length;
	const expire = () => {
		world.clock.now += 3_600_001;
	};
	/** Calls a tool. Returns whether the client got a result, or has opened a browser to sign in again. */
	async function tryCall(): Promise<"answered" | "refused"> {
		const { lastUrl } = client;
		try {
			await client.call("list_channels", { guild_id });
			return "answered";
		} catch (error) {
			if (client.lastUrl === lastUrl) throw error;
			return "refused";
		}
	}
	/** The gateway remembers a token for half a second. */
	const untilRefused = () => until("it is refused", async () => (await tryCall()) === "refused");

	beforeAll(async () => {
		await world.setManager(person, true);
		world.requests.length = 0;
		requests = world.requests;
		guild_id = world.world.guild.id;
		client = await connect();
	});
	afterAll(() => client[Symbol.asyncDispose]());

	test("signs in and lists the tools that the person allowed", async () => {
		expect(requested("POST /oauth/register 201")).toBe(row.hasDocument ? 0 : 1);
		const names = await client.toolNames();
		expect(names).toContain("create_channel");
		expect(names).not.toContain("delete_channel");
		if (row.revision) expect(client.revision).toBe(row.revision);
	});

	test("calls tools in the name of the person", async () => {
		const channels = await client.call("list_channels", { guild_id });
		expect(channels).toContain("general");
		const channel = { guild_id, name };
		await client.call("create_channel", channel);
		expect(world.world.guild.auditLog.at(-1)?.reason).toBe(`via MCP (for MONA LISA, by ${row.client ?? row.name})`);
		const role = { guild_id, name };
		expect(await client.call("create_role", role)).toMatch(/^ERROR You lack MANAGE_ROLES/);
	});

	test("reads a guild's document by its URI, if the person may", async () => {
		if (!client.resources || !client.read) return;
		const uri = `guildhall://alpha/guilds/${guild_id}/document`;
		expect(await client.resources()).toEqual([]);
		await expect(client.read(uri)).rejects.toThrow("You lack ADMINISTRATOR");
		await world.setAdministrator(person, true);
		expect(await client.resources()).toEqual([uri]);
		expect(await client.read(uri)).toContain('"name":"general"');
		await world.setAdministrator(person, false);
	});

	test.skipIf(row.callsListed ?? false)("asks for more access when a call needs it", async () => {
		const { lastUrl } = client;
		const deletion = { guild_id, channel_id: `#${name}` };
		await client.call("delete_channel", deletion).catch(() => {});
		expect(client.lastUrl).not.toBe(lastUrl);
		expect(new URL(client.lastUrl ?? "").searchParams.get("scope")).toBe("read write all");
		if (!client.signInAgain) return;
		await client.signInAgain(async (url) => world.allow(person, url, "all"));
		expect(await client.call("delete_channel", deletion)).toContain("Deleted");
	});

	test("refreshes its token", async () => {
		const before = requested("POST /oauth/token 200");
		expire();
		expect(await client.call("list_channels", { guild_id })).toContain("general");
		expect(requested("POST /oauth/token 200")).toBe(before + 1);
	});

	test("is refused when the person loses the role", async () => {
		await world.setManager(person, false);
		expect(await client.call("list_channels", { guild_id })).toStartWith("ERROR");
		expire();
		expect(await tryCall()).toBe("refused");
		const { location, browser } = await world.toGateway(person, client.lastUrl ?? "");
		const response = await browser.open(location);
		expect(response.status).toBe(403);
		expect(await response.text()).toContain("You cannot sign in here");
		await world.setManager(person, true);
	});

	test("is refused when the person ends the connection", async () => {
		await client[Symbol.asyncDispose]();
		client = await connect();
		expect(await client.call("list_channels", { guild_id })).toContain("general");
		await world.endConnections(person);
		await untilRefused();
	});

	test.skipIf(row.hasDocument ?? false)("registers again after its registration was forgotten", async () => {
		await client[Symbol.asyncDispose]();
		client = await connect();
		const { lastUrl } = client;
		await world.endConnections(person);
		await world.forgetClients();
		await untilRefused();
		expect(client.lastUrl).not.toBe(lastUrl);
		const back = await world.allow(person, client.lastUrl ?? "", "read");
		expect(back.searchParams.get("code")).toBeString();
	});
});

test("a client that cannot ask its user gives them a link, at which they approve the call", async () => {
	await using asking = await startSignIn({ toml: { mcp: { approval: "destructive", approval_by: "client" } } });
	const { guild, simulator } = asking.world;
	const guild_id = guild.id;
	await asking.setAdministrator("mona_lisa", true);
	const connect = await load("sdk-v1.ts");
	const signIn = (url: string) => asking.allow("mona_lisa", url, "all");
	await using client = await connect({ url: `${asking.url}/mcp`, signIn });
	const isThere = () => [...guild.channels.values()].some(({ name }) => name === "Lounge");
	const told = await client.call("delete_channel", { guild_id, channel_id: "#Lounge" });
	const [, approval_id = "", link = ""] = /The request (\w+) waits at (\S+);/.exec(told) ?? [];
	expect(link).toBe(`${asking.url}/console#approvals`);
	const decided = () => client.call("get_approval", { guild_id, approval_id });
	expect(await decided()).toContain("Not run yet.");

	const at = (name: string) => signedInPerson(asking.url, { id: simulator.user(name).id, name }, asking.clock.now);
	const page = await at("mona_lisa");
	const { body } = await page.get<{ approvals: { id: string; token: string; instance: string }[] }>("approvals");
	const [{ id, token, instance } = { id: "", token: "", instance: "" }] = body.approvals;
	expect(id).toBe(approval_id);
	const decision = { instance, id, token, decision: "approve" };
	expect((await (await at("ada")).post("approvals/decide", decision)).body).not.toMatchObject({ done: true });
	expect(isThere()).toBe(true);
	expect((await page.post("approvals/decide", decision)).body).toMatchObject({ done: true });
	expect(isThere()).toBe(false);
	expect(await decided()).toContain("Deleted");
});
