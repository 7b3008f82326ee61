// JSON from others, who may send anything.

/** What JSON text says; undefined where it is none. Whoever asks says what they expected. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// An error page, say: what is wrong with it is for the asker to tell.
		return undefined;
	}
}
