// No request and no payload causes an internal error of the simulator.

import { expect, test } from "bun:test";
import { allRoutes } from "../../src/simulator/rest/routes/all.ts";
import { recordLog } from "../support/log.ts";
import { simulatorTest } from "../support/simulator.ts";
import { as, openSocket, type Simulator, startSimulator } from "./support.ts";

const values: readonly unknown[] = [
	null,
	-1,
	Number.MAX_VALUE,
	2 ** 53,
	"",
	"x".repeat(5000),
	"\u0000\ud800",
	[],
	[[]],
	[null],
	{},
	{ id: {} },
	true,
];

const messageKeys = "name content embeds allowed_mentions message_reference nonce flags tts attachments components";
const responseKeys = "data application_id message_id custom_id with_response title choices";
const keys = [
	messageKeys,
	"type topic position parent_id permission_overwrites bitrate user_limit rate_limit_per_user nsfw",
	"permissions color colors hoist mentionable icon unicode_emoji allow deny",
	"nick roles mute deaf channel_id communication_disabled_until",
	"description options choices required default_member_permissions contexts integration_types dm_permission",
	responseKeys,
	"delete_message_seconds delete_message_days messages recipient_id query limit before after around",
].flatMap((line) => line.split(" "));

/** A path of this pattern in The Cooks. Other parameters are "1". */
function pathOf(simulator: Simulator, pattern: string): string {
	const guild = simulator.guild("The Cooks");
	const ids: Record<string, string | undefined> = {
		guild_id: guild.id,
		channel_id: simulator.channel("The Cooks/general").id,
		user_id: simulator.user("zoe").id,
		role_id: [...guild.roles.keys()].at(-1),
		overwrite_id: guild.id,
	};
	return pattern.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "1");
}

/** Sends a request without the network, which would take three times as long. Returns the status. */
async function send(
	{ api, handle }: Simulator,
	method: string,
	path: string,
	body: string | undefined,
	headers: Record<string, string> = {},
) {
	const request = new Request(`${api}/v10${path}`, {
		method,
		headers: { "content-type": "application/json", ...headers },
		...(body === undefined || method === "GET" ? {} : { body }),
	});
	const response = await handle(request);
	await response.arrayBuffer();
	return response.status;
}

test.each(allRoutes.map(({ name }) => name))("%s handles any body and query", async (name) => {
	const { log, lines } = recordLog("error");
	await using simulator = await startSimulator({ log, onlyResponses: true });
	const [method = "", pattern = ""] = name.split(" ");
	const authorization = `Bot ${simulator.bot("alpha").token}`;
	const call = (path: string, body?: string) => send(simulator, method, path, body, { authorization });
	const path = pathOf(simulator, pattern);
	await call(path);
	for (const value of values) {
		const body = JSON.stringify(value);
		const all = Object.fromEntries(keys.map((key) => [key, value]));
		const bodies = [body, JSON.stringify(all), ...keys.map((key) => `{${JSON.stringify(key)}:${body}}`)];
		// A GET has none.
		if (method !== "GET") await Promise.all(bodies.map((one) => call(path, one)));
		const query = keys.map((key) => `${key}=${encodeURIComponent(String(value).toWellFormed())}`);
		await call(`${path}?${query.join("&")}`);
		await call(pattern.replace(/:\w+/g, "%00"), body);
	}
	expect(lines).toEqual([]);
});

test("no response to an interaction causes an internal error", async () => {
	const { log, lines } = recordLog("error");
	await using simulator = await startSimulator({ log, onlyResponses: true });
	const alpha = as(simulator, simulator.bot("alpha"));
	const { id } = simulator.bot("alpha");
	const commands = `/applications/${id}/commands`;
	await alpha("POST", commands, { name: "x", description: "x" });
	const call = (method: string, path: string, body: unknown) => send(simulator, method, path, JSON.stringify(body));
	const statuses = new Set<number>();
	const answerKeys = `${messageKeys} ${responseKeys}`.split(" ");
	for (const type of [1, 4, 5, 6, 7, 8, 9])
		for (const value of values)
			for (const data of [value, ...answerKeys.map((key) => ({ content: "x", [key]: value }))]) {
				const asked = await simulator.user("ada").run("The Cooks/general", "x");
				const { token } = simulator.interactions.get(asked.id) ?? {};
				const callback = `/interactions/${asked.id}/${token}/callback`;
				statuses.add(await call("POST", callback, { type, data }));
				const webhook = `/webhooks/${id}/${token}`;
				statuses.add(await call("POST", webhook, data));
				statuses.add(await call("PATCH", `${webhook}/messages/@original`, data));
			}
	expect(lines).toEqual([]);
	expect([...statuses].sort()).toEqual([200, 204, 400, 404]);
});

test("no use of a command, component or modal causes an internal error", async () => {
	const { log, lines } = recordLog("error");
	const limit = { requests: 1_000_000, perMs: 1000 };
	await using simulator = await startSimulator({
		log,
		onlyResponses: true,
		rateLimits: { global: limit, each: limit },
	});
	const bot = simulator.bot("alpha");
	const alpha = as(simulator, bot);
	const nested = { type: 2, name: "g", description: "x" };
	const sub = { type: 1, name: "s", description: "x" };
	const where = { type: 7, name: "where", description: "x" };
	const text = { type: 3, name: "text", description: "x", autocomplete: true };
	await alpha("PUT", `/applications/${bot.id}/commands`, [
		{ name: "x", description: "x", options: [text, where] },
		{ name: "y", description: "y", options: [{ ...nested, options: [{ ...sub, options: [text] }] }] },
		{ type: 2, name: "u" },
		{ type: 3, name: "m" },
	]);
	const asked = await simulator.user("ada").run("The Cooks/general", "x");
	const { token } = simulator.interactions.get(asked.id) ?? {};
	const input = { type: 4, custom_id: "text", style: 1 };
	const who = { type: 5, custom_id: "who", required: false };
	await alpha("POST", `/interactions/${asked.id}/${token}/callback`, {
		type: 9,
		data: {
			custom_id: "modal",
			title: "Modal",
			components: [
				{ type: 18, label: "Text", component: input },
				{ type: 18, label: "Who", component: who },
			],
		},
	});
	const place = {
		application_id: bot.id,
		guild_id: simulator.guild("The Cooks").id,
		channel_id: simulator.channel("The Cooks/general").id,
	};
	const authorization = simulator.user("ada").token;
	const statuses = new Set<number>();
	const dataKeys = ["options", "target_id", "components", "values", "name"];
	const inner = (value: unknown) => [
		value,
		[value],
		[{ name: "text", value }],
		[{ name: "text", value, focused: value }],
		[{ name: "file", value }],
		[{ name: "g", options: value }],
		[{ name: "g", options: [{ name: "s", options: value }] }],
		[{ component: value }],
		[{ components: value }],
		[{ component: { custom_id: "text", value } }],
		[{ component: { custom_id: "who", values: value } }],
		[{ component: { custom_id: "who", values: [value] } }],
	];
	for (const type of [2, 3, 4, 5])
		for (const base of [
			{ name: "x" },
			{ name: "y" },
			{ name: "u", type: 2 },
			{ name: "m", type: 3 },
			{ id: asked.id, custom_id: "modal" },
		])
			for (const value of values.flatMap(inner))
				for (const key of dataKeys) {
					const data = { ...base, [key]: value };
					const body = JSON.stringify({ ...place, type, data });
					const path = "/interactions";
					const headers = { authorization };
					statuses.add(await send(simulator, "POST", path, body, headers));
				}
	expect(lines).toEqual([]);
	expect([...statuses].sort()).toEqual([200, 400, 404]);
});

simulatorTest("no payload on the socket causes an internal error", async (simulator) => {
	const { token } = simulator.bot("alpha");
	for (const op of [1, 2, 3, 4, 6, 8, 31])
		for (const d of [...values, { token }, { token, intents: -1, shard: [0, 0] }]) {
			using socket = await openSocket(simulator);
			socket.send(2, { token, intents: 0, properties: {} });
			socket.send(op, d);
			socket.send(1, null);
		}
	using socket = await openSocket(simulator);
	socket.send(1, null);
	await socket.payload("ack", ({ op }) => op === 11);
});

simulatorTest("a body of 20 MB in the wrong place is refused", async (simulator) => {
	const { id } = simulator.channel("The Cooks/general");
	const response = await fetch(`${simulator.api}/v10/channels/${id}/messages`, {
		method: "POST",
		headers: { authorization: simulator.user("ada").token, "content-type": "application/json" },
		body: JSON.stringify({ content: "x".repeat(20_000_000) }),
	});
	expect(response.status).toBe(400);
});

simulatorTest.each([
	["no Host header", ""],
	["an invalid Host header", "Host: a b:c\r\n"],
])("%s is harmless", async (simulator, _, host) => {
	const ended = Promise.withResolvers<void>();
	const text = `GET /api/v10/gateway HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
	await Bun.connect({
		hostname: "127.0.0.1",
		port: simulator.port,
		socket: { open: (socket) => void socket.write(text), data: () => {}, close: () => ended.resolve() },
	});
	await ended.promise;
	expect((await fetch(`${simulator.url}/simulator/state`)).status).toBe(200);
});
