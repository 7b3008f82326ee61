// Entry point of new-instance.

import { newInstanceProgram } from "./new-instance-program.ts";
import { exitWith, parseNewInstance } from "./new-instance-report.ts";

const parsed = parseNewInstance(process.argv.slice(2));
if ("code" in parsed) exitWith(parsed);
await newInstanceProgram(parsed);
