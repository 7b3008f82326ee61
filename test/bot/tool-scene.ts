// The rows of the tools' table by what they do, and the scenes in which their calls are tried.

import { expect } from "bun:test";
import { redactToken } from "../../src/simulator/rest/route.ts";
import { until } from "../support/until.ts";
import {
	type Act,
	type Args,
	type Ask,
	type AskingRow,
	type ReadingRow,
	type Row,
	type Scene,
	startScene,
	type WritingRow,
} from "./tool-rows/scene.ts";
import { table } from "./tool-table.ts";

export const rows = Object.entries(table);
const rowsWith = <One extends Row>(field: keyof One) => rows.filter((row): row is [string, One] => field in row[1]);
export const reading = rowsWith<ReadingRow>("answer");
export const asking = rowsWith<AskingRow>("ask");
export const writing = rowsWith<WritingRow>("act");
/** How many tools share a scene: a guild takes 500 channels and 250 roles. */
const toolsPerScene = 10;
let current: { scene: Scene & AsyncDisposable; tools: Set<string> } | undefined;

/**
 * The scene of a tool's test, as no other test is at work in it. Starting one costs more than ten calls. What the tests make
 * in it stays, and none of them looks at what another has made.
 */
export async function enter(tool: string): Promise<Scene> {
	if (current && !current.tools.has(tool) && current.tools.size === toolsPerScene) await leave();
	current ??= { scene: await startScene(), tools: new Set() };
	current.tools.add(tool);
	current.scene.world.simulator.faults.clear();
	return current.scene;
}

/** Ends the last scene. */
export async function leave(): Promise<void> {
	await current?.scene[Symbol.asyncDispose]();
	current = undefined;
}

/** Resolves when the bot has heard of what was made for a test; what was sent and executed until then is forgotten. */
export async function settle({ world }: Scene): Promise<void> {
	await world.heard();
	world.simulator.requests.clear();
	world.simulator.journal.clear();
}

/** How often the act's request arrived. */
export function arrivals({ world }: Scene, { request }: { request: string }): number {
	return countOf(request, world.simulator.requests.list());
}

/** How often it was executed. */
export function executions({ world }: Scene, { request }: Act): number {
	return countOf(request, world.simulator.journal.entries());
}

/** Whether the act is a Create Message request, which is sent again after a lost response. */
export function hasNonce({ request }: Act): boolean {
	return /^POST \/channels\/\d+\/messages$/.test(request);
}

/** How many of these are the request. The simulator shows no more than the end of a token. */
function countOf(request: string, all: readonly { method: string; path: string }[]): number {
	const [wanted = "", target = ""] = request.split(" ");
	const shown = redactToken(target);
	return all.filter(({ method, path }) => method === wanted && path === shown).length;
}

/** What comes of a call whose request stalls until its time is up. */
export async function expired({ world }: Scene, stall: { hits: number }, name: string, args: Args) {
	const answer = world.call(name, args);
	await until("the request has arrived", () => stall.hits > 0);
	world.expireRequests();
	return answer;
}

/** An act that the bot has heard the ingredients of. */
export async function prepareAct(scene: Scene, row: WritingRow): Promise<Act> {
	const act = row.act(scene);
	await settle(scene);
	expect(act.done()).toBe(false);
	return act;
}

/** A question that the bot has heard the ingredients of. */
export async function prepareAsk(scene: Scene, row: AskingRow): Promise<Ask> {
	const ask = row.ask(scene);
	await settle(scene);
	return ask;
}

/** A call that the bot has heard the ingredients of. */
export function prepare(scene: Scene, row: AskingRow | WritingRow): Promise<Ask | Act> {
	return "ask" in row ? prepareAsk(scene, row) : prepareAct(scene, row);
}
