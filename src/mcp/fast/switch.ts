/** Optimizations that can be switched off one by one. */
export const fastPathNames = ["plain-event", "one-piece"] as const;

const settings = (process.env.MCP_FAST_PATHS ?? "").split(",");

/** MCP_FAST_PATHS=no-plain-event,no-one-piece switches off these two, MCP_FAST_PATHS=off all; responses stay the same. */
export function usesFastPath(name: (typeof fastPathNames)[number]): boolean {
	return !settings.includes("off") && !settings.includes(`no-${name}`);
}
