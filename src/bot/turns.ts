// Work that builds on what it reads, one at a time for each thing.

/** Who is at it, or waits to be, by key. */
export type Turns = Map<string, Promise<unknown>>;

/** Runs `work` when all work with the same key that came before it has ended. */
export async function inTurn<T>(
	turns: Turns,
	key: string,
	work: () => Promise<T>,
): Promise<T> {
	const before = turns.get(key);
	// What came before has told its own caller how it ended.
	const turn = Promise.resolve(before).then(work, work);
	turns.set(key, turn);
	try {
		return await turn;
	} finally {
		if (turns.get(key) === turn) turns.delete(key);
	}
}
