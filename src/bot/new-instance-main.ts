// new-instance as a program of its own: its command line, nothing else. Executables have it as `bot --new-instance`.

import { parseArgs } from "node:util";
import { runNewInstance } from "./new-instance-report.ts";

const usage = `Usage: bun run new-instance <name> [--directory <directory>] [--help]

Makes the directory of another bot, from instances/example, with a port, a schema and a token. It overwrites nothing.

  <name>       letters, digits, ".", "_" and "-", at most 40; the gateway will know the bot by it
  --directory  where the directories of all instances are (instances)`;

const { name, directory } = readCommandLine();
runNewInstance(name, directory);

function readCommandLine() {
	try {
		const { values, positionals } = parseArgs({
			allowPositionals: true,
			options: {
				directory: { type: "string" },
				help: { type: "boolean", short: "h" },
			},
		});
		if (values.help) {
			console.log(usage);
			process.exit(0);
		}
		const [name, ...more] = positionals;
		if (name === undefined || more.length > 0)
			throw new Error("Expected one name.");
		if (values.directory === "")
			throw new Error("Expected a directory after --directory.");
		return { name, directory: values.directory };
	} catch (error) {
		console.error(`${(error as Error).message}\n\n${usage}`);
		process.exit(2);
	}
}
