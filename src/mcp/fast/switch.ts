/** Whether the fast paths are taken. `MCP_FAST_PATHS=off` switches them all off; responses stay the same. */
export const fastPaths = process.env.MCP_FAST_PATHS !== "off";
