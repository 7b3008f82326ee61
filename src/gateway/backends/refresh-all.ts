// Asks many bots, a few at a time: their lists of tools are long, and reading all of them at once would delay calls.

import { type StaggerOptions, stagger } from "../../lib/stagger.ts";
import type { Backend } from "./backend.ts";

export const fewAtATime: StaggerOptions = { max: 4, slowMs: 25 };

/**
 * Updates the state, tools and guilds of all bots. Returns a promise for each bot that resolves when it is updated, or
 * cannot be reached; none of them rejects. A bot that is slow to answer does not delay the others.
 */
export function refreshAll(backends: readonly Backend[]): Promise<void>[] {
	return stagger(backends, (backend) => backend.refresh(), fewAtATime);
}
