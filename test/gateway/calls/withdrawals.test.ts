// Calls that wait for approval are withdrawn when the key or connection that made them ends, however it ends.

import { expect, test } from "bun:test";
import { createWithdrawals } from "../../../src/gateway/calls/withdrawals.ts";
import { createFindKey, createKey, revokeKey } from "../../../src/gateway/keys/keys.ts";
import { hashToken } from "../../../src/gateway/keys/token.ts";
import { Grants, refreshLifetimeMs, type Tokens } from "../../../src/gateway/oauth/grants/grants.ts";

import { StoreUnavailable } from "../../../src/gateway/store/unavailable.ts";
import { approvalCapability, principalCapability } from "../../../src/lib/principal.ts";
import type { Sql } from "../../../src/lib/store/statement.ts";
import type { Statements } from "../../../src/lib/store/store.ts";
import { waitingMethod } from "../../../src/mcp/approval.ts";
import { startTestGateway } from "../../support/gateway.ts";
import { openGatewayStore } from "../../support/gateway-store.ts";
import { recordLog } from "../../support/log.ts";
import { onBoth } from "../../support/stores.ts";
import { result, startStubBackend } from "../../support/stub-backend.ts";
import { present, until } from "../../support/until.ts";

const begin = 1_000_000_000_000;
const dayMs = 86_400_000;
const codeVerifier = "v".repeat(43);

/** A key or connection, and how it ends. */
interface Caller {
	id: string;
	end(): Promise<unknown>;
}

interface Place {
	store: Statements;
	grants: Grants;
	clock: { now: number };
}

async function key({ store, clock }: Place): Promise<string> {
	const secret = await createKey(store, "ci", { access: "all", expiresAt: begin + dayMs });
	const owner = await createFindKey(store, () => clock.now)(hashToken(secret ?? ""));
	return owner?.principal.id ?? "";
}

const redemption = { clientId: "client", redirectUri: undefined, resource: undefined, codeVerifier };

async function connect({ grants }: Place) {
	const code = await grants.issueCode({
		request: {
			client: { id: "client", name: "Client" },
			redirectUri: "https://client.example/callback",
			state: undefined,
			codeChallenge: Bun.SHA256.hash(codeVerifier, "base64url"),
			resource: "/mcp",
			access: "all",
		},
		person: { id: "300000000000000003", name: "Hanna" },
		access: "all",
	});
	const tokens = (await grants.redeem(code, redemption)) as Tokens;
	return { code, tokens, id: `grant:${tokens.grant.id}` };
}

const ways: Record<string, (place: Place) => Promise<Caller>> = {
	"a key is revoked": async (place) => ({ id: await key(place), end: () => revokeKey(place.store, "ci") }),
	"a key is revoked, and made again under its name": async (place) => ({
		id: await key(place),
		async end() {
			await revokeKey(place.store, "ci");
			await key(place);
		},
	}),
	"a key expires": async (place) => ({
		id: await key(place),
		end: async () => {
			place.clock.now += dayMs;
		},
	}),
	"a connection is ended": async (place) => {
		const { id, tokens } = await connect(place);
		return { id, end: () => place.grants.end(tokens.grant.id) };
	},
	"a connection's code is used twice": async (place) => {
		const { id, code } = await connect(place);
		return { id, end: () => place.grants.redeem(code, redemption) };
	},
	"a connection's refresh token is used again": async (place) => {
		const { id, tokens } = await connect(place);
		const { refreshToken } = tokens;
		const stored = present(await place.grants.findToken(hashToken(refreshToken)));
		await place.grants.rotate(stored, "all");
		return {
			id,
			async end() {
				place.clock.now += 60_000;
				expect(await place.grants.rotate(stored, "all")).toBe("reused");
			},
		};
	},
	"a connection expires": async (place) => {
		const { id } = await connect(place);
		return {
			id,
			end: async () => {
				place.clock.now += refreshLifetimeMs;
			},
		};
	},
};

/** A bot with these waiting calls, which it withdraws as it is told. */
function bot(...ids: string[]) {
	const gone: string[] = [];
	const waiting = new Set(ids);
	return {
		name: "alpha",
		waiting,
		gone,
		state: { online: true },
		reasonOf: String,
		async withdraw(ended: readonly string[]) {
			gone.push(...ended);
			for (const id of ended) waiting.delete(id);
		},
	};
}

onBoth((databases) => {
	async function start(way: string) {
		const opened = openGatewayStore(await databases.place());
		const clock = { now: begin };
		const now = () => clock.now;
		let looks = 0;
		let fails = false;
		const store: Statements = {
			transaction: opened.store.transaction,
			sql: ((...statement) => {
				looks++;
				if (fails) return Promise.reject(new StoreUnavailable("down"));
				return opened.store.sql(...statement);
			}) as Sql,
		};
		await opened.store.ready();
		const grants = new Grants(opened.store, now);
		const caller = await ways[way]?.({ store: opened.store, grants, clock });
		const { id = "", end = async () => {} } = caller ?? {};
		const { log } = recordLog();
		const alpha = bot(id, "root");
		const recent = { approvalChanges: 0 };
		const withdrawals = createWithdrawals({ backends: [alpha], store, recent, log, now, intervalMs: 1 });
		return {
			id,
			end,
			alpha,
			recent,
			withdrawals,
			fail: (value: boolean) => {
				fails = value;
			},
			/** Resolves when the database was looked at as often again. */
			async looked(times: number) {
				const before = looks;
				await until("it has looked", () => looks >= before + times);
			},
			async [Symbol.asyncDispose]() {
				withdrawals.close();
				await opened[Symbol.asyncDispose]();
			},
		};
	}

	test.each(Object.keys(ways))("if %s, its waiting calls are withdrawn, and not before", async (way) => {
		await using world = await start(way);
		const { alpha, recent, id } = world;
		world.withdrawals.noteChange();
		await world.looked(3);
		expect(alpha.gone).toEqual([]);
		await world.end();
		await until("they are withdrawn", () => alpha.gone.length > 0);
		expect(new Set(alpha.gone)).toEqual(new Set([id]));
		await until("the console is told", () => recent.approvalChanges > 0);
	});

	test("a bot that is offline withdraws them when it is back", async () => {
		await using world = await start("a key is revoked");
		const { alpha, id } = world;
		alpha.state.online = false;
		await world.end();
		world.withdrawals.noteChange();
		expect(alpha.gone).toEqual([]);
		alpha.state.online = true;
		world.withdrawals.noteChange();
		await until("they are withdrawn", () => alpha.gone.includes(id));
	});

	test("a gateway that has just started, or reaches a bot again, learns from the bot who waits", async () => {
		await using opened = openGatewayStore(await databases.place());
		let waiting = ["root", "key:gone:1"];
		await using alpha = startStubBackend({
			experimental: [principalCapability, approvalCapability],
			on: {
				[waitingMethod]({ id, body }) {
					const { gone } = JSON.parse(body).params;
					waiting = waiting.filter((one) => !gone.includes(one));
					return result(id, JSON.stringify({ waiting }));
				},
			},
		});
		const { store } = opened;
		await using gateway = await startTestGateway({ alpha }, { options: { store } });
		const gone = () => alpha.received(waitingMethod).flatMap(({ body }) => JSON.parse(body).params.gone);
		await until("it is withdrawn", () => gone().length > 0);
		expect(gone()).toEqual(["key:gone:1"]);
		expect(waiting).toEqual(["root"]);
		waiting.push("grant:gone");
		await gateway.refresh();
		await until("it is withdrawn", () => gone().includes("grant:gone"));
	});

	test("nothing is withdrawn while the database does not say who has ended", async () => {
		await using world = await start("a key is revoked");
		const { alpha, id } = world;
		world.fail(true);
		await world.end();
		world.withdrawals.noteChange();
		await world.looked(3);
		expect(alpha.gone).toEqual([]);
		world.fail(false);
		await until("they are withdrawn", () => alpha.gone.includes(id));
	});
});
