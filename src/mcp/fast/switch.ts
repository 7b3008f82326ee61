/** Optimizations that can be switched off one by one; a prepared list includes its compressed form. */
export const fastPathNames = ["plain-event", "tool-list", "one-piece"] as const;

const settings = (process.env.MCP_FAST_PATHS ?? "").split(",");

/** MCP_FAST_PATHS=off switches all off; responses stay the same. */
const fastPaths: boolean = !settings.includes("off");

/** MCP_FAST_PATHS=no-plain-event,no-one-piece switches off these two. */
export function usesFastPath(name: (typeof fastPathNames)[number]): boolean {
	return fastPaths && !settings.includes(`no-${name}`);
}
