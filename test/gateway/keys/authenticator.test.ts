// Who makes a request, by its token, without a database.

import { expect, test } from "bun:test";
import { createAuthenticator, type FindToken, type TokenOwner } from "../../../src/gateway/keys/authenticator.ts";
import { createToken, hashToken } from "../../../src/gateway/keys/token.ts";
import { StoreUnavailable } from "../../../src/gateway/store/unavailable.ts";
import { recordLog } from "../../support/log.ts";

const owner: TokenOwner = { principal: { id: "key:mods", name: "mods", access: "read" } };

function requestWith(token: string | undefined): Request {
	const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
	return new Request("http://gateway/mcp", { headers });
}

/** An authenticator whose owners are in a map by token, and whose clocks stand still. */
function createWorld({ findTimeoutMs = 30_000 } = {}) {
	const owners = new Map<string, TokenOwner>();
	const asked: string[] = [];
	const { log, lines } = recordLog();
	const clock = { now: Date.UTC(2030, 0, 1), monotonicNow: 0 };
	const world = {
		owners,
		asked,
		lines,
		clock,
		find: (async (hash) => {
			asked.push(hash);
			return owners.get(hash);
		}) as FindToken,
	};
	const authenticate = createAuthenticator({
		find: { key: (hash) => world.find(hash) },
		log,
		findTimeoutMs,
		now: () => clock.now,
		monotonicNow: () => clock.monotonicNow,
	});
	/** The status of a refusal, or the caller. */
	const ask = async (token: string | undefined) => {
		const result = await authenticate(requestWith(token), token);
		return result instanceof Response ? result.status : result;
	};
	return Object.assign(world, { authenticate, ask });
}

/** What a client sees of a refusal. */
async function seen(response: unknown) {
	if (!(response instanceof Response)) throw new Error("it was let in");
	const { status, headers } = response;
	return { status, headers: [...headers], body: await response.text() };
}

test("a key is its owner's", async () => {
	const { ask, owners } = createWorld();
	const token = createToken("key");
	owners.set(hashToken(token), owner);
	expect(await ask(token)).toBe(owner.principal);
});

test("guesses with a wrong checksum are refused at once, and ask nobody", () => {
	const { authenticate, asked } = createWorld();
	const token = createToken("key");
	for (const guess of [
		`${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`,
		token.replace("guildhall_", "guildhall_at_"),
		"guildhall_",
		`guildhall_${"a".repeat(10_000)}`,
	]) {
		const result = authenticate(requestWith(guess), guess);
		expect(result instanceof Response && result.status).toBe(401);
	}
	expect(asked).toEqual([]);
});

test("kinds of tokens without a look-up are refused at once", () => {
	const { authenticate, asked } = createWorld();
	for (const kind of ["access", "refresh"] as const) {
		const result = authenticate(requestWith(createToken(kind)), createToken(kind));
		expect(result instanceof Response && result.status).toBe(401);
	}
	expect(asked).toEqual([]);
});

test("an unknown, an expired, a revoked and a malformed token get the same response", async () => {
	const { authenticate, owners, clock } = createWorld();
	const expired = createToken("key");
	owners.set(hashToken(expired), { ...owner, expiresAt: clock.now });
	const revoked = createToken("key");
	owners.set(hashToken(revoked), owner);
	await authenticate(requestWith(revoked), revoked);
	owners.delete(hashToken(revoked));
	clock.monotonicNow += 500;
	const responses = await Promise.all(
		[createToken("key"), expired, revoked, "guess"].map(async (token) =>
			seen(await authenticate(requestWith(token), token)),
		),
	);
	const [first, ...others] = responses;
	expect(first).toEqual({
		status: 401,
		headers: [["www-authenticate", 'Bearer error="invalid_token"']],
		body: "Unauthorized\n",
	});
	expect(others).toEqual(Array(3).fill(first));
});

test("an owner is remembered for less than 500 ms", async () => {
	const { ask, owners, asked, clock } = createWorld();
	const token = createToken("key");
	owners.set(hashToken(token), owner);
	expect(await ask(token)).toBe(owner.principal);
	owners.clear();
	clock.monotonicNow = 499;
	expect(await ask(token)).toBe(owner.principal);
	expect(asked).toHaveLength(1);
	clock.monotonicNow = 500;
	expect(await ask(token)).toBe(401);
	expect(asked).toHaveLength(2);
});

test("a slow look-up counts from its beginning", async () => {
	const world = createWorld();
	const { ask, asked, clock } = world;
	const token = createToken("key");
	const answers: PromiseWithResolvers<TokenOwner | undefined>[] = [];
	world.find = (hash) => {
		asked.push(hash);
		const answer = Promise.withResolvers<TokenOwner | undefined>();
		answers.push(answer);
		return answer.promise;
	};
	const early = ask(token);
	const joining = ask(token);
	expect(asked).toHaveLength(1);
	clock.monotonicNow = 500;
	// The first look-up may have read what has been revoked since.
	const later = ask(token);
	expect(asked).toHaveLength(2);
	answers[0]?.resolve(owner);
	answers[1]?.resolve(undefined);
	expect(await early).toBe(owner.principal);
	expect(await joining).toBe(owner.principal);
	expect(await later).toBe(401);
});

test("a remembered token expires on time", async () => {
	const { ask, owners, clock } = createWorld();
	const token = createToken("key");
	owners.set(hashToken(token), { ...owner, expiresAt: clock.now + 1 });
	expect(await ask(token)).toBe(owner.principal);
	clock.now += 1;
	expect(await ask(token)).toBe(401);
});

test("when the database cannot be asked, nobody gets in, and clients may try again", async () => {
	const world = createWorld();
	const token = createToken("key");
	for (const error of [new StoreUnavailable("the disk is full"), new Error("no such table")]) {
		world.find = () => Promise.reject(error);
		const response = await seen(await world.authenticate(requestWith(token), token));
		expect(response.status).toBe(503);
		expect(response.headers).toContainEqual(["retry-after", "5"]);
		expect(response.body).not.toContain("disk");
	}
	world.find = async () => owner;
	expect(await world.ask(token)).toBe(owner.principal);
	expect(world.lines.join()).toContain("could not check a token");
	expect(world.lines.join()).not.toContain(token);
});

test("a database that does not answer in time lets nobody in", async () => {
	const world = createWorld({ findTimeoutMs: 10 });
	world.find = () => new Promise(() => {});
	expect(await world.ask(createToken("key"))).toBe(503);
});

test("at most 10,000 tokens are remembered, and unknown ones are not", async () => {
	const { ask, owners, asked } = createWorld();
	const tokens = Array.from({ length: 10_000 }, () => createToken("key"));
	for (const token of tokens) owners.set(hashToken(token), owner);
	for (const token of tokens) await ask(token);
	const [oldest = ""] = tokens;
	expect(await ask(oldest)).toBe(owner.principal);
	expect(asked).toHaveLength(10_000);
	for (let count = 0; count < 10; count++) await ask(createToken("key"));
	expect(await ask(oldest)).toBe(owner.principal);
	expect(asked).toHaveLength(10_010);
	const another = createToken("key");
	owners.set(hashToken(another), owner);
	await ask(another);
	expect(await ask(oldest)).toBe(owner.principal);
	expect(asked).toHaveLength(10_012);
});

test("guesses with a right checksum do not keep valid tokens from the database", async () => {
	const world = createWorld();
	const { ask, owners, clock } = world;
	const token = createToken("key");
	owners.set(hashToken(token), owner);
	await ask(token);
	clock.monotonicNow += 500;
	const release = Promise.withResolvers<void>();
	const { find } = world;
	world.find = async (hash) => {
		if (hash !== hashToken(token)) await release.promise;
		return find(hash);
	};
	const guesses = Array.from({ length: 200 }, () => ask(createToken("key")));
	expect(await ask(createToken("key"))).toBe(503);
	expect(await ask(token)).toBe(owner.principal);
	release.resolve();
	expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]));
	expect(await ask(createToken("key"))).toBe(401);
});

test("a request without a token is asked for one", async () => {
	const { authenticate } = createWorld();
	expect(await seen(await authenticate(requestWith(undefined), undefined))).toMatchObject({
		status: 401,
		headers: expect.arrayContaining([["www-authenticate", "Bearer"]]),
	});
});
