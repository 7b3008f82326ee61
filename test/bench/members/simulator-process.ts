// The simulator as a process of its own, with a guild of many members, so that its work delays nobody who measures.

import { join } from "node:path";
import { demoSeed } from "../../../src/simulator/seed.ts";
import { startSimulator } from "../../../src/simulator/simulator.ts";

/** Where a simulated bot logs in. */
export interface SimulatedBot {
	/** Base URL of the REST API. */
	api: string;
	cdn: string;
	token: string;
	/** The guild with the many members. */
	guild: string;
}

/** Starts the demo's guilds in a process; the first guild has `crowd` members more. */
export async function startSimulatorProcess(crowd: number): Promise<SimulatedBot & AsyncDisposable> {
	const started = Promise.withResolvers<SimulatedBot>();
	const child = Bun.spawn([process.execPath, join(import.meta.dir, "simulator-process.ts")], {
		env: { ...process.env, CROWD: String(crowd) },
		stdio: ["ignore", "inherit", "inherit"],
		ipc: (message: SimulatedBot) => started.resolve(message),
		onExit: () => started.reject(new Error("the simulator has ended")),
	});
	return {
		...(await started.promise),
		async [Symbol.asyncDispose]() {
			child.kill();
			await child.exited;
		},
	};
}

async function serve(crowd: number): Promise<void> {
	const [first, ...others] = demoSeed().guilds;
	if (!first) throw new Error("the demo has guilds");
	const simulator = await startSimulator({ seed: { ...demoSeed(), guilds: [{ ...first, crowd }, ...others] } });
	const message: SimulatedBot = {
		api: simulator.api,
		cdn: simulator.cdn,
		token: simulator.bot("alpha").token,
		guild: simulator.guild(first.name).id,
	};
	process.on("disconnect", () => process.exit(0));
	process.send?.(message);
}

if (import.meta.main) await serve(Number(process.env.CROWD));
