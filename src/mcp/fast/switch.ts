/**
 * Whether the optimizations in src/mcp/fast are used. MCP_FAST_PATHS=off switches all of them off; responses stay the
 * same.
 */
export const fastPaths = process.env.MCP_FAST_PATHS !== "off";
