// new-instance as a program of its own. Executables have it as `bot --new-instance`.

import { exitWith, newInstanceCommand } from "./new-instance-report.ts";

exitWith(newInstanceCommand(process.argv.slice(2), process.cwd()));
