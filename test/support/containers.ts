// Runs services of a compose file without a container engine: starts the files of their images with their environment and
// user, and replaces paths, ports and host names by those of this machine.

import { join } from "node:path";
import type { Service } from "./compose.ts";
import type { Image } from "./images.ts";
import { type Program, startCommand } from "./program.ts";

export interface Place {
	/** The replacements in a service's environment: paths, ports, host names with a port. */
	here: Record<string, string>;
	/** Additional environment variables. */
	env?: Record<string, string>;
	/** Additional arguments. */
	args?: readonly string[];
}

export interface Container {
	program: Program;
	/** Runs its health check once. */
	healthy(): Promise<{ code: number; said: string }>;
}

/** Starts what a container of this service would run. */
export function startContainer(
	image: Image,
	service: Pick<Service, "environment" | "healthcheck"> & Partial<Pick<Service, "command" | "user">>,
	{ here, env: more, args = [] }: Place,
): Container {
	const there = { ...image.env, ...service.environment };
	const env = {
		...Object.fromEntries(Object.entries(there).map(([name, value]) => [name, put(value, here)])),
		...more,
	};
	const options = { cwd: join(image.root, image.workdir), ...userOf(service.user ?? image.user) };
	const local = ([file = "", ...rest]: readonly string[]) => [join(image.root, file), ...rest];
	const { command = image.command } = service;
	return {
		program: startCommand([...local(image.entrypoint), ...command, ...args], env, options),
		async healthy() {
			// Without its first word, CMD.
			const check = Bun.spawn(local(service.healthcheck.test.slice(1)), {
				...options,
				env,
				stdout: "pipe",
				stderr: "pipe",
			});
			const said = await Promise.all([check.stdout, check.stderr].map((one) => new Response(one).text()));
			return { code: await check.exited, said: said.join("") };
		},
	};
}

/** `text` with its replacements. */
function put(text: string, here: Record<string, string>): string {
	let put = here[text] ?? text;
	for (const [there, local] of Object.entries(here)) if (there.includes(":")) put = put.replaceAll(there, local);
	return put;
}

/** The uid and gid to run as. Empty unless the tests run as root. */
function userOf(user: string): { uid?: number; gid?: number } {
	const [uid, gid] = user.split(":").map(Number);
	if (process.getuid?.() !== 0 || uid === undefined || gid === undefined) return {};
	return { uid, gid };
}
