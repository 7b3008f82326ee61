// How many bytes the lists of tools cost a client, through the gateway.

import { startTestGateway } from "../support/gateway.ts";
import { startWorld } from "../support/world.ts";

export interface ListSize {
	tools: number;
	bytes: number;
	/** Names of tools without a title: clients show these names to people. */
	untitled: readonly string[];
	/** Bytes of each tool, largest first. */
	byTool: readonly (readonly [name: string, bytes: number])[];
	/** Bytes of the parts that all tools have in common. */
	parts: Readonly<Record<string, number>>;
}

/** Measures tools/list as the gateway sends it, of a bot with this `[mcp] list` and these keys of config.toml. */
export async function measureList(list?: "all", keys: object = {}): Promise<ListSize> {
	const mcp = list ? { list } : {};
	await using world = await startWorld({}, { toml: { mcp, ...keys } });
	await using gateway = await startTestGateway({ alpha: { url: new URL(world.bot.url).origin } });
	const tools = (await gateway.tools()) as {
		name: string;
		title?: string;
		description: string;
		inputSchema: { properties?: Record<string, unknown> };
	}[];
	const size = (value: unknown) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)));
	const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
	const byTool = tools.map((tool) => [tool.name, size(tool)] as const).toSorted(([, a], [, b]) => b - a);
	const property = (name: string) => sum(tools.map(({ inputSchema }) => size(inputSchema.properties?.[name])));
	return {
		tools: tools.length,
		bytes: size({ tools }),
		untitled: tools.filter(({ title }) => !title).map(({ name }) => name),
		byTool,
		parts: {
			descriptions: sum(tools.map(({ description }) => size(description))),
			titles: sum(tools.map(({ title }) => size(title))),
			instance: property("instance"),
			guild_id: property("guild_id"),
			reason: property("reason"),
			dry_run: property("dry_run"),
		},
	};
}

/** Prints figures if they are wanted: with `bun run bench:tools`. */
export function show(title: string, figures: unknown): void {
	if (process.env.SHOW_COSTS) console.log(title, figures);
}
