// A program of runProgram's, for program.test.ts to run as a child. MODE says what becomes of it.

import { ConfigError } from "../../src/lib/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { parseCommandLine, runProgram } from "../../src/lib/program.ts";

const options = parseCommandLine("Usage: fixture [--name N]", {
	name: { type: "string" },
});
const mode = process.env.MODE;
const log = createLog("json");

await runProgram(async () => {
	if (mode === "config-error")
		throw new ConfigError("the environment", ["A: is required", "B: is bad"]);
	if (mode === "start-error") throw new Error("no luck");
	const alive = setInterval(() => {}, 60_000);
	log.info("started", { name: options.name });
	if (mode === "throw-later") queueMicrotask(thrower);
	if (mode === "linger") void linger();
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
}, log);

function thrower() {
	throw new Error("no luck");
}

/** Says so if it is still running after a while of doing things. */
async function linger() {
	for (let count = 0; count < 50; count++)
		await fetch(process.env.WAIT_URL ?? "");
	log.info("still here");
}
