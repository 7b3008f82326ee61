// The suite's scenarios for authorization servers, against the gateway with a stub of Discord. The suite waits for somebody
// to open an address; a browser without scripts does. The suite's other scenarios of authorization (auth/…) test clients.

import { join } from "node:path";
import { freePort } from "../../src/demo/ports.ts";
import { eachLine } from "../../src/lib/program/lines.ts";
import { assistant, startWorld } from "../gateway/oauth/sign-in-world.ts";

/** Runs the scenarios in a directory with the installed suite, and returns the exit code and the output. */
export async function runAuthorization(cwd: string, suite: string) {
	await using world = await startWorld();
	const port = await freePort();
	const redirectUris = ["http://127.0.0.1/callback"];
	world.clients.set(assistant.id, { ...assistant, redirectUris });
	const command = [
		process.execPath,
		"--bun",
		join("node_modules", suite, "dist/index.js"),
		"authorization",
		"--url",
		world.url,
		"--resource",
		`${world.url}/mcp`,
		"--client-id",
		assistant.id,
		"--port",
		String(port),
	];
	const child = Bun.spawn(command, { cwd, stdout: "pipe", stderr: "pipe" });
	const lines: string[] = [];
	let signIn: Promise<Response> | undefined;
	await Promise.all(
		[child.stdout, child.stderr].map((stream) =>
			eachLine(stream, (line) => {
				lines.push(line);
				if (line.startsWith(`${world.url}/oauth/authorize?`)) signIn ??= signInAt(line);
			}),
		),
	);
	/** Signs in as a person would, up to the client's page. */
	async function signInAt(url: string): Promise<Response> {
		const steps = await world.toConsentAt(url);
		return steps.browser.open((await world.decide(steps)).href);
	}
	await signIn;
	return { code: await child.exited, output: lines.join("\n") };
}
