// Folds floods of entries: of those of a kind within ten seconds, the first five are shown one by one and the rest together.

import { truncate } from "../../../discord/text.ts";
import { SlidingWindow } from "../../../lib/sliding-window.ts";
import { said } from "../../../texts/texts.ts";
import { Delayed } from "../delayed.ts";
import type { LogEntry } from "../moderation-log.ts";

const shownOneByOne = 5;
const windowMs = 10_000;
const maxNamed = 30;
const maxNamesLength = 2_000;

interface Flood {
	guildId: string;
	shown: SlidingWindow;
	/** The first of those that wait. */
	folded: LogEntry[];
	count: number;
}

/** `kind` in `add`: entries that may be folded into one. */
export function createFolding(post: (guildId: string, entry: LogEntry) => void) {
	const floods = new Map<string, Flood>();
	const waiting = new Delayed();

	function flush(flood: Flood): void {
		const { guildId, folded, count } = flood;
		const [first] = folded;
		flood.folded = [];
		flood.count = 0;
		if (!first) return;
		const names = folded.map(({ userId, description = "" }) =>
			userId === undefined ? String([description].flat()[0]) : `<@${userId}>`,
		);
		const who = truncate([...new Set(names)].join(", "), maxNamesLength);
		const { title, gravity = "note", confidential, moderatorId } = first;
		const isByOne = folded.every((one) => one.moderatorId === moderatorId);
		const description = said("server_log.folded", { count, who });
		const all = { title, gravity, confidential, description, ...(isByOne && { moderatorId }) };
		post(guildId, count === 1 ? first : all);
	}

	return {
		add(kind: string, guildId: string, entry: LogEntry): void {
			const key = `${guildId} ${kind}`;
			const made = { guildId, shown: new SlidingWindow({ max: shownOneByOne, windowMs }), folded: [], count: 0 };
			const flood: Flood = floods.get(key) ?? made;
			floods.set(key, flood);
			if (flood.count === 0 && flood.shown.take()) {
				post(guildId, entry);
				return;
			}
			flood.count += 1;
			if (flood.folded.length < maxNamed) flood.folded.push(entry);
			if (flood.count === 1) waiting.add(windowMs, () => flush(flood));
		},
		/** Posts what is folded. */
		close: () => waiting.close(),
	};
}
