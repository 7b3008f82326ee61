// The control routes, which serve programs on this machine and refuse web pages.

import { expect, jest } from "bun:test";
import { startRaid } from "../../../src/simulator/control/raid.ts";
import { addInvites } from "../../../src/simulator/seed.ts";
import { simulatorTest } from "../../support/simulator.ts";
import { present, until } from "../../support/until.ts";
import { connect, openSocket, type Simulator } from "../support.ts";

async function control(
	simulator: Simulator,
	method: string,
	path: string,
	body?: unknown,
	headers: Record<string, string> = {},
) {
	const response = await fetch(`${simulator.url}/simulator/${path}`, {
		method,
		headers,
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
	return { status: response.status, body: (await response.json()) as unknown };
}

simulatorTest("the state lists all accounts with their tokens", async (simulator) => {
	const { body } = await control(simulator, "GET", "state");
	const { token } = simulator.bot("alpha");
	expect(body).toMatchObject({
		api: simulator.api,
		bots: [{ username: "alpha", token }, { username: "beta" }],
		users: expect.arrayContaining([expect.objectContaining({ username: "zoe" })]),
		guilds: [{ name: "The Cooks", member_count: 6 }, { name: "The Bakers" }],
	});
});

simulatorTest("the journal, the requests and the unknown routes are listed", async (simulator) => {
	await simulator.user("ada").say("The Cooks/general", "hi");
	await fetch(`${simulator.api}/nowhere`);
	const list = async (path: string) => (await control(simulator, "GET", path)).body;
	expect(await list("journal")).toMatchObject([{ seq: 1, body: { content: "hi" } }]);
	expect(await list("requests")).toMatchObject({ requests: [{ status: 200 }, { status: 501 }] });
	expect(await list("unknown-routes")).toEqual([{ method: "GET", path: "/nowhere", count: 1 }]);
	expect(await list("routes")).toContain("GET /gateway/bot");
});

simulatorTest("a fault is injected, listed and cleared", async (simulator) => {
	const match = "POST /channels/*/messages";
	for (const fault of [
		{ kind: "refuse", match, code: 50013, times: 1 },
		{ kind: "stall", match, after: true },
		{ kind: "drop", match, when: "after" },
		{ kind: "rateLimit", match, retryAfterMs: 100, global: true },
		{ kind: "fail", match, status: 502, executed: true },
		{ kind: "answer", match, status: 200, body: "<html>" },
	]) {
		const { status } = await control(simulator, "POST", "faults", fault);
		expect(status).toBe(200);
	}
	const { body } = await control(simulator, "GET", "faults");
	expect(body).toMatchObject([
		{ kind: "refuse", match, hits: 0, executed: false },
		{ kind: "stall", executed: true },
		{ kind: "drop", executed: true },
		{ kind: "rateLimit" },
		{ kind: "fail", executed: true },
		{ kind: "answer", executed: false },
	]);
	const refused = simulator.user("ada").say("The Cooks/general", "x");
	await expect(refused).rejects.toThrow("Missing Permissions");
	expect((await control(simulator, "DELETE", "faults")).body).toEqual([]);
	await simulator.user("ada").say("The Cooks/general", "x");
});

simulatorTest.each([
	["no kind", {}, "kind"],
	["no method", { kind: "drop", match: "/x", when: "before" }, "match"],
	["a wrong type", { kind: "refuse", match: "* *", code: "x" }, "code"],
	["an unknown key", { kind: "stall", match: "* *", time: 1 }, "time"],
])("%s gets 400 with the name of the field", async (simulator, _, fault, key) => {
	const answer = await control(simulator, "POST", "faults", fault);
	expect(answer.status).toBe(400);
	expect((answer.body as { error: string }).error).toStartWith(`${key}: `);
});

simulatorTest("sockets are closed on demand", async (simulator) => {
	using socket = await openSocket(simulator);
	await control(simulator, "POST", "sockets/disconnect", { code: 4003 });
	expect(await socket.closed()).toBe(4003);
	using invalid = await openSocket(simulator);
	await control(simulator, "POST", "sockets/disconnect", { how: "invalidate" });
	await invalid.payload("op 9", ({ op }) => op === 9);
	await control(simulator, "POST", "sockets/disconnect", { how: "reconnect" });
	await invalid.payload("op 7", ({ op }) => op === 7);
});

simulatorTest("a single shard is closed", async (simulator) => {
	simulator.world.sharding.configure({ identifyMs: 0 });
	const { token } = simulator.bot("alpha");
	const shards = await Promise.all(
		[0, 1].map(async (id) => {
			const socket = await openSocket(simulator);
			socket.send(2, { token, intents: 0, properties: {}, shard: [id, 2] });
			await socket.payload("READY", ({ t }) => t === "READY");
			return socket;
		}),
	);
	await control(simulator, "POST", "sockets/disconnect", { shard: 1 });
	expect(await shards[1]?.closed()).toBe(4000);
	expect(simulator.sockets.open).toBe(1);
});

simulatorTest("new connections wait while they are held", async (simulator) => {
	const { sockets } = simulator;
	await control(simulator, "POST", "sockets/connections", { held: true });
	const opening = openSocket(simulator);
	await until("the attempt", () => sockets.upgrades === 1);
	expect(sockets.open).toBe(0);
	await control(simulator, "POST", "sockets/connections", { held: false });
	using _ = await opening;
	expect(sockets.open).toBe(1);
});

simulatorTest.each([
	["another origin", { origin: "http://evil.example" }, 403],
	["the origin null", { origin: "null" }, 403],
	["another host name", { host: "evil.example" }, 403],
	["localhost", { host: "localhost" }, 200],
])("a request with %s gets the expected status", async (simulator, _, headers, status) => {
	const answer = await control(simulator, "GET", "state", undefined, headers);
	expect(answer.status).toBe(status);
	const own = await control(simulator, "GET", "state", undefined, { origin: simulator.url });
	expect(own.status).toBe(200);
});

simulatorTest("an unknown path gets 404 with the list of routes", async (simulator) => {
	for (const path of ["nothing", "constructor", "__proto__"]) {
		const answer = await control(simulator, "GET", path);
		expect(answer.status).toBe(404);
		expect((answer.body as { routes: string[] }).routes).toContain("GET /simulator/state");
	}
});

simulatorTest("a vote is counted, or refused with the reason", async (simulator) => {
	const { channel } = simulator.channel("The Cooks/general");
	const alpha = present(simulator.world.users.get(simulator.bot("alpha").id));
	const message = simulator.world.polls.add(channel, alpha, {
		question: { text: "?" },
		answers: [{ answer_id: 1, poll_media: { text: "!" } }],
		expiry: new Date(Date.now() + 60_000).toISOString(),
	});
	const vote = (username: string, ...answer_ids: number[]) =>
		control(simulator, "POST", "votes", { username, answer_ids, channel_id: channel.id, message_id: message.id });
	expect((await vote("ada", 1)).status).toBe(200);
	expect(message.poll.votes.get(1)).toEqual([simulator.user("ada").id]);
	expect(await vote("zoe", 2)).toEqual({ status: 400, body: { error: "the poll has no answer 2" } });
	expect((await vote("nobody", 1)).status).toBe(400);
});

simulatorTest("a person is added, and joins by invite", async (simulator) => {
	addInvites(simulator.world);
	const guild = simulator.guild("The Cooks");
	simulator.world.guilds.edit(guild, { features: ["MEMBER_VERIFICATION_GATE_ENABLED"] });
	const { body } = await control(simulator, "POST", "people", { username: "new.comer" });
	const { id, token } = body as { id: string; token: string };
	const joined = await fetch(`${simulator.api}/v10/invites/the-cooks`, {
		method: "POST",
		headers: { authorization: token },
	});
	expect(joined.status).toBe(200);
	expect(guild.members.get(id)?.pending).toBeTrue();
	for (const username of ["new.comer", "A", "two..dots", "x".repeat(33)])
		expect((await control(simulator, "POST", "people", { username })).status).toBe(400);
});

simulatorTest("a guild is shown as a person sees it", async (simulator) => {
	const { id } = simulator.guild("The Cooks");
	const see = async (username: string) => {
		const user = simulator.user(username).id;
		const path = `guild?id=${id}&user=${user}`;
		return (await control(simulator, "GET", path)).body;
	};
	const names = (shown: unknown) => (shown as { channels: { name: string }[] }).channels.map(({ name }) => name);
	const zoe = await see("zoe");
	expect(zoe).toMatchObject({ is_member: true, member_count: 6 });
	expect(names(zoe)).toEqual(["Talk", "general", "Lounge"]);
	const stranger = await see("bob_the_baker");
	expect(stranger).toMatchObject({ is_member: false, permissions: "0" });
	expect(names(stranger)).toContain("staff");
	expect((await control(simulator, "GET", "guild?id=1")).status).toBe(400);
});

simulatorTest("the commands that a person may use are listed", async (simulator) => {
	const { id } = simulator.guild("The Cooks");
	await using bot = await connect(simulator);
	await bot.client.application.commands.set([
		{ name: "ping", description: "Pong" },
		{ name: "purge", description: "P", defaultMemberPermissions: ["Administrator"] },
	]);
	const list = async (username: string) => {
		const user = simulator.user(username).id;
		const path = `commands?guild=${id}&user=${user}`;
		return (await control(simulator, "GET", path)).body;
	};
	const application_id = bot.client.user.id;
	expect(await list("zoe")).toMatchObject([{ application_id, bot: "alpha", name: "ping", options: [] }]);
	expect(await list("ada")).toHaveLength(2);
});

simulatorTest(
	"commands are listed, and interactions arrive, in the language of the person's client",
	async (simulator) => {
		const { id } = simulator.guild("The Cooks");
		await using bot = await connect(simulator);
		const choice = { name: "hard", nameLocalizations: { de: "hart" }, value: "h" };
		const egg = {
			type: 3,
			name: "egg",
			description: "How",
			nameLocalizations: { de: "ei" },
			choices: [choice],
		} as const;
		const cook = { type: 1, name: "cook", description: "Cook", descriptionLocalizations: { de: "Kochen" } } as const;
		await bot.client.application.commands.set([
			{ name: "kitchen", description: "K", nameLocalizations: { de: "küche" }, options: [{ ...cook, options: [egg] }] },
		]);
		const { id: user_id } = simulator.user("zoe");
		const list = async () => (await control(simulator, "GET", `commands?guild=${id}&user=${user_id}`)).body;
		expect(await list()).toMatchObject([
			{ name: "kitchen cook", description: "Cook", path: ["cook"], options: [{ name: "egg", label: "egg" }] },
		]);
		expect(await control(simulator, "POST", "locale", { user_id, locale: "de" })).toMatchObject({ status: 200 });
		expect(await list()).toMatchObject([
			{
				...{ name: "küche cook", description: "Kochen", path: ["cook"] },
				options: [{ name: "egg", label: "ei", description: "How", choices: [{ name: "hart", value: "h" }] }],
			},
		]);
		await simulator.user("zoe").run("The Cooks/general", "kitchen cook", { egg: "h" });
		expect(await bot.event("INTERACTION_CREATE")).toMatchObject({ locale: "de", data: { name: "kitchen" } });
		for (const wrong of [
			{ user_id, locale: "xx" },
			{ user_id: bot.client.user.id, locale: "de" },
			{ user_id: "1", locale: "de" },
		])
			expect((await control(simulator, "POST", "locale", wrong)).status).toBe(400);
	},
);

simulatorTest(
	"a bot whose intent is switched off is closed with 4014 when it identifies again, and does not see content",
	async (simulator) => {
		const { id: bot_id, token } = simulator.bot("alpha");
		using socket = await openSocket(simulator);
		socket.send(2, { token, intents: 1 << 15, properties: {} });
		await socket.payload("READY", ({ t }) => t === "READY");
		const intents = ["GuildMembers"];
		const set = await control(simulator, "POST", "intents", { bot_id, intents });
		expect(set).toEqual({ status: 200, body: { bot_id, intents } });
		expect(await socket.closed()).toBe(4000);
		using again = await openSocket(simulator);
		again.send(2, { token, intents: 1 << 15, properties: {} });
		expect(await again.closed()).toBe(4014);
		await simulator.user("ada").say("The Cooks/general", "secret");
		const { channel } = simulator.channel("The Cooks/general");
		const read = await fetch(`${simulator.api}/v10/channels/${channel.id}/messages`, {
			headers: { authorization: `Bot ${token}` },
		});
		expect(await read.json()).toMatchObject([{ content: "" }]);
		const unknown = { bot_id: "1", intents };
		expect((await control(simulator, "POST", "intents", unknown)).status).toBe(400);
	},
);

simulatorTest("one fault is removed by its id, and the latest entries of the journal are listed", async (simulator) => {
	const match = "GET /users/@me";
	for (const code of [50013, 50001]) await control(simulator, "POST", "faults", { kind: "refuse", match, code });
	const { body } = await control(simulator, "DELETE", "faults?id=1");
	expect(body).toMatchObject([{ id: 2 }]);
	expect((await control(simulator, "DELETE", "faults?id=1")).status).toBe(400);
	for (const text of ["1", "2", "3"]) await simulator.user("ada").say("The Cooks/general", text);
	const latest = await control(simulator, "GET", "journal?last=2");
	expect(latest.body).toMatchObject([{ seq: 2 }, { seq: 3 }]);
	expect((await control(simulator, "GET", "journal?last=-1")).status).toBe(400);
});

simulatorTest("a raid ends when invites are paused", async ({ world, guild: guildNamed, channel }) => {
	const guild = guildNamed("The Cooks");
	const before = guild.members.size;
	jest.useFakeTimers();
	try {
		startRaid(world, guild);
		jest.advanceTimersByTime(1_250);
		expect(guild.members.size).toBe(before + 6);
		// The sixth writes in all channels that it sees.
		expect(channel("The Cooks/Lounge").transcript()).toStartWith("free_nitro");
		expect(channel("The Cooks/staff").transcript()).toBe("");
		const invites_disabled_until = new Date(Date.now() + 3_600_000).toISOString();
		world.guilds.edit(guild, { incidents_data: { invites_disabled_until, dms_disabled_until: null } });
		jest.advanceTimersByTime(10_000);
		expect(guild.members.size).toBe(before + 6);
	} finally {
		jest.useRealTimers();
	}
});
