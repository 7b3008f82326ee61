// No request and no payload makes the simulator fail: whatever comes, the answer is one that Discord could give.

import { expect, test } from "bun:test";
import { allRoutes } from "../../src/simulator/rest/routes/all.ts";
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

const keys = [
	"name content embeds allowed_mentions message_reference nonce flags tts attachments components",
	"type topic position parent_id permission_overwrites bitrate user_limit rate_limit_per_user nsfw",
	"permissions color colors hoist mentionable icon unicode_emoji allow deny",
	"nick roles mute deaf channel_id communication_disabled_until",
	"description options choices required default_member_permissions contexts integration_types dm_permission",
	"data application_id message_id custom_id with_response",
	"delete_message_seconds delete_message_days messages recipient_id query limit before after around",
].flatMap((line) => line.split(" "));

/** A path of this pattern in The Cooks; `id` stands for what is named otherwise. */
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

test.each(allRoutes.map(({ name }) => name))(
	"%s answers whatever is sent",
	async (name) => {
		const faults: unknown[] = [];
		await using simulator = await startSimulator({
			log: {
				debug: () => {},
				info: () => {},
				warn: () => {},
				error: (message, fields) => faults.push(message, fields),
			},
		});
		const [method = "", pattern = ""] = name.split(" ");
		const send = async (path: string, body: string | undefined) => {
			const request = new Request(`${simulator.api}/v10${path}`, {
				method,
				headers: {
					authorization: `Bot ${simulator.bot("alpha").token}`,
					"content-type": "application/json",
				},
				...(body === undefined || method === "GET" ? {} : { body }),
			});
			// Over the network the many requests would take three times as long.
			const response = await simulator.handle(request);
			await response.arrayBuffer();
			return response.status;
		};
		const path = pathOf(simulator, pattern);
		await send(path, undefined);
		for (const value of values) {
			const body = JSON.stringify(value);
			await send(path, body);
			await Promise.all(
				keys.map((key) => send(path, `{${JSON.stringify(key)}:${body}}`)),
			);
			const all = Object.fromEntries(keys.map((key) => [key, value]));
			await send(path, JSON.stringify(all));
			const query = keys.map(
				(key) => `${key}=${encodeURIComponent(String(value).toWellFormed())}`,
			);
			await send(`${path}?${query.join("&")}`, undefined);
			await send(pattern.replace(/:\w+/g, "%00"), body);
		}
		expect(faults).toEqual([]);
	},
);

test("no first answer to an interaction is more than its bot's fault", async () => {
	const faults: unknown[] = [];
	await using simulator = await startSimulator({
		log: {
			debug: () => {},
			info: () => {},
			warn: () => {},
			error: (message, fields) => faults.push(message, fields),
		},
	});
	const alpha = as(simulator, simulator.bot("alpha"));
	const { id } = simulator.bot("alpha");
	const commands = `/applications/${id}/commands`;
	await alpha("POST", commands, { name: "x", description: "x" });
	const call = async (method: string, path: string, body: unknown) => {
		const request = new Request(`${simulator.api}/v10${path}`, {
			method,
			headers: { "content-type": "application/json" },
			body: JSON.stringify(body),
		});
		const response = await simulator.handle(request);
		await response.arrayBuffer();
		return response.status;
	};
	const statuses = new Set<number>();
	for (const type of [1, 4, 5, 6, 7])
		for (const value of values)
			for (const data of [
				value,
				...keys.map((key) => ({ content: "x", [key]: value })),
			]) {
				const asked = await simulator.user("ada").run("The Cooks/general", "x");
				const { token } = simulator.interactions.get(asked.id) ?? {};
				const callback = `/interactions/${asked.id}/${token}/callback`;
				statuses.add(await call("POST", callback, { type, data }));
				const webhook = `/webhooks/${id}/${token}`;
				statuses.add(await call("POST", webhook, data));
				statuses.add(
					await call("PATCH", `${webhook}/messages/@original`, data),
				);
			}
	expect(faults).toEqual([]);
	expect([...statuses].sort()).toEqual([200, 204, 400, 404]);
});

test("no payload on the socket is more than its sender's fault", async () => {
	await using simulator = await startSimulator();
	const { token } = simulator.bot("alpha");
	for (const op of [1, 2, 3, 4, 6, 8, 31])
		for (const d of [
			...values,
			{ token },
			{ token, intents: -1, shard: [0, 0] },
		]) {
			using socket = await openSocket(simulator);
			socket.send(2, { token, intents: 0, properties: {} });
			socket.send(op, d);
			socket.send(1, null);
		}
	using socket = await openSocket(simulator);
	socket.send(1, null);
	await socket.payload("ack", ({ op }) => op === 11);
});

test("a body of 20 MB in the wrong place is refused", async () => {
	await using simulator = await startSimulator();
	const { id } = simulator.channel("The Cooks/general");
	const response = await fetch(`${simulator.api}/v10/channels/${id}/messages`, {
		method: "POST",
		headers: {
			authorization: simulator.user("ada").token,
			"content-type": "application/json",
		},
		body: JSON.stringify({ content: "x".repeat(20_000_000) }),
	});
	expect(response.status).toBe(400);
});

test.each([
	["no Host header", ""],
	["a Host header that is none", "Host: a b:c\r\n"],
])("%s harms nobody", async (_, host) => {
	await using simulator = await startSimulator();
	const ended = Promise.withResolvers<void>();
	await Bun.connect({
		hostname: "127.0.0.1",
		port: simulator.port,
		socket: {
			open: (socket) => {
				socket.write(
					`GET /api/v10/gateway HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
				);
			},
			data: () => {},
			close: () => ended.resolve(),
		},
	});
	await ended.promise;
	const { username } = simulator.user("ada");
	expect(username).toBe("ada");
	expect((await fetch(`${simulator.url}/simulator/state`)).status).toBe(200);
});
