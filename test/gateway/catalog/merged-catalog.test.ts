import { expect, test } from "bun:test";
import type { BackendState } from "../../../src/gateway/backends/backend-health.ts";
import type { ListedTool } from "../../../src/gateway/backends/listed-tools.ts";
import { MergedCatalog } from "../../../src/gateway/catalog/merged-catalog.ts";

const online: BackendState = { online: true, since: 0 };
const offline: BackendState = { online: false, since: 0, reason: "down" };

const tool = (name: string, title: string): ListedTool => ({
	name,
	text: JSON.stringify({ name, title }),
	readOnly: false,
});
const bot = (name: string, state: BackendState, tools?: readonly ListedTool[]) => ({ name, state, tools });

const namesIn = ({ catalog }: MergedCatalog) => {
	const { tools }: { tools: { name: string }[] } = JSON.parse(catalog.list);
	expect(tools).toHaveLength(catalog.size);
	return tools.map(({ name }) => name);
};

test("the tools are those of the bots as they were at the last change that was noted", () => {
	const alpha = bot("alpha", offline);
	const merged = new MergedCatalog([alpha]);
	expect(namesIn(merged)).toEqual(["list_instances"]);
	alpha.tools = [tool("a", "A")];
	expect(namesIn(merged)).toEqual(["list_instances"]);
	merged.noteChange();
	expect(namesIn(merged)).toEqual(["a", "list_instances"]);
	expect(merged.toolList.text).toBe(merged.catalog.list);
});

test("a bot that is online defines the tools, also when that changes", () => {
	const alpha = bot("alpha", offline, [tool("a", "of alpha")]);
	const beta = bot("beta", online, [tool("a", "of beta")]);
	const merged = new MergedCatalog([alpha, beta]);
	expect(merged.catalog.list).toContain("of beta");
	expect(merged.catalog.skew.get("alpha")?.differs).toEqual(["a"]);
	alpha.state = online;
	merged.noteChange();
	expect(merged.catalog.list).toContain("of alpha");
	expect(merged.catalog.skew.get("beta")?.differs).toEqual(["a"]);
});

test("nothing is built again while no bot has other tools, and a packed list of the same text is kept", () => {
	const tools = [tool("a", "A")];
	const alpha = bot("alpha", online, tools);
	const beta = bot("beta", online, tools);
	const merged = new MergedCatalog([alpha, beta]);
	const { catalog, toolList } = merged;
	beta.state = offline;
	merged.noteChange();
	expect(merged.catalog).toBe(catalog);
	beta.tools = [tool("a", "A")];
	merged.noteChange();
	expect(merged.catalog).not.toBe(catalog);
	expect(merged.toolList).toBe(toolList);
});
