// Downloads from the CDN: the simulator's, and servers that misbehave.

import { expect, test } from "bun:test";
import { toToolError } from "../../../src/discord/rest/errors.ts";
import { createPictureDownload, emojiPicture, guildIcon, roleIcon } from "../../../src/discord/rest/pictures.ts";
import {
	PlatformBusy,
	PlatformFailure,
	type PlatformOutcome,
	PlatformTimeout,
	withinRun,
} from "../../../src/discord/rest/rest.ts";
import { startSimulator } from "../../support/simulator.ts";

const emojiId = "100000000000000001";
const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
/** The start of an animated WebP picture. */
const animatedWebp = Buffer.concat([Buffer.from("RIFFxxxxWEBPVP8X"), Buffer.from([10, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0])]);

/** A CDN that gives these responses in turn, the last one again and again. */
function startCdn(...responses: (() => Response | Promise<Response>)[]) {
	const requests: { path: string; headers: Record<string, string> }[] = [];
	const outcomes: PlatformOutcome[] = [];
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		fetch: (request) => {
			const { pathname, search } = new URL(request.url);
			const headers = Object.fromEntries(request.headers);
			requests.push({ path: pathname + search, headers });
			const respond = responses[requests.length - 1] ?? responses.at(-1);
			return respond?.() ?? new Response("", { status: 404 });
		},
	});
	const expiry = new AbortController();
	return {
		requests,
		outcomes,
		expiry,
		download: createPictureDownload({
			cdn: server.url.origin,
			responses: { add: ([outcome]: readonly [PlatformOutcome]) => outcomes.push(outcome) },
			timeoutSignal: () => expiry.signal,
		}),
		[Symbol.asyncDispose]: () => server.stop(true),
	};
}

const failureOf = (download: Promise<unknown>) =>
	download.then(
		() => {
			throw new Error("it succeeded");
		},
		(error: unknown) => error,
	);

const image =
	(body: string | Buffer | ReadableStream = "picture", type = "image/png") =>
	() =>
		new Response(body, { headers: { "content-type": type } });
const status =
	(code: number, headers = {}) =>
	() =>
		new Response("", { status: code, headers });

test("emoji and icons are downloaded from the simulator in a format that can be uploaded", async () => {
	await using simulator = await startSimulator();
	const { world, cdn } = simulator;
	const guild = simulator.guild("The Cooks");
	const outcomes: string[] = [];
	const responses = { add: ([outcome]: readonly [string]) => outcomes.push(outcome) };
	const download = createPictureDownload({ cdn, responses });
	const [creator] = guild.members.values();
	if (!creator) throw new Error("no members");
	const add = (animated: boolean) => world.emojis.add(guild, creator.user, { name: "soup", animated });

	const still = add(false);
	const stored = world.pictures.get(`emojis/${still.id}`);
	const downloaded = await download(emojiPicture(still.id, false));
	expect(downloaded).toEqual({ bytes: new Uint8Array(stored?.bytes ?? []), mediaType: "image/png" });
	const moving = add(true);
	expect(await download(emojiPicture(moving.id, true))).toMatchObject({ mediaType: "image/gif" });
	world.emojis.remove(guild, moving);
	expect(await download(emojiPicture(moving.id, true))).toBeUndefined();

	const picture = { format: "gif", animated: true, bytes: gif } as const;
	const hash = world.pictures.addIcon("icons", guild.id, picture);
	const icon = { bytes: new Uint8Array(gif), mediaType: "image/gif" };
	expect(await download(guildIcon(guild.id, hash))).toEqual(icon);
	const other = { ...picture, format: "webp", bytes: animatedWebp } as const;
	const webpHash = world.pictures.addIcon("icons", guild.id, other);
	expect(await download(guildIcon(guild.id, webpHash))).toMatchObject({ mediaType: "image/webp" });
	const frozen = { ...picture, animated: false };
	const stillHash = world.pictures.addIcon("icons", guild.id, frozen);
	expect(await download(guildIcon(guild.id, stillHash))).toMatchObject({ mediaType: "image/png" });
	expect(await download(guildIcon(guild.id, "0"))).toBeUndefined();
	const [role = ""] = guild.roles.keys();
	const roleHash = world.pictures.addIcon("role-icons", role, frozen);
	expect(await download(roleIcon(role, roleHash))).toMatchObject({ mediaType: "image/png" });
	expect(outcomes).toEqual([
		...["ok", "ok", "client_error"],
		...["ok", "client_error", "ok", "ok", "client_error", "ok"],
	]);
});

test("the CDN gets no token and no cookie", async () => {
	await using cdn = startCdn(image());
	await cdn.download(emojiPicture(emojiId, false));
	const [request] = cdn.requests;
	expect(request?.path).toBe(`/emojis/${emojiId}.png?size=256`);
	expect(request?.headers["user-agent"]).toStartWith("DiscordBot ");
	for (const name of ["authorization", "cookie"]) expect(request?.headers).not.toHaveProperty(name);
});

test("an emoji that cannot be a PNG is downloaded as WebP", async () => {
	await using cdn = startCdn(status(415), image("webp", "image/webp"));
	expect(await cdn.download(emojiPicture(emojiId, false))).toMatchObject({ mediaType: "image/webp" });
	await using refusing = startCdn(status(415));
	const error = await failureOf(refusing.download(emojiPicture(emojiId, false)));
	expect(error).toBeInstanceOf(PlatformFailure);
	expect(refusing.outcomes).toEqual(["client_error", "client_error"]);
});

test.each([
	["a server error", status(500), 2, "server_error", / with HTTP 500$/],
	["a refusal", status(403), 1, "client_error", / with HTTP 403$/],
	["a redirect", status(302, { location: "/" }), 1, "failed", / with HTTP 302$/],
	["a page", image("<p>", "text/html"), 1, "failed", / with HTTP 200 that is not a picture$/],
	["an empty picture", image(""), 1, "failed", / with HTTP 200 that is not a picture$/],
	["a huge picture", image(Buffer.alloc(11 * 1024 * 1024)), 1, "failed", / with HTTP 200 of more than 10 MiB/],
] as const)(
	"%s in place of a picture is an error that names the picture",
	async (_, respond, attempts, outcome, text) => {
		await using cdn = startCdn(respond);
		const error = await failureOf(cdn.download(guildIcon("1", "abc")));
		expect(error).toBeInstanceOf(PlatformFailure);
		const { message } = error as PlatformFailure;
		expect(message).toMatch(text);
		expect(message).toStartWith("Discord's CDN answered the request for icons/1/abc.png with HTTP ");
		expect(toToolError(error)?.message).toContain("nothing was changed");
		expect(cdn.outcomes).toEqual(Array(attempts).fill(outcome));
	},
);

test("a download that fails once is repeated", async () => {
	await using cdn = startCdn(status(502), image());
	expect(await cdn.download(emojiPicture(emojiId, false))).toBeDefined();
	expect(cdn.outcomes).toEqual(["server_error", "ok"]);
});

test("a rate limit of the CDN says how long to wait", async () => {
	for (const [headers, retryAfterMs] of [
		[{ "retry-after": "7" }, 7000],
		[{}, 1000],
	] as const) {
		await using cdn = startCdn(status(429, headers));
		const error = await failureOf(cdn.download(emojiPicture(emojiId, true)));
		expect(error).toBeInstanceOf(PlatformBusy);
		expect(error).toMatchObject({ retryAfterMs });
		expect(cdn.outcomes).toEqual(["rate_limited"]);
	}
});

test("a CDN that does not respond, or stops in the middle, times out", async () => {
	const { promise: never } = Promise.withResolvers<Response>();
	const half = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("half")) });
	for (const respond of [() => never, image(half)]) {
		const asked = Promise.withResolvers<void>();
		await using cdn = startCdn(() => {
			asked.resolve();
			return respond();
		});
		const download = failureOf(cdn.download(emojiPicture(emojiId, false)));
		await asked.promise;
		cdn.expiry.abort();
		expect(await download).toBeInstanceOf(PlatformTimeout);
		expect(cdn.outcomes).toEqual(["failed"]);
	}
});

test("a download ends with the tool that needs it", async () => {
	await using cdn = startCdn(image());
	const signal = AbortSignal.abort();
	const run = { signal, endsAt: Infinity, reason: undefined, mayWrite: false };
	const error = await failureOf(withinRun(run, () => cdn.download(emojiPicture(emojiId, false))));
	expect(error).toMatchObject({ outcome: "not sent" });
	expect(cdn.requests).toEqual([]);
});

test("an unreachable CDN is a failure without effect", async () => {
	const outcomes: string[] = [];
	const download = createPictureDownload({
		cdn: "http://127.0.0.1:1",
		responses: { add: ([outcome]: readonly [string]) => outcomes.push(outcome) },
	});
	const error = await failureOf(download(emojiPicture(emojiId, false)));
	expect(error).toBeInstanceOf(PlatformFailure);
	expect(error).toMatchObject({ outcome: "read" });
	expect(outcomes).toEqual(["failed", "failed"]);
});
