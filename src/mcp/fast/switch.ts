/** Whether the optimizations of this folder are used. `MCP_FAST_PATHS=off` switches all off; responses stay the same. */
export const fastPaths = process.env.MCP_FAST_PATHS !== "off";
