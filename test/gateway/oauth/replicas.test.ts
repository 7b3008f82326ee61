// Two gateways that share a database: what may happen once happens once.

import { expect, test } from "bun:test";
import { hashToken } from "../../../src/gateway/keys/token.ts";
import { Attempts } from "../../../src/gateway/oauth/grants/attempts.ts";
import { Grants, type Tokens } from "../../../src/gateway/oauth/grants/grants.ts";
import { openGatewayStore } from "../../support/gateway-store.ts";
import { onBoth } from "../../support/stores.ts";
import { present } from "../../support/until.ts";
import { assistant, challenge, hanna, verifier } from "./sign-in-world.ts";

const request = {
	client: { id: assistant.id, name: assistant.name },
	redirectUri: "https://assistant.example/callback",
	state: undefined,
	codeChallenge: challenge,
	resource: "/mcp" as const,
	access: "all" as const,
};
const redemption = { clientId: assistant.id, redirectUri: undefined, codeVerifier: verifier, resource: undefined };
const rounds = 10;

/** Does something `count` times at once, in turn at each of two gateways. */
const manyTimes = <T, G>(gateways: G[], work: (gateway: G) => Promise<T>) =>
	Promise.all(Array.from({ length: rounds }, (_, index) => work(gateways[index % gateways.length] as G)));

onBoth((databases) => {
	async function open() {
		const place = await databases.place();
		const first = openGatewayStore(place);
		const second = openGatewayStore(place);
		const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
		const now = () => clock.now;
		return {
			clock,
			attempts: [first, second].map(({ store }) => new Attempts(store, now)),
			grants: [first, second].map(({ store }) => new Grants(store, now)),
			async [Symbol.asyncDispose]() {
				await first[Symbol.asyncDispose]();
				await second[Symbol.asyncDispose]();
			},
		};
	}

	test("a person comes back from Discord once, and consents once", async () => {
		await using world = await open();
		const browser = "the-browser";
		const state = await world.attempts[0]?.start(browser, request);
		const key = { browser, state: state ?? "" };
		const back = await manyTimes(world.attempts, (one) => one.comeBack(key));
		expect(back.filter((attempt) => attempt)).toHaveLength(1);
		await world.attempts[1]?.setPerson(key, hanna, []);
		const ends = await manyTimes(world.attempts, (one) => one.finish(key));
		expect(ends.filter((attempt) => attempt)).toHaveLength(1);
	});

	test("a code is redeemed once, and its other uses end what it gave", async () => {
		await using world = await open();
		const grants = present(world.grants[0]);
		const consent = { request, person: hanna, access: "all" as const };
		const code = await grants.issueCode(consent);
		const outcomes = await manyTimes(world.grants, (one) => one.redeem(code, redemption));
		expect(outcomes.filter((one) => one === "replayed")).toHaveLength(rounds - 1);
		expect(await grants.list()).toEqual([]);
	});

	test("a refresh token is rotated once; requests at the same time share its successor's place", async () => {
		await using world = await open();
		const grants = present(world.grants[0]);
		const consent = { request, person: hanna, access: "all" as const };
		const code = await grants.issueCode(consent);
		const first = (await grants.redeem(code, redemption)) as Tokens;
		const refresh = async (token: string, one = grants) => {
			const found = await one.findToken(hashToken(token));
			return found ? one.rotate(found, "all") : "unknown";
		};
		const outcomes = await manyTimes(world.grants, (one) => refresh(first.refreshToken, one));
		const tokens = outcomes.filter((one) => typeof one === "object");
		expect(tokens).toHaveLength(rounds);
		const found = await Promise.all(tokens.map(({ refreshToken }) => grants.findToken(hashToken(refreshToken))));
		expect(found.map((one) => one?.generation)).toEqual(Array(rounds).fill(1));
		world.clock.now += 10_000;
		expect(await refresh(first.refreshToken)).toBe("reused");
		expect(await grants.list()).toEqual([]);
	});

	test("grants are listed by person, newest first, and ended by their person only", async () => {
		await using world = await open();
		const grants = present(world.grants[0]);
		const other = { id: "100000000000000002", name: "Otto" };
		for (const person of [hanna, other, hanna]) {
			world.clock.now += 1;
			const consent = { request, person, access: "all" as const };
			await grants.redeem(await grants.issueCode(consent), redemption);
		}
		const listed = await grants.list(hanna.id);
		expect(listed.map(({ createdAt }) => createdAt)).toEqual([world.clock.now, world.clock.now - 2]);
		const own = present(listed[0]);
		expect(await grants.end(own.id, other.id)).toBe(false);
		expect(await grants.end(own.id, hanna.id)).toBe(true);
		expect(await grants.end(own.id)).toBe(false);
		expect(await grants.list()).toHaveLength(2);
	});
});
