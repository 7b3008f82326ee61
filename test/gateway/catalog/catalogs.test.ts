import { expect, test } from "bun:test";
import type { BackendState } from "../../../src/gateway/backends/backend-health.ts";
import type { ListedTool } from "../../../src/gateway/backends/listed-tools.ts";
import { Catalogs } from "../../../src/gateway/catalog/catalogs.ts";
import { Rights } from "../../../src/gateway/principals/rights.ts";
import { Views } from "../../../src/gateway/principals/views.ts";

const online: BackendState = { online: true, since: 0 };
const offline: BackendState = { online: false, since: 0, reason: "down" };

const tool = (name: string, title: string): ListedTool => ({
	name,
	text: JSON.stringify({ name, title }),
	readOnly: false,
});
const bot = (name: string, state: BackendState, tools?: readonly ListedTool[]) => ({ name, state, tools });

const catalogsOf = (backends: ReturnType<typeof bot>[]) =>
	new Catalogs({ backends, views: new Views([], new Rights()), timeoutMs: 1_000, firstList: () => undefined });

const namesIn = ({ all }: Catalogs) => {
	const { tools }: { tools: { name: string }[] } = JSON.parse(all.list);
	expect(tools).toHaveLength(all.size);
	return tools.map(({ name }) => name);
};

test("the tools are those of the bots as they were at the last change that was noted", () => {
	const alpha = bot("alpha", offline);
	const catalogs = catalogsOf([alpha]);
	expect(namesIn(catalogs)).toEqual(["list_instances"]);
	alpha.tools = [tool("a", "A")];
	expect(namesIn(catalogs)).toEqual(["list_instances"]);
	catalogs.noteChange();
	expect(namesIn(catalogs)).toEqual(["a", "list_instances"]);
	expect(catalogs.all.toolList.text).toBe(catalogs.all.list);
});

test("a bot that is online defines the tools, also when that changes", () => {
	const alpha = bot("alpha", offline, [tool("a", "of alpha")]);
	const beta = bot("beta", online, [tool("a", "of beta")]);
	const catalogs = catalogsOf([alpha, beta]);
	expect(catalogs.all.list).toContain("of beta");
	expect(catalogs.all.skew.get("alpha")?.differs).toEqual(["a"]);
	alpha.state = online;
	catalogs.noteChange();
	expect(catalogs.all.list).toContain("of alpha");
	expect(catalogs.all.skew.get("beta")?.differs).toEqual(["a"]);
});

test("nothing is built again while no bot has other tools, and a packed list of the same text is kept", () => {
	const tools = [tool("a", "A")];
	const alpha = bot("alpha", online, tools);
	const beta = bot("beta", online, tools);
	const catalogs = catalogsOf([alpha, beta]);
	const catalog = catalogs.all;
	beta.state = offline;
	catalogs.noteChange();
	expect(catalogs.all).toBe(catalog);
	beta.tools = [tool("a", "A")];
	catalogs.noteChange();
	expect(catalogs.all).not.toBe(catalog);
	expect(catalogs.all.toolList).toBe(catalog.toolList);
});
