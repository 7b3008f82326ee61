// Assigns a port to each bot: the fixed MCP_PORT in its .env if no other instance has it, otherwise a free port.

const firstPort = 9090;

interface PortRequest {
	name: string;
	/** The fixed MCP_PORT; undefined if there is none. */
	wanted: number | undefined;
}

interface PortOptions {
	/** By name; kept unless .env names another one. */
	current: ReadonlyMap<string, number>;
	/** Such as the gateway's. */
	reserved: readonly number[];
	/** Not called for ports in `current`. */
	isFree(port: number): Promise<boolean>;
}

/** By name; earlier requests have priority. */
export async function assignPorts(
	requests: readonly PortRequest[],
	{ current, reserved, isFree }: PortOptions,
): Promise<Map<string, number>> {
	const assigned = new Map<string, number>();
	const taken = new Set(reserved);
	const assign = (name: string, port: number | undefined) => {
		if (port === undefined || taken.has(port) || assigned.has(name)) return;
		assigned.set(name, port);
		taken.add(port);
	};
	const held = new Set(current.values());
	const isUsable = async (port: number) => held.has(port) || isFree(port);

	// An instance that already has the port that it wants keeps it, even if an earlier instance has the same port in its .env.
	for (const { name, wanted } of requests) {
		const port = current.get(name);
		if (wanted === undefined || wanted === port) assign(name, port);
	}
	for (const { name, wanted } of requests) if (wanted !== undefined && (await isUsable(wanted))) assign(name, wanted);
	// If the wanted port is taken, the instance keeps its present one.
	for (const { name } of requests) assign(name, current.get(name));
	let next = firstPort;
	for (const { name } of requests) {
		while (!assigned.has(name) && (taken.has(next) || held.has(next) || !(await isFree(next)))) next++;
		assign(name, next);
	}
	return assigned;
}

/** Undefined if absent, invalid or 0. */
export function fixedPort(value: string | undefined): number | undefined {
	if (value === undefined || !/^\d{1,5}$/.test(value)) return undefined;
	const port = Number(value);
	return port >= 1 && port <= 65_535 ? port : undefined;
}
