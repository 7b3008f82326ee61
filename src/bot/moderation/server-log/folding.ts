// Folds floods of entries: the first ones of a kind are shown one by one, the rest of a busy time together at its end.

import { said } from "../../../texts/texts.ts";
import type { LogEntry } from "../moderation-log.ts";

const shownOneByOne = 5;
const maxNamed = 30;
const quietMs = 10_000;

interface Flood {
	count: number;
	/** Not shown yet. */
	folded: LogEntry[];
	timer: Timer;
}

/** `key`: entries that may be folded into one. */
export function createFolding(post: (guildId: string, entry: LogEntry) => void, afterMs = quietMs) {
	const floods = new Map<string, Flood>();

	function end(key: string, guildId: string): void {
		const flood = floods.get(key);
		if (!flood) return;
		clearTimeout(flood.timer);
		floods.delete(key);
		const [first, ...rest] = flood.folded;
		if (!first) return;
		if (rest.length === 0) {
			post(guildId, first);
			return;
		}
		const names = flood.folded.slice(0, maxNamed).map(({ userId }) => (userId === undefined ? "…" : `<@${userId}>`));
		const who = [...new Set(names)].join(", ");
		const { title, gravity = "note" } = first;
		post(guildId, { title, gravity, description: said("server_log.folded", { count: flood.folded.length, who }) });
	}

	return {
		add(kind: string, guildId: string, entry: LogEntry): void {
			const key = `${guildId} ${kind}`;
			const flood: Flood = floods.get(key) ?? { count: 0, folded: [], timer: setTimeout(() => {}, 0) };
			floods.set(key, flood);
			clearTimeout(flood.timer);
			flood.timer = setTimeout(end, afterMs, key, guildId);
			flood.count += 1;
			if (flood.count <= shownOneByOne) post(guildId, entry);
			else flood.folded.push(entry);
		},
		/** Posts what is folded. */
		close(): void {
			for (const key of [...floods.keys()]) end(key, key.split(" ")[0] ?? "");
		},
	};
}
