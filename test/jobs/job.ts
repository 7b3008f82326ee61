// Does a job of an administrator by tool calls through the gateway, and counts what it costs.

import type { JsonObject } from "../../src/lib/json.ts";
import { startTestGateway } from "../support/gateway.ts";
import { startWorld, type TestWorld, userNamed } from "../support/world.ts";
import { addGuild, type JobGuild } from "./guild.ts";

/** What a job has cost so far. */
export interface Cost {
	calls: number;
	/** Bytes of the texts of all results. */
	bytes: number;
	/** Results with `isError`, and JSON-RPC errors. */
	errors: number;
}

export interface Job extends JobGuild, AsyncDisposable {
	world: TestWorld;
	cost: Cost;
	/** The URL of the gateway's MCP endpoint, whose token is `gatewayToken`. */
	url: string;
	/** The names of the tools in tools/list. */
	listed: ReadonlySet<string>;
	/**
	 * Calls a tool in the guild and returns the text of its result. Tools that are not listed are called by `use_tool` or
	 * `use_reading_tool`, as assistants have to. Throws if the call fails.
	 */
	call(tool: string, args?: JsonObject): Promise<string>;
}

/** Starts the simulator with the guild of the jobs, the bot with these keys of config.toml, and a gateway in front of it. */
export async function startJob(people: number, settings: Record<string, unknown> = {}): Promise<Job> {
	await using stack = new AsyncDisposableStack();
	const world = stack.use(await startWorld({}, { toml: settings }));
	const job = addGuild(world.simulator.world, userNamed(world, "alpha"), people);
	await world.heard();
	const gateway = stack.use(await startTestGateway({ alpha: { url: new URL(world.bot.url).origin } }));
	const tools = (await gateway.tools()) as { name: string; annotations?: { readOnlyHint?: boolean } }[];
	const listed = new Set(tools.map(({ name }) => name));
	const cost: Cost = { calls: 0, bytes: 0, errors: 0 };
	const running = stack.move();
	return {
		...job,
		world,
		cost,
		listed,
		url: `${gateway.url}/mcp`,
		async call(tool, given = {}) {
			const args = { guild_id: job.guild.id, ...given };
			const { result, error } = listed.has(tool)
				? await gateway.call(tool, args)
				: await gateway.call("use_tool", { name: tool, arguments: given, guild_id: job.guild.id });
			const text = error?.message ?? (result?.content ?? []).map(({ text }) => text).join("\n");
			cost.calls += 1;
			cost.bytes += Buffer.byteLength(text);
			if (!error && !result?.isError) return text;
			cost.errors += 1;
			throw new Error(`${tool} ${JSON.stringify(given)}: ${text}`);
		},
		[Symbol.asyncDispose]: () => running.disposeAsync(),
	};
}

/** The ids in a text, in their order. */
export function idsIn(text: string): string[] {
	return text.match(/\b\d{17,20}\b/g) ?? [];
}

/** The first id behind `label` in a text. */
export function idAfter(text: string, label: string): string {
	const [id] = idsIn(text.slice(text.indexOf(label)));
	if (!text.includes(label) || id === undefined) throw new Error(`no id after ${label} in: ${text}`);
	return id;
}
