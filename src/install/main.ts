// Entry point of `guildhall install`.

import { installProgram } from "./program.ts";

await installProgram();
