// A code, typed by a person, on its way to the game server and back: every answer there is, with its exact text.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import { startBot } from "../../../src/bot/bot.ts";
import { variables } from "../../../src/bot/config/settings.ts";
import { createGameClient } from "../../../src/bot/game/client.ts";
import { createVerify, verifyCommands } from "../../../src/bot/game/verify.ts";
import { startGameServer } from "../../../src/simulator/game/game-server.ts";
import { longError, type Misbehaviour } from "../../../src/simulator/game/misbehaviour.ts";
import { demoSeed } from "../../../src/simulator/seed.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { sharedBy, testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { type GameWorld, general, startGameWorld } from "./game-world.ts";
import { allows } from "./openapi.ts";

const gameTest = testWith(startGameWorld);
/** The bot deletes messages with a code. */
const deleting = { settings: { delete_code_message: true } };

const usage = "Run /verify in the game to get a code, then write `!m verify <code>` here.";
const unreachable = "Could not reach the game server: ";
const noneOfIts = (status: number) =>
	`${unreachable}the game server answered HTTP ${status} with a body that does not match the API of the game server's plugin`;

const anyPort = { port: 0, hostname: "127.0.0.1" };

/** A client of a game server that answers like this. */
function clientOf(fetch: (request: Request) => Response | Promise<Response>) {
	const server = Bun.serve({ ...anyPort, fetch });
	const client = createGameClient({ url: `http://127.0.0.1:${server.port}`, secret: "hush", log: recordLog().log });
	return { ...client, [Symbol.asyncDispose]: () => server.stop(true) };
}

describe("a person who types it", () => {
	const shared = oneWorld();

	gameTest("is told that the account is linked, and nothing else happens", async (world) => {
		const { simulator, game } = world;
		const ada = simulator.user("ada");
		const { code } = game.issueCode({ username: "Steve_1" });
		expect(await world.answer("ada", `!m verify ${code}`)).toBe(
			"Your account is linked to the game account `Steve_1`.",
		);
		expect(game.requests).toEqual([
			{ method: "POST", path: "/api/verify", body: { code, chat_id: ada.id }, status: 200 },
		]);
		expect(game.links.get(ada.id)?.username).toBe("Steve_1");
		const written = simulator.journal.entries().map(({ route }) => route);
		expect(written.filter((route) => !route.includes("commands"))).toEqual([
			"POST /channels/:channel_id/messages",
			"POST /channels/:channel_id/messages",
		]);
		const { text } = await world.call("list_recent_tool_calls");
		expect(text).not.toContain("verify");
	});

	test.each([
		["upper-cased", (code: string) => code.toLowerCase()],
		["trimmed", (code: string) => `   ${code} \t\n `],
	])("the code is %s before it is sent", async (_, write) => {
		const { world, person, requests } = shared();
		const { code } = world.game.issueCode();
		expect(await world.answer(person, `!m verify ${write(code)}`)).toContain("is linked");
		expect(requests()[0]?.body).toMatchObject({ code });
	});

	test("all that is left of the line is the code", async () => {
		const { world, person, requests } = shared();
		expect(await world.answer(person, "!m verify ab  cd ")).toBe("This code is not known.");
		expect(requests()[0]?.body).toMatchObject({ code: "AB  CD" });
	});

	test.each(["!m verify", "!m verify   ", "!m verify \n"])(
		"%j without a code is answered with what to do",
		async (text) => {
			const { world, person, requests } = shared();
			expect(await world.answer(person, text)).toBe(usage);
			expect(requests()).toEqual([]);
		},
	);

	gameTest("the usage has the bot's own prefix", { config: () => ({ command: "?" }) }, async (world) => {
		expect(await world.answer("ada", "?verify")).toBe(
			"Run /verify in the game to get a code, then write `? verify <code>` here.",
		);
	});

	test.each([
		["GAME_VERIFY_URL", { gameVerifyUrl: undefined }, "GAME_VERIFY_URL must be set."],
		["GAME_VERIFY_SECRET", { gameVerifySecret: undefined }, "GAME_VERIFY_SECRET must be set."],
		[
			"both",
			{ gameVerifyUrl: undefined, gameVerifySecret: undefined },
			"GAME_VERIFY_URL, GAME_VERIFY_SECRET must be set.",
		],
	])("without %s is told what is missing", async (_, missing, said) => {
		await using world = await startGameWorld({ config: () => missing });
		expect(await world.answer("ada", "!m verify ABC123")).toBe(`Verification is not configured: ${said}`);
		expect(await world.answer("ada", "!m verify")).toBe(usage);
		expect(world.game.requests).toEqual([]);
	});

	test.each([
		["unknown", "ABC123", "This code is not known."],
		["used", "used", "This code has been used already."],
		["expired", "expired", "This code has expired. Run /verify in the game again."],
	])("a code that is %s is answered with the plugin's own error", async (_, which, said) => {
		const { world, person } = shared();
		const { game } = world;
		const used = game.issueCode().code;
		await world.ask("zoe", `!m verify ${used}`);
		const codes: Record<string, string> = { used, expired: game.issueCode({ validMs: -1 }).code };
		expect(await world.answer(person, `!m verify ${codes[which] ?? which}`)).toBe(said);
	});
});

const wrongAnswers: [Misbehaviour, string][] = [
	["cut", `${unreachable}the connection was lost`],
	["huge", `${unreachable}the game server's answer is longer than 64 KiB`],
	["large", `${unreachable}the game server's answer is longer than 64 KiB`],
	["html", noneOfIts(200)],
	["204", noneOfIts(204)],
	["wrong-types", noneOfIts(200)],
	["401", `${unreachable}the game server answered HTTP 401`],
	["403", `${unreachable}the game server answered HTTP 403`],
	["404", `${unreachable}the game server answered HTTP 404`],
	["500", `${unreachable}the game server answered HTTP 500`],
	["redirect", `${unreachable}the game server answered HTTP 307, a redirect, which the bot does not follow`],
	["no-error", "The game server refused the code without a reason."],
	["no-username", "Your account is linked to the game account `5fd3b08c-3a53-4b1b-9d7e-2f8a5b1d6c00`."],
	["refused-400", "The code has the wrong form."],
	["refused-404", "This code is not known."],
	["refused-409", "This account is linked already."],
];

describe("a game server that misbehaves", () => {
	const shared = oneWorld();

	test.each(wrongAnswers)("%s: %s", async (kind, said) => {
		const { world, person, requests } = shared();
		const { game } = world;
		game.misbehave(kind);
		expect(await world.answer(person, "!m verify ABC123")).toBe(said);
		// Nothing is sent twice, and nothing elsewhere.
		expect(requests().map(({ path }) => path)).toEqual(["/api/verify"]);
		game.behave();
		const { code } = game.issueCode();
		expect(await world.answer(person, `!m verify ${code}`)).toContain("is linked");
	});

	gameTest("a 401 is told to the operator", { config: () => ({ gameVerifySecret: "another" }) }, async (world) => {
		expect(await world.answer("ada", "!m verify ABC123")).toBe(`${unreachable}the game server answered HTTP 401`);
		expect(world.logged.join("\n")).toContain(
			"game server answered 401: GAME_VERIFY_SECRET differs from its plugin's secret",
		);
	});

	test("a game server that is not there is said to be so", async () => {
		await using world = await startGameWorld({ config: () => ({ gameVerifyUrl: "http://127.0.0.1:1" }) });
		expect(await world.answer("ada", "!m verify ABC123")).toBe(`${unreachable}the connection was refused`);
	});

	test.each(["slow", "trickle"] as const)("%s: it is given up when its time is over", async (kind) => {
		await using game = await startGameServer();
		game.misbehave(kind);
		const { log } = recordLog();
		const { url, secret } = game;
		const client = createGameClient({ url, secret, log, timeoutMs: 50 });
		expect(await createVerify({ game: client, missing: [], log })("1", "ABC123", "", "en-US")).toBe(
			`${unreachable}the game server did not answer within 0.05 seconds`,
		);
	});

	test("the secret goes nowhere else when a redirect names another server", async () => {
		const arrived: string[] = [];
		using elsewhere = Bun.serve({
			...anyPort,
			fetch(request) {
				arrived.push(request.url);
				return Response.json({ success: true, username: "Eve" });
			},
		});
		for (const status of [301, 302, 303, 307, 308]) {
			const headers = { location: `http://127.0.0.1:${elsewhere.port}/` };
			await using client = clientOf(() => new Response(null, { status, headers }));
			await expect(client.verify("ABC", "1")).rejects.toThrow(
				`the game server answered HTTP ${status}, a redirect, which the bot does not follow`,
			);
		}
		expect(arrived).toEqual([]);
	});

	gameTest("5,000 characters of error arrive byte for byte, and mention nobody", async (world) => {
		world.game.misbehave("long-error");
		const answers = await world.ask("ada", "!m verify ABC123", 3);
		expect(longError).toHaveLength(5000);
		expect(answers.map(({ content }) => content).join("")).toBe(longError);
		for (const { mention_everyone, mentions, mention_roles } of answers)
			expect({ mention_everyone, mentions, mention_roles }).toEqual({
				mention_everyone: false,
				mentions: [],
				mention_roles: [],
			});
		const sent = world.simulator.journal
			.entries("POST /channels/:channel_id/messages")
			.filter(({ actor }) => actor === world.simulator.bot("alpha").id);
		expect(sent).toHaveLength(3);
		for (const { body } of sent) expect(body).toMatchObject({ allowed_mentions: { parse: [], replied_user: false } });
	});
});

/** One bot for the tests of a group, and for each of them a person who has sent no code yet. */
function oneWorld() {
	const shared = sharedBy(startGameWorld);
	let people = 0;
	return () => {
		const world = shared();
		people += 1;
		const username = `person${people}`;
		const { simulator, guild, game } = world;
		const { user } = simulator.world.users.addPerson({ username });
		simulator.world.members.add(guild, user);
		const before = game.requests.length;
		return { world, person: username, requests: () => game.requests.slice(before) };
	};
}

/** Answers of a plugin of our own, and what becomes of them. */
test.each<[unknown, number, unknown]>([
	[{ success: true, username: "A", error: null }, 200, { account: "A" }],
	[{ success: true, username: null, uuid: "u" }, 201, { account: "u" }],
	[{ success: false, error: "No.", username: null }, 422, { error: "No." }],
	[{ success: false, error: null }, 200, { error: undefined }],
	[{ success: false, error: "  " }, 200, { error: undefined }],
	[{ success: true }, 200, "the game server answered HTTP 200 with"],
	[{ success: true, username: "" }, 200, "the game server answered HTTP 200 with"],
	[{ success: false, error: "No." }, 500, "the game server answered HTTP 500"],
	[{ success: true, username: "A" }, 401, "the game server answered HTTP 401"],
	[{ success: false, error: "No." }, 403, "the game server answered HTTP 403"],
	[[], 200, "the game server answered HTTP 200 with"],
])("the answer %j with status %i counts as it should", async (body, status, expected) => {
	await using client = clientOf(() => Response.json(body, { status }));
	const answer = await client.verify("ABC", "1").catch((error: Error) => error.message);
	if (typeof expected === "string") expect(answer).toStartWith(expected);
	else expect(answer).toMatchObject(expected as object);
	if (status === 200) expect(allows("POST /api/verify", 200, body)).toBe(typeof expected !== "string");
});

/** What a plugin may answer to the question for its supporters. */
test.each<[string | null, number, string | undefined]>([
	["18446744073709551615", 200, undefined],
	["", 200, undefined],
	[null, 200, undefined],
	["18446744073709551616", 200, "the game server answered HTTP 200 with"],
	["1234567890123456", 200, "the game server answered HTTP 200 with"],
	...([201, 203, 206, 400, 404, 500, 503] as const).map((status): [null, number, string] => [
		null,
		status,
		`the game server answered HTTP ${status}`,
	]),
])("a list with the id %j and status %i: %s", async (chat_id, status, fault) => {
	const list = { donators: [{ chat_id, tier: "gold" }] };
	await using client = clientOf(() => Response.json(list, { status }));
	const got = await client.donators().catch((error: Error) => error.message);
	// JSON Schema has no number for the highest id.
	if (status === 200 && chat_id?.length !== 20)
		expect(allows("GET /api/donators", 200, list)).toBe(fault === undefined);
	if (fault === undefined) expect(got).toMatchObject([{ chatId: chat_id || undefined }]);
	else expect(got).toStartWith(fault);
});

/** What a plugin may answer to a ban. */
test.each<[string, number, string | undefined]>([
	['{"success":true}', 200, undefined],
	["{}", 202, undefined],
	["", 204, undefined],
	["", 200, undefined],
	['{"success":false,"error":"No such\\nuuid."}', 200, "the game server's plugin refused the request: No such uuid."],
	['{"success":false}', 200, "the game server's plugin refused the request: no reason given"],
	[
		`{"success":false,"error":"x${"😀".repeat(300)}"}`,
		200,
		`the game server's plugin refused the request: x${"😀".repeat(99)}`,
	],
	["<!doctype html>", 200, "the game server answered HTTP 200 with"],
	['{"success":true}', 404, "the game server answered HTTP 404"],
	["", 500, "the game server answered HTTP 500"],
])("a ban answered with %j and status %i: %s", async (body, status, fault) => {
	const asked: unknown[] = [];
	await using client = clientOf(async (request) => {
		asked.push(new URL(request.url).pathname, await request.json());
		return new Response(status === 204 ? null : body, { status });
	});
	const said = await client.ban("u", "why").then(
		() => undefined,
		(error: Error) => error.message,
	);
	if (fault === undefined) expect(said).toBeUndefined();
	else expect(said).toStartWith(fault);
	expect(said?.isWellFormed()).not.toBe(false);
	expect(asked).toEqual(["/api/ban", { uuid: "u", reason: "why" }]);
	expect(allows("POST /api/ban", "request", asked[1])).toBe(true);
	if (status === 200 && body.startsWith("{"))
		expect(allows("POST /api/ban", 200, JSON.parse(body))).toBe(fault === undefined);
});

describe.concurrent("limits", () => {
	gameTest("one attempt per person is under way, and another person's is not hindered", async (world) => {
		const { simulator, game } = world;
		game.misbehave("slow", { times: 1 });
		const { code } = game.issueCode();
		await simulator.user("ada").say(general, `!m verify ${code}`);
		await until("it is held", () => game.requests.length === 1);
		expect(await world.answer("ada", "!m verify OTHER1")).toBe(
			"Your last code is still being checked. Please wait a moment.",
		);
		expect(await world.answer("zoe", "!m verify OTHER2")).toBe("This code is not known.");
		game.behave();
		await until("it is answered", () => world.answers().length === 3);
		expect(world.answers().at(-1)?.content).toContain("is linked");
		expect(game.requests).toHaveLength(2);
	});

	gameTest("5 a minute for one person; the sixth is not sent", async (world) => {
		for (let attempt = 0; attempt < 5; attempt++) {
			expect(await world.answer("ada", `!m verify NO${attempt}`)).toBe("This code is not known.");
		}
		expect(await world.answer("ada", "!m verify NO6")).toMatch(
			/^That was 5 codes within a minute\. Try again in \d+ seconds?\.$/,
		);
		expect(world.game.requests).toHaveLength(5);
		expect(await world.answer("zoe", "!m verify NO7")).toBe("This code is not known.");
	});

	test("ten in 10 s are answered, whatever else a person asks, and the next is refused", () => {
		const { limiter } = present(verifyCommands(async () => "", "!m", false).commands[0]);
		const waits = Array.from({ length: 11 }, () => limiter?.take("1").waitS);
		expect(waits).toEqual([...Array(10).fill(0), expect.any(Number)]);
		expect(waits.at(-1)).toBeGreaterThan(0);
		expect(limiter?.options.windowMs).toBe(10_000);
		expect(limiter?.take("2").waitS).toBe(0);
	});

	test("the minute is over for each attempt by itself", async () => {
		let now = 0;
		let asked = 0;
		const verify = createVerify({
			game: {
				async verify() {
					asked += 1;
					return { success: false, error: "No." };
				},
				donators: async () => [],
				ban: async () => {},
			},
			missing: [],
			log: recordLog().log,
			now: () => now,
		});
		const attempt = (person: string) => verify(person, "A", "", "en-US");
		for (now = 0; now < 50_000; now += 10_000) expect(await attempt("1")).toBe("No.");
		now = 59_000;
		expect(await attempt("1")).toBe("That was 5 codes within a minute. Try again in 1 second.");
		now = 60_000;
		expect(await attempt("1")).toBe("No.");
		expect(await attempt("1")).toContain("Try again in 10 seconds.");
		expect(await attempt("2")).toBe("No.");
		expect(asked).toBe(7);
	});
});

test("in a German server the answers are German", async () => {
	await using world = await startGameWorld({
		prepare(simulator) {
			simulator.guild("The Cooks").preferred_locale = "de";
		},
	});
	const { game } = world;
	expect(await world.answer("ada", "!m verify")).toBe(
		"Gib im Spiel /verify ein, um einen Code zu bekommen, und schreib dann hier `!m verify <code>`.",
	);
	game.misbehave("500", { times: 1 });
	expect(await world.answer("ada", "!m verify ABC")).toBe(
		"Der Spielserver konnte den Code nicht prüfen: Der Spielserver hat mit HTTP 500 geantwortet.",
	);
	const { code } = game.issueCode({ username: "Steve_1" });
	expect(await world.answer("ada", `!m verify ${code}`)).toBe(
		"Dein Konto ist jetzt mit dem Spielkonto `Steve_1` verknüpft.",
	);
});

gameTest("a code is in no line of the log, no metric and no row of the audit", deleting, async (world) => {
	const { game, simulator } = world;
	const codes = ["SECRETONE", "SECRETTWO", "SECRETTHREE", game.issueCode().code];
	for (const [index, code] of codes.entries()) {
		const kinds = ["500", "cut", "html"] as const;
		const kind = kinds[index];
		if (kind) game.misbehave(kind, { times: 1 });
		if (index === 1) simulator.faults.refuse("DELETE /channels/*/messages/*", 50013, { times: 1 });
		await world.ask("ada", `!m verify ${code}`);
	}
	simulator.faults.refuse("POST /channels/*/messages", 50013, { actor: simulator.bot("alpha").id });
	await simulator.user("zoe").say(general, "!m verify SECRETFIVE");
	await until("the refusal is logged", () => world.logged.some((line) => line.includes("could not reply")));
	const metrics = await fetch(new URL("/metrics", world.bot.url));
	const audit = await world.call("list_recent_tool_calls");
	const all = [...world.logged, await metrics.text(), audit.text].join("\n");
	for (const code of [...codes, "SECRETFIVE"]) expect(all.toUpperCase()).not.toContain(code);
	expect(world.logged.join("\n")).toContain("could not check a verification code");
});

describe.concurrent("the message with the code", () => {
	const isDeleted = ({ simulator }: GameWorld, id: string) =>
		simulator.world.messages.get(simulator.channel(general).id, id) === undefined;

	gameTest("stays unless the operator wants it deleted", async (world) => {
		const said = await world.simulator.user("ada").say(general, "!m verify ABC123");
		await until("it is answered", () => world.answers().length === 1);
		expect(isDeleted(world, said.id)).toBe(false);
	});

	gameTest("is deleted where the operator wants it; one without a code is not", deleting, async (world) => {
		const ada = world.simulator.user("ada");
		const bare = await ada.say(general, "!m verify");
		await until("it is answered", () => world.answers().length === 1);
		const said = await ada.say(general, "!m verify ABC123");
		await until("it is answered", () => world.answers().length === 2);
		expect(isDeleted(world, bare.id)).toBe(false);
		expect(isDeleted(world, said.id)).toBe(true);
		expect(world.answers().at(-1)?.content).toBe("This code is not known.");
	});

	test("stays where the bot may not delete it, and is answered", async () => {
		const seed = demoSeed();
		const [cooks] = seed.guilds;
		const permissions = PermissionFlagsBits.ViewChannel | PermissionFlagsBits.SendMessages;
		await using world = await startGameWorld({
			...deleting,
			simulator: { seed: { ...seed, guilds: cooks ? [{ ...cooks, bots: [{ username: "alpha", permissions }] }] : [] } },
		});
		const said = await world.simulator.user("ada").say(general, "!m verify ABC123");
		await until("it is answered", () => world.answers().length === 1);
		expect(isDeleted(world, said.id)).toBe(false);
		const deletions = world.simulator.requests.list().filter(({ method }) => method === "DELETE");
		expect(deletions).toEqual([]);
	});

	gameTest("is answered though Discord refuses to delete it", deleting, async (world) => {
		world.simulator.faults.refuse("DELETE /channels/*/messages/*", 50013);
		expect(await world.answer("ada", "!m verify ABC123")).toBe("This code is not known.");
		expect(world.logged.join("\n")).toContain("could not delete a message with a verification code");
	});
});

describe.concurrent("the command does not exist", () => {
	const withoutContent = () => {
		const seed = demoSeed();
		const bots = [{ username: "alpha", privilegedIntents: ["GuildMembers"] as const }, { username: "beta" }];
		return { seed: { ...seed, bots } };
	};

	test.each([
		["game", { features: { game: false } }],
		["verify", { settings: { verify: false } }],
	])("when %s is off: no answer, and the intent for content is not asked for", async (_, options) => {
		// A bot that asks for an intent without having it says so.
		await using world = await startGameWorld({ ...options, simulator: withoutContent() });
		const { code } = world.game.issueCode();
		await world.simulator.user("ada").say(general, `!m verify ${code}`);
		await world.restart();
		expect(world.answers()).toEqual([]);
		expect(world.game.requests).toEqual([]);
		expect(world.game.codes.has(code)).toBe(true);
	});

	test("and when both are on, the intent is asked for", async () => {
		await using simulator = await startSimulator(withoutContent());
		const logged = recordLog();
		const bot = startBot(connectedConfig(simulator, { toml: { features: { game: true }, game: {} } }), logged.log);
		const warnings = () => logged.entries("running without a privileged intent");
		await until("a warning", () => warnings().length > 0);
		await bot.close();
		expect(warnings()).toMatchObject([{ intent: "MessageContent" }]);
	});
});

test("a slash at the end of GAME_VERIFY_URL is left out", async () => {
	await using game = await startGameServer();
	const gameVerifyUrl = v.parse(variables.GAME_VERIFY_URL, `${game.url}/`);
	expect(gameVerifyUrl).toBe(game.url);
	await using world = await startGameWorld({ config: () => ({ gameVerifyUrl, gameVerifySecret: game.secret }) });
	const { code } = game.issueCode();
	expect(await world.answer("ada", `!m verify ${code}`)).toContain("is linked");
	expect(game.requests[0]?.path).toBe("/api/verify");
});

describe.concurrent("/verify", () => {
	const slashTest = testWith(async () => {
		const world = await startGameWorld({ settings: { slash_commands: true } });
		await until("commands are listed", () => listed(world).length > 0);
		return world;
	});

	slashTest("is listed where the operator wants it", (world) => expect(listed(world)).toContain("verify"));

	test("is not listed elsewhere, also where it was", async () => {
		await using world = await startGameWorld({
			async prepare(simulator) {
				const { id, token } = simulator.bot("alpha");
				const path = `/v10/applications/${id}/commands`;
				await fetch(simulator.api + path, {
					method: "PUT",
					headers: { authorization: `Bot ${token}`, "content-type": "application/json" },
					body: JSON.stringify([{ name: "verify", description: "Before" }]),
				});
				expect(simulator.world.commands.usable(id, undefined)).toHaveLength(1);
			},
		});
		await until("it is gone", () => !listed(world).includes("verify") && listed(world).length > 0);
		await expect(world.simulator.user("ada").run(general, "verify", { code: "A" })).rejects.toThrow(
			"can see no command /verify",
		);
	});

	slashTest("is answered to the person alone, with the texts of that door", async (world) => {
		const { simulator, game } = world;
		const ada = simulator.user("ada");
		const { code } = game.issueCode({ username: "Steve" });
		const run = async (options: Record<string, string>) => {
			const asked = await ada.run(general, "verify", options);
			return asked.reply();
		};
		const texts = [];
		for (const options of [{}, { code: ` ${code.toLowerCase()} ` }, { code: "ABC" }]) {
			const reply = await run(options);
			expect(reply.ephemeral).toBe(true);
			texts.push(reply.content);
		}
		game.misbehave("500", { times: 1 });
		texts.push((await run({ code: "ABC" })).content);
		expect(texts).toEqual([
			"Run /verify in the game to get a code, then write `/verify <code>` here.",
			"Your account is linked to the game account `Steve`.",
			"This code is not known.",
			`${unreachable}the game server answered HTTP 500`,
		]);
		expect(game.links.get(ada.id)?.username).toBe("Steve");
		expect(simulator.channel(general).transcript()).toBe("");
		const answer = await world.ask("ada", "!m verify");
		expect(answer[0]?.content).toBe(usage);
	});

	slashTest("is answered in the person's own language", async (world) => {
		const { simulator } = world;
		const ada = simulator.user("ada");
		simulator.world.users.locales.set(ada.id, "de");
		const asked = await ada.run(general, "verify", {});
		expect((await asked.reply()).content).toBe(
			"Gib im Spiel /verify ein, um einen Code zu bekommen, und schreib dann hier `/verify <code>`.",
		);
	});

	slashTest("splits what is too long over messages that the person alone sees", async (world) => {
		world.game.misbehave("long-error");
		const asked = await world.simulator.user("ada").run(general, "verify", { code: "ABC" });
		const pieces = [await asked.reply(), await asked.followUp(1), await asked.followUp(2)];
		expect(pieces.map(({ content }) => content).join("")).toBe(longError);
		expect(pieces.every(({ ephemeral }) => ephemeral)).toBe(true);
		expect(world.simulator.channel(general).transcript()).toBe("");
	});

	slashTest("shares its limit with the message", async (world) => {
		for (let attempt = 0; attempt < 5; attempt++) await world.ask("ada", `!m verify NO${attempt}`);
		const asked = await world.simulator.user("ada").run(general, "verify", { code: "NO6" });
		expect((await asked.reply()).content).toContain("That was 5 codes");
		expect(world.game.requests).toHaveLength(5);
	});
});

/** The bot's slash commands. */
function listed({ simulator, guild }: GameWorld): string[] {
	const { id } = simulator.bot("alpha");
	return simulator.world.commands.usable(id, guild).map(({ name }) => name);
}
