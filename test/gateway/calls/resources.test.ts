// The resources of several bots behind one gateway.

import { expect } from "bun:test";
import { startTestGateway } from "../../support/gateway.ts";
import { echoTool, type RecordedRequest, result, rpcError, startStubBackend } from "../../support/stub-backend.ts";
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
	const bot = (name: string, guild: string, resources: unknown[], tools: string[]) => {
		const answer =
			(value: object) =>
			({ id }: { id: string }) =>
				result(id, JSON.stringify(value));
		const resourceTemplates = [{ uriTemplate: documentIn("{guild_id}").uri, name: "d" }];
		const on = {
			"resources/list": answer({ resources }),
			"resources/templates/list": answer({ resourceTemplates }),
			"resources/read": ({ id, body }: RecordedRequest) =>
				answer({ contents: [{ uri: JSON.parse(body).params.uri, text: name }] })({ id }),
		};
		return stack.use(startStubBackend({ resources: true, guilds: { [guild]: "A guild" }, tools, on }));
	};
	const odd = [{ uri: "file:///etc/passwd", name: "x" }, { uri: "guildhall:/a%2f", name: "x" }, { name: "x" }, null];
	const alpha = bot("alpha", cooks, [documentIn(cooks), documentIn(bakers), ...odd], [echoTool]);
	const beta = bot("beta", bakers, [documentIn(bakers)], [echoTool, pageTool]);
	const plain = stack.use(startStubBackend());
	const gateway = stack.use(await startTestGateway({ plain, alpha, beta }, { env: { GUILDS_BETA: bakers } }));
	const ask = async (method: string, params: object) =>
		(await gateway.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))).message();
	const read = (uri: unknown) => ask("resources/read", { uri });
	const asked = () =>
		[alpha, beta, plain].map((one) => one.received("resources/read").map(({ body }) => JSON.parse(body).params));
	const running = stack.move();
	return { alpha, plain, ask, read, asked, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

const inAlpha = `guildhall://alpha/guilds/${cooks}/document`;

worldTest("the lists name the bot in each URI, and leave out what no bot may have", async ({ ask, plain }) => {
	const inBeta = `guildhall://beta/guilds/${bakers}/document`;
	const resources = [inAlpha, inBeta].map((uri) => ({ uri, name: "document", size: 2 }));
	expect((await ask("resources/list", {})).result).toEqual({ resources } as never);
	const resourceTemplates = [{ uriTemplate: "guildhall://{instance}/guilds/{guild_id}/document", name: "d" }];
	expect((await ask("resources/templates/list", {})).result).toEqual({ resourceTemplates } as never);
	expect(plain.received("resources/list")).toEqual([]);
});

worldTest.each([
	["a resource", "the bot that its URI names", inAlpha, "alpha", [[{ uri: documentIn(cooks).uri }], [], []]],
	["the page of an App", "a bot whose tool names it", page, "beta", [[], [{ uri: page }], []]],
] as const)("%s is read at %s, and has its own URI", async ({ read, asked }, _, __, uri, text, requests) => {
	expect((await read(uri)).result).toEqual({ contents: [{ uri, text }] } as never);
	expect(asked()).toEqual(requests as never);
});

worldTest("what is not there is refused, and no bot is asked", async ({ read, asked }) => {
	const refused = [
		[`guildhall://alpha/guilds/${bakers}/document`, /^Gateway error: GuildPinned: /],
		[`guildhall://gamma/guilds/${cooks}/document`, /^Gateway error: InstanceNotFound: /],
		["guildhall://plain/x", /^Resource not found$/],
		[`guildhall://alpha/guilds/%3${bakers}/document`, /^Resource not found$/],
		[documentIn(cooks).uri, /^Resource not found$/],
		["ui://test/other", /^Resource not found$/],
		[`file://gamma/guilds/${cooks}`, /^Resource not found$/],
		[7, /^Resource not found$/],
	] as const;
	for (const [uri, message] of refused)
		expect((await read(uri)).error).toMatchObject({
			code: -32602,
			message: expect.stringMatching(message),
			data: { uri },
		});
	expect(asked()).toEqual([[], [], []]);
});

worldTest(
	"a bot's refusal is passed on with the URI, and a bot that fails hides no others",
	async ({ ask, read, alpha }) => {
		alpha.on["resources/read"] = ({ id }) => rpcError(id, -32602, "You lack ADMINISTRATOR.");
		const error = { code: -32602, message: "You lack ADMINISTRATOR.", data: { uri: inAlpha } };
		expect((await read(inAlpha)).error).toEqual(error);
		alpha.on["resources/list"] = ({ id }) => rpcError(id, -32603, "broken");
		const listed = { resources: [{ name: "document" }], _meta: { "guildhall/missing": ["alpha"] } };
		expect((await ask("resources/list", {})).result).toMatchObject(listed);
	},
);
