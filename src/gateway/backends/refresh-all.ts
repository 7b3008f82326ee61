// Asks many bots, a few at a time: their lists of tools are long, and reading all of them at once would delay calls.

import { type StaggerOptions, stagger } from "../../lib/stagger.ts";
import type { Backend } from "./backend.ts";

export const fewAtATime: StaggerOptions = { max: 4, slowMs: 25 };

/** One promise for each bot: when it is updated, or cannot be reached. None rejects; a slow bot delays no other. */
export function refreshAll(backends: readonly Backend[]): Promise<void>[] {
	return stagger(backends, (backend) => backend.refresh(), fewAtATime);
}
