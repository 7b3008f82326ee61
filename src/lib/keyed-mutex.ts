// Work that builds on what it reads, one at a time for each thing.

/** Who is at it, or waits to be, by key. */
export type Turns = Map<string, Promise<unknown>>;

/**
 * Runs `work` when all work that came before it with the same key, or with any of several, has ended. All its places are
 * taken at once, so that no two can wait for each other.
 */
export async function inTurn<T>(
	turns: Turns,
	keys: string | readonly string[],
	work: () => Promise<T>,
): Promise<T> {
	const all = [...new Set([keys].flat())];
	// What came before has told its own caller how it ended.
	const before = Promise.allSettled(all.map((key) => turns.get(key)));
	const turn = before.then(work);
	for (const key of all) turns.set(key, turn);
	try {
		return await turn;
	} finally {
		for (const key of all) if (turns.get(key) === turn) turns.delete(key);
	}
}
