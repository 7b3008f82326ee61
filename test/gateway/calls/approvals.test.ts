// A tool call that needs an approval: the bot names it, and the gateway waits for the decision, or passes on the question
// that the client asks its user.

import { describe, expect, test } from "bun:test";
import type { Backend } from "../../../src/gateway/backends/backend.ts";
import { afterApproval } from "../../../src/gateway/calls/approvals.ts";
import {
	approvalCapability,
	decodePrincipal,
	principalCapability,
	principalHeader,
} from "../../../src/lib/principal.ts";
import { Overloaded } from "../../../src/lib/semaphore.ts";
import { PlainSignal } from "../../../src/lib/signal.ts";
import { approvalMethod, decidesAtKey, pendingKey, stateKey } from "../../../src/mcp/approval.ts";
import { type RpcAnswer, startTestGateway } from "../../support/gateway.ts";
import { type Behaviour, result, type StubBackend, startStubBackend } from "../../support/stub-backend.ts";
import { until } from "../../support/until.ts";

const experimental = [principalCapability, approvalCapability];
const approvals = { waitMs: 20, pollMs: 1 };

async function start(on: Record<string, Behaviour>, declared = experimental, { timing = approvals, env = {} } = {}) {
	const alpha = startStubBackend({ experimental: declared, on });
	const gateway = await startTestGateway({ alpha }, { options: { approvals: timing }, env });
	return { alpha, ...gateway };
}

const text = (text: string) => [{ type: "text", text }];
const pending: Behaviour = ({ id }) =>
	result(id, JSON.stringify({ content: text("Waits for approval 7."), _meta: { [pendingKey]: "7" } }));
const call = { instance: "alpha" };

/** The principal that the bot received with each request of `name`. */
const principals = (bot: StubBackend, name: string) =>
	bot.received(name).map(({ headers }) => decodePrincipal(headers.get(principalHeader) ?? ""));

describe("a call that waits for an approval", () => {
	test("gets the result once there is a decision", async () => {
		let asked = 0;
		await using world = await start({
			echo: pending,
			[approvalMethod]: ({ id }) => {
				asked += 1;
				return result(
					id,
					JSON.stringify(asked < 3 ? { status: "pending" } : { status: "decided", result: { content: text("done") } }),
				);
			},
		});
		const { result: given } = await world.call("echo", call);
		expect(given).toEqual({ content: text("done") });
		expect(world.recorded.lines.at(-1)).toContain('"outcome":"done"');
		expect(world.alpha.received(approvalMethod).map(({ body }) => JSON.parse(body).params)).toEqual(
			new Array(3).fill({ id: "7" }),
		);
		expect(principals(world.alpha, approvalMethod)[0]?.id).toBe("root");
	});

	test("gets the first result if nobody decides in time", async () => {
		await using world = await start({
			echo: pending,
			[approvalMethod]: ({ id }) => result(id, '{"status":"pending"}'),
		});
		const { result: given } = await world.call("echo", call);
		expect(given?.content).toEqual(text("Waits for approval 7."));
		expect(world.alpha.received(approvalMethod)).toHaveLength(20);
		expect(world.recorded.lines.at(-1)).toContain('"outcome":"waiting"');
	});

	test("gets the first result at once if that says where the person decides", async () => {
		const _meta = { [pendingKey]: "7", [decidesAtKey]: "https://mcp.example/console#approvals" };
		await using world = await start({
			echo: ({ id }) => result(id, JSON.stringify({ content: text("Waits at a link."), _meta })),
		});
		expect((await world.call("echo", call)).result?.content).toEqual(text("Waits at a link."));
		expect(world.alpha.received(approvalMethod)).toEqual([]);
	});

	test.each(["denied", "expired", "withdrawn"])("ends as what it is if the request was %s", async (state) => {
		const final = { isError: true, content: text("no"), _meta: { [stateKey]: state } };
		const decided = JSON.stringify({ status: "decided", result: final });
		await using world = await start({ echo: pending, [approvalMethod]: ({ id }) => result(id, decided) });
		await world.call("echo", call);
		expect(world.recorded.lines.at(-1)).toContain(`"outcome":"${state}"`);
	});

	test("holds no place among the calls in flight", async () => {
		let isDecided = false;
		const decided = { status: "decided", result: { content: text("done") } };
		const on = {
			echo: pending,
			[approvalMethod]: ({ id }: { id: string }) =>
				result(id, JSON.stringify(isDecided ? decided : { status: "pending" })),
		};
		await using world = await start(on, experimental, {
			timing: { waitMs: 90_000, pollMs: 500 },
			env: { MAX_IN_FLIGHT: "4" },
		});
		// Two would be in flight, eight would wait, and the others would be refused.
		const waiting: Promise<RpcAnswer>[] = [];
		for (let count = 1; count <= 12; count += 1) {
			waiting.push(world.call("echo", call));
			await until("the bot has it", () => world.alpha.received("echo").length === count);
		}
		isDecided = true;
		for (const { result: given } of await Promise.all(waiting)) expect(given).toEqual({ content: text("done") });
	});

	test("gets the result although the bot was too busy to be asked", async () => {
		const answers = [
			() => Promise.reject(new Overloaded()),
			async () => ({ status: "decided", result: { content: text("done") } }),
		];
		const backend = { read: async () => ({ message: { result: await answers.shift()?.() } }) } as unknown as Backend;
		const message = { id: 1, result: { _meta: { [pendingKey]: "7" } } };
		const signal = new PlainSignal();
		const final = await afterApproval({ message, text: "" }, backend, undefined, signal, approvals);
		expect(final.message.result).toEqual({ content: text("done") });
	});

	test("gets the first result if the bot does not answer the request for the decision", async () => {
		await using world = await start({ echo: pending, [approvalMethod]: () => new Response("no", { status: 500 }) });
		const { result: given } = await world.call("echo", call);
		expect(given?.content).toEqual(text("Waits for approval 7."));
	});
});

const capabilities = (elicitation?: object) => ({
	"io.modelcontextprotocol/protocolVersion": "2026-07-28",
	"io.modelcontextprotocol/clientCapabilities": { ...(elicitation && { elicitation }) },
});
const modernCall = (params: object) =>
	JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "echo", arguments: call, ...params } });
const modernHeaders = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo" };
const asks = {
	resultType: "input_required",
	inputRequests: { approve: { method: "elicitation/create", params: {} } },
	requestState: "sealed",
};

describe("a call that asks the person who uses the client", () => {
	const on = { echo: ({ id }) => result(id, JSON.stringify(asks)) } satisfies Record<string, Behaviour>;

	test("reaches a client that can ask, unchanged", async () => {
		await using world = await start(on);
		const body = modernCall({ _meta: capabilities({ form: {} }) });
		const answer = await world.post(body, modernHeaders);
		expect(answer.message().result).toEqual(asks as never);
		expect(principals(world.alpha, "echo")).toMatchObject([{ id: "root", access: "all", elicits: true }]);
	});

	test("is repeated with the answer and the state, which the bot receives", async () => {
		await using world = await start(on);
		const inputResponses = { approve: { action: "accept", content: {} } };
		const params = { inputResponses, requestState: "sealed" };
		const _meta = capabilities({});
		await world.post(modernCall({ ...params, _meta }), modernHeaders);
		const [received] = world.alpha.received("echo");
		expect(JSON.parse(received?.body ?? "").params).toMatchObject(params);
	});

	test.each([
		["of the revision with sessions", undefined],
		["that cannot ask", capabilities()],
		["that can only open pages", capabilities({ url: {} })],
	])("is an unknown outcome for a client %s", async (_, _meta) => {
		await using world = await start(on);
		const answer = await world.post(modernCall({ _meta }), _meta ? modernHeaders : {});
		const { result: given } = answer.message();
		expect(given?.content[0]?.text).toStartWith("Gateway error: OutcomeUnknown:");
		expect(principals(world.alpha, "echo")[0]?.elicits).toBeUndefined();
	});
});

test("a bot that enforces no limits receives no principal of the root key", async () => {
	await using world = await start({}, []);
	await world.post(modernCall({ _meta: capabilities({}) }), modernHeaders);
	expect(principals(world.alpha, "echo")).toEqual([undefined]);
});
