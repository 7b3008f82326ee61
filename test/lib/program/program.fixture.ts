// A program of runProgram's, for program.long.test.ts to run as a child. MODE says what becomes of it.

import * as v from "valibot";
import { ConfigError, parseSettings, trimEnv } from "../../../src/lib/config.ts";
import { type Log, logSettings, readLogOptions } from "../../../src/lib/log.ts";
import { parseCommandLine, runProgram } from "../../../src/lib/program/program.ts";

const mode = process.env.MODE;
const usage = () => {
	if (mode === "no-usage") throw new Error("the usage was rendered");
	return "Usage: fixture [--name N]";
};
const options = parseCommandLine(usage, { name: { type: "string" } });

function configure() {
	if (mode === "config-error") throw new ConfigError("the environment", ["A: is required", "B: is bad"]);
	if (mode === "configure-error") throw new Error("no luck");
	const schema = v.object(logSettings);
	const { settings, issues } = parseSettings(schema, trimEnv(process.env));
	if (!settings) throw new ConfigError("the environment", issues);
	return { log: readLogOptions(settings) };
}

await runProgram(configure, async (_, log) => {
	if (mode === "start-error") throw new Error("no luck");
	const alive = setInterval(() => {}, 60_000);
	log.info("started", { name: options.name });
	if (mode === "throw-later") queueMicrotask(thrower);
	if (mode === "linger") void linger(log);
	if (mode === "reject-later") void Promise.reject(new Error("no luck"));
	return {
		async close() {
			if (mode === "close-error") throw new Error("no luck");
			if (mode === "close-waits") await fetch(process.env.WAIT_URL ?? "");
			if (mode === "close-hangs") await new Promise(() => {});
			clearInterval(alive);
			log.info("closed");
		},
		...(mode === "failed" && { failed: Promise.resolve(new Error("no luck")) }),
	};
});

function thrower() {
	throw new Error("no luck");
}

/** Says so if it is still running after a while of doing things. */
async function linger(log: Log) {
	for (let count = 0; count < 50; count++) await fetch(process.env.WAIT_URL ?? "");
	log.info("still here");
}
