// Entry point of `guildhall uninstall`.

import { uninstallProgram } from "./program.ts";

await uninstallProgram();
