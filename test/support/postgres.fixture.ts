// A process that starts a PostgreSQL server, says where, and does not end by itself.

import { startPostgres } from "./postgres.ts";

const server = await startPostgres();
if (process.argv.includes("--stopped")) await server.stop();
console.log(JSON.stringify({ port: server.port, directory: server.directory }));
await new Promise(() => setInterval(() => {}, 1_000));
