// The resources of several bots behind one gateway.

import { expect } from "bun:test";
import { startTestGateway } from "../../support/gateway.ts";
import { echoTool, result, rpcError, startStubBackend } from "../../support/stub-backend.ts";
import { testWith } from "../../support/test-with.ts";

const worldTest = testWith(() => start());

const cooks = "123456789012345678";
const bakers = "223456789012345678";
const page = "ui://page";
const pageTool = JSON.stringify({ ...JSON.parse(echoTool), name: "show", _meta: { ui: { resourceUri: page } } });
const documentIn = (guild: string) => ({ uri: `guildhall:/guilds/${guild}/document`, name: "document", size: 2 });

/** Two bots with resources and one without. The guild of the bakers is pinned to beta. */
async function start() {
	await using stack = new AsyncDisposableStack();
	const bot = (name: string, resources: unknown[], tools: string[]) =>
		startStubBackend({
			resources: true,
			guilds: { [name === "alpha" ? cooks : bakers]: "A guild" },
			tools,
			on: {
				"resources/list": ({ id }) => result(id, JSON.stringify({ resources })),
				"resources/templates/list": ({ id }) =>
					result(
						id,
						JSON.stringify({
							resourceTemplates: [{ uriTemplate: "guildhall:/guilds/{guild_id}/document", name: "d" }],
						}),
					),
				"resources/read": ({ id, body }) =>
					result(id, JSON.stringify({ contents: [{ uri: JSON.parse(body).params.uri, text: name }] })),
			},
		});
	const odd = [{ uri: "file:///etc/passwd", name: "x" }, { uri: "guildhall:/a%2f", name: "x" }, { name: "x" }, null];
	const alpha = stack.use(bot("alpha", [documentIn(cooks), documentIn(bakers), ...odd], [echoTool]));
	const beta = stack.use(bot("beta", [documentIn(bakers)], [echoTool, pageTool]));
	const plain = stack.use(startStubBackend());
	const gateway = stack.use(await startTestGateway({ plain, alpha, beta }, { env: { GUILDS_BETA: bakers } }));
	const ask = async (method: string, params: object) =>
		(await gateway.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))).message();
	const running = stack.move();
	return { alpha, beta, plain, ask, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

const inAlpha = `guildhall://alpha/guilds/${cooks}/document`;

worldTest("the lists name the bot in each URI, and leave out what no bot may have", async ({ ask, plain }) => {
	const { result } = await ask("resources/list", {});
	const inBeta = `guildhall://beta/guilds/${bakers}/document`;
	expect(result).toEqual({ resources: [inAlpha, inBeta].map((uri) => ({ uri, name: "document", size: 2 })) } as never);
	const { result: templates } = await ask("resources/templates/list", {});
	expect(templates).toEqual({
		resourceTemplates: [{ uriTemplate: "guildhall://{instance}/guilds/{guild_id}/document", name: "d" }],
	} as never);
	expect(plain.received("resources/list")).toEqual([]);
});

worldTest("a resource is read at the bot that its URI names", async ({ ask, alpha, beta }) => {
	expect((await ask("resources/read", { uri: inAlpha })).result).toEqual({
		contents: [{ uri: inAlpha, text: "alpha" }],
	} as never);
	const [request] = alpha.received("resources/read");
	expect(JSON.parse(request?.body ?? "").params).toEqual({ uri: documentIn(cooks).uri });
	expect(beta.received("resources/read")).toEqual([]);
});

worldTest("the page of an App is read at a bot whose tool names it, under its own URI", async ({ ask, alpha }) => {
	expect((await ask("resources/read", { uri: page })).result).toEqual({
		contents: [{ uri: page, text: "beta" }],
	} as never);
	expect(alpha.received("resources/read")).toEqual([]);
});

worldTest("what is not there is refused, and no bot is asked", async ({ ask, alpha, beta }) => {
	const refused = [
		[`guildhall://alpha/guilds/${bakers}/document`, /^Gateway error: GuildPinned: /],
		[`guildhall://gamma/guilds/${cooks}/document`, /^Gateway error: InstanceNotFound: /],
		["guildhall://plain/x", /^Resource not found$/],
		[`guildhall://alpha/guilds/%3${bakers}/document`, /^Resource not found$/],
		[documentIn(cooks).uri, /^Resource not found$/],
		["ui://test/other", /^Resource not found$/],
		[7, /^Resource not found$/],
	] as const;
	for (const [uri, message] of refused) {
		const { error } = await ask("resources/read", { uri });
		expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
	}
	expect([...alpha.received("resources/read"), ...beta.received("resources/read")]).toEqual([]);
});

worldTest("a bot's refusal is passed on with the URI, and a bot that fails hides no others", async ({ ask, alpha }) => {
	alpha.on["resources/read"] = ({ id }) => rpcError(id, -32602, "You lack ADMINISTRATOR.");
	const error = { code: -32602, message: "You lack ADMINISTRATOR.", data: { uri: inAlpha } };
	expect((await ask("resources/read", { uri: inAlpha })).error).toEqual(error);
	alpha.on["resources/list"] = ({ id }) => rpcError(id, -32603, "broken");
	expect((await ask("resources/list", {})).result?.resources).toHaveLength(1);
});
