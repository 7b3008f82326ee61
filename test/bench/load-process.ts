// The load generator as a process of its own, for which it costs nothing to be told what to do: over Bun's IPC.

import { join } from "node:path";
import { anyCore, type Pin } from "./cores.ts";
import { Load, type LoadFigures, type LoadJob } from "./load.ts";
import { cpuMicros } from "./processes.ts";

type Order = { number: number } & (
	| { do: "open"; job: LoadJob }
	| { do: "run"; load: number; until: { ms: number } | { count: number } }
	| { do: "close"; load: number }
);

interface Report {
	number: number;
	figures?: LoadFigures;
	error?: string;
}

/** Connections that are held by the process. */
export interface RemoteLoad {
	run(until: { ms: number } | { count: number }): Promise<LoadFigures>;
	close(): Promise<void>;
}

export interface LoadProcess extends AsyncDisposable {
	readonly pid: number;
	open(job: LoadJob): Promise<RemoteLoad>;
	/** What it has used of the processor so far. */
	cpuMicros(): Promise<number>;
}

type Command = Order extends infer Each ? (Each extends Order ? Omit<Each, "number"> : never) : never;

export function startLoadProcess(pin: Pin = anyCore): LoadProcess {
	const waiting = new Map<number, PromiseWithResolvers<Report>>();
	let count = 0;
	const child = Bun.spawn(pin([process.execPath, join(import.meta.dir, "load-process.ts")]), {
		stdio: ["ignore", "inherit", "inherit"],
		ipc(report: Report) {
			const one = waiting.get(report.number);
			waiting.delete(report.number);
			if (report.error) one?.reject(new Error(report.error));
			else one?.resolve(report);
		},
		onExit() {
			for (const { reject } of waiting.values()) reject(new Error("the load generator has ended"));
		},
	});
	const tell = (command: Command): Promise<Report> => {
		const number = ++count;
		const answered = Promise.withResolvers<Report>();
		waiting.set(number, answered);
		child.send({ ...command, number });
		return answered.promise;
	};
	return {
		pid: child.pid,
		cpuMicros: () => cpuMicros([child.pid]),
		async open(job) {
			const { number: load } = await tell({ do: "open", job });
			return {
				async run(until) {
					const { figures } = await tell({ do: "run", load, until });
					if (!figures) throw new Error("the load generator has no figures");
					return figures;
				},
				close: async () => void (await tell({ do: "close", load })),
			};
		},
		async [Symbol.asyncDispose]() {
			child.kill();
			await child.exited;
		},
	};
}

function serveOrders(): void {
	const loads = new Map<number, Load>();
	const carryOut = async (order: Order): Promise<LoadFigures | undefined> => {
		if (order.do === "open") {
			loads.set(order.number, await Load.open(order.job));
			return undefined;
		}
		const load = loads.get(order.load);
		if (order.do === "run") return load?.run(order.until);
		load?.close();
		loads.delete(order.load);
		return undefined;
	};
	process.on("message", async (order: Order) => {
		const { number } = order;
		const report = await carryOut(order).then(
			(figures): Report => ({ number, ...(figures && { figures }) }),
			(error): Report => ({ number, error: String(error) }),
		);
		process.send?.(report);
	});
	process.on("disconnect", () => process.exit(0));
}

if (import.meta.main) serveOrders();
