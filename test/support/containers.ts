// Services of a compose file without an engine: the files of their images are started with their environment, as their
// user, with the paths, ports and host names that they have on this machine.

import { join } from "node:path";
import type { Service } from "./compose.ts";
import type { Image } from "./images.ts";
import { type Program, startCommand } from "./program.ts";

export interface Place {
	/** What stands in a service's environment → what it is here: paths, ports, host names with a port. */
	here: Record<string, string>;
	/** More of its environment. */
	env?: Record<string, string>;
	/** More arguments. */
	args?: readonly string[];
}

export interface Container {
	program: Program;
	/** Its health check, once. */
	healthy(): Promise<{ code: number; said: string }>;
}

/** Starts what a container of this service would run. */
export function startContainer(
	image: Image,
	service: Pick<Service, "environment" | "healthcheck"> & {
		user?: string | undefined;
	},
	{ here, env: more, args = [] }: Place,
): Container {
	const there = { ...image.env, ...service.environment };
	const env = {
		...Object.fromEntries(
			Object.entries(there).map(([name, value]) => [name, put(value, here)]),
		),
		...more,
	};
	// This machine's Bun may be where only we may look.
	const isOurs = image.entrypoint[0]?.startsWith("/");
	const options = {
		cwd: join(image.root, image.workdir),
		...(isOurs && userOf(service.user ?? image.user)),
	};
	const local = ([file = "", ...rest]: readonly string[]) => [
		file.startsWith("/") ? join(image.root, file) : process.execPath,
		...rest,
	];
	return {
		program: startCommand([...local(image.entrypoint), ...args], env, options),
		async healthy() {
			// Its first word is CMD: there is no shell.
			const check = Bun.spawn(local(service.healthcheck.test.slice(1)), {
				...options,
				env,
				stdout: "pipe",
				stderr: "pipe",
			});
			const said = await Promise.all(
				[check.stdout, check.stderr].map((one) => new Response(one).text()),
			);
			return { code: await check.exited, said: said.join("") };
		},
	};
}

/** `text` with what is otherwise here. */
function put(text: string, here: Record<string, string>): string {
	let put = here[text] ?? text;
	for (const [there, local] of Object.entries(here))
		if (there.includes(":")) put = put.replaceAll(there, local);
	return put;
}

/** Only root may be someone else. */
function userOf(user: string): { uid?: number; gid?: number } {
	const [uid, gid] = user.split(":").map(Number);
	if (process.getuid?.() !== 0 || uid === undefined || gid === undefined)
		return {};
	return { uid, gid };
}
