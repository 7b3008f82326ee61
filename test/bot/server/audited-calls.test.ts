// The bot's audit log for the gateway's console, with a real bot.

import { expect, test } from "bun:test";
import { isObject } from "../../../src/lib/json.ts";
import type { Principal } from "../../../src/lib/principal.ts";
import { until } from "../../support/until.ts";
import { startApprovalWorld } from "../approval/approval-world.ts";

/** A response, or the error of one. */
interface Asked {
	calls?: Record<string, unknown>[];
	hours?: { hour: number; calls: number; refused: number; failed: number }[];
	code?: number;
}

const method = "guildhall/audited-calls";

test("the operator sees any call, redacted; a person only their own; nobody else any", async () => {
	await using world = await startApprovalWorld({ mcp: () => ({ approval: "off" }) });
	const mona = { ...world.person("mona_lisa"), signedIn: true };
	const ada = { ...world.person("ada"), signedIn: true };
	const named = (person: typeof mona): Principal => ({
		id: `grant:${person.id}`,
		name: "Claude",
		access: "all",
		person,
	});
	const secret = "what-ada-wrote-in-confidence";
	const channel_id = world.simulator.channel("The Cooks/staff").id;
	await world.call(named(ada), "send_message", { channel_id, content: secret }, "request-1");
	const at = Date.parse(world.posts().at(-1)?.timestamp ?? "");
	const minute = 60_000;
	const ask = async (principal: Principal | undefined, params: object): Promise<Asked> => {
		const window = { from: at - minute, before: at + minute, limit: 10, ...params };
		const { result, error } = await world.ask(principal, method, window);
		return (isObject(result) ? result : error) as Asked;
	};
	const find = async (principal: Principal | undefined, request = "request-1", params = {}) => {
		const asked = await ask(principal, { request, ...params });
		return asked.calls ? (asked.calls[0] ?? null) : asked;
	};
	const shown = {
		id: expect.any(String),
		request: "request-1",
		at: expect.any(Number),
		tool: "send_message",
		guild: world.guild.id,
		outcome: "done",
		effect: "write",
		ms: expect.any(Number),
		client: expect.any(String),
		key: `grant:${ada.id}`,
		person: ada.id,
		message: expect.any(String),
		arguments: expect.stringContaining(channel_id),
		answer: null,
		discord: expect.stringContaining(`"path":"/channels/${channel_id}/messages"`),
		approval: null,
		changes: [],
		names: { [channel_id]: "#staff", [ada.id]: "@ada", [world.guild.id]: "The Cooks" },
	};
	expect(await find(undefined)).toEqual(shown);
	expect(JSON.stringify(await find(undefined))).not.toContain(secret);
	expect(await find(named(ada))).toEqual(shown);
	expect(await find(named(mona))).toBeNull();
	expect(await find(undefined, "request-2")).toBeNull();
	expect(await find(undefined, "request-1", { before: at - 10 * minute, from: 0 })).toBeNull();
	const bare = { id: "key:k", name: "k", access: "all" as const };
	expect(await find(bare)).toMatchObject({ code: -32601 });
	const key = { ...bare, person: { ...ada, signedIn: false } };
	expect(await find(key)).toMatchObject({ code: -32601 });
	for (const params of [{ request: 1 }, { from: "now" }, { limit: 1_000 }, { kind: "none" }])
		expect(await ask(undefined, params)).toMatchObject({ code: -32602 });

	// A person does not learn the name of a channel that they do not see.
	await world.call(named(mona), "send_message", { channel_id, content: "hello" }, "request-3");
	const refused = await find(named(mona), "request-3");
	expect(refused).toMatchObject({ outcome: "refused", answer: expect.any(String), names: { [mona.id]: "@mona_lisa" } });
	expect(JSON.stringify(refused)).not.toContain("#staff");
	expect(await find(undefined, "request-3")).toMatchObject({ names: { [channel_id]: "#staff" } });

	const tools = async (params: object) => {
		const { calls = [], hours = [] } = await ask(undefined, { hours: true, ...params });
		return [calls.map(({ request }) => request), hours] as const;
	};
	const hour = Math.floor(at / 3_600_000);
	const [all, hours] = await tools({});
	expect(all).toEqual(["request-3", "request-1"]);
	// The test may run at the turn of an hour.
	const counted = { calls: 0, refused: 0, failed: 0 };
	for (const one of hours) {
		expect(one.hour).toBeWithin(hour - 1, hour + 2);
		for (const name of ["calls", "refused", "failed"] as const) counted[name] += one[name];
	}
	expect(counted).toEqual({ calls: 2, refused: 1, failed: 0 });
	expect((await tools({ kind: "changed" }))[0]).toEqual(["request-3", "request-1"]);
	expect((await tools({ kind: "refused" }))[0]).toEqual(["request-3"]);
	expect((await tools({ kind: "failed" }))[0]).toEqual([]);
	expect((await tools({ search: "SEND_mess" }))[0]).toEqual(["request-3", "request-1"]);
	expect((await tools({ search: `${ada.id}` }))[0]).toEqual(["request-1"]);
	expect((await tools({ search: "send%message" }))[0]).toEqual([]);
	// By names that only the guild knows, and that the person may know.
	expect((await tools({ search: "#STAFF" }))[0]).toEqual(["request-3", "request-1"]);
	expect((await tools({ search: "@ada" }))[0]).toEqual(["request-1"]);
	expect(await ask(named(ada), { search: "#staff" })).toMatchObject({ calls: [{ request: "request-1" }] });
	expect(await ask(named(mona), { search: "#staff" })).toMatchObject({ calls: [] });
});

test("a call that waited for an approval names who decided", async () => {
	await using world = await startApprovalWorld();
	const user_ids = [world.simulator.user("liwei").id];
	const key: Principal = { id: "key:k", name: "k", access: "all" };
	await world.call(key, "ban", { user_ids, reason: "spam" }, "request-1.2");
	const now = Date.parse(world.posts().at(-1)?.timestamp ?? "");
	const window = { from: now - 3_600_000, before: now + 3_600_000, limit: 10, request: "request-1", hours: true };
	const waiting = (await world.ask(undefined, method, window)).result;
	expect(waiting).toMatchObject({ calls: [{ tool: "approval", outcome: "waiting" }], hours: [] });
	expect((await world.ask(undefined, method, { ...window, request: "request" })).result).toMatchObject({ calls: [] });
	await world.press("ada", "Approve");
	const ada = world.simulator.user("ada").id;
	const { calls, hours } = await until("the call has run", async () => {
		const { result } = await world.ask(undefined, method, window);
		const answer = result as { calls: Record<string, unknown>[]; hours: unknown[] };
		return answer.calls.some(({ tool }) => tool === "ban") && answer;
	});
	expect(hours).toEqual([expect.objectContaining({ calls: 1 })]);
	const about = calls.filter(({ tool }) => tool === "approval");
	for (const one of about)
		expect(JSON.parse(String(one.arguments))).toMatchObject({ of: { user_ids, reason: "spam" } });
	expect(new Set(about.map(({ outcome }) => outcome))).toEqual(new Set(["approved"]));
	expect(calls.find(({ tool }) => tool === "ban")).toMatchObject({
		outcome: "done",
		effect: "destructive",
		key: "key:k",
		approval: { state: "done", by: ada, waited: expect.any(Number) },
		arguments: expect.stringContaining('"reason":"spam"'),
		changes: [{ user_ids: [expect.any(String)], target_ids: user_ids }],
		names: { [ada]: "@ada", [String(user_ids[0])]: "@liwei" },
	});
});
