// The latest messages of each person, as hashes, to detect that a person posts the same in many channels or many times.
// Kept in memory only, for a limited time and up to a limited number.

import type { Part, PartKind } from "./content.ts";

const maxPosts = 60;
const maxTotal = 50_000;
const maxFloodMs = 15_000;
/** Messages. */
const flood = 12;
const fewCapitals = 3;

export interface Post {
	messageId: string;
	channelId: string;
	parts: readonly Part[];
	isInCapitals?: boolean;
}

interface TimedPost extends Post {
	at: number;
	until: number;
}

export type FloodPreset = "short_floods" | "floods" | "caps";

export interface Repetition {
	kind: PartKind | FloodPreset;
	hash: string;
	posts: readonly Post[];
}

export interface Thresholds {
	/** From how many on the same text, link or file counts as repeated. */
	channels: number;
	times: number;
	windowMs: number;
	/** Of the setting automod.presets. */
	presets?: readonly string[];
}

export class RecentPosts {
	readonly #people = new Map<string, TimedPost[]>();
	#total = 0;
	#newest = 0;

	get size(): number {
		return this.#total;
	}

	/** What the person has now posted too often. `at`: by Discord's clock, which delivers late after a lost connection. */
	add(person: string, post: Post, at: number, limits: Thresholds): Repetition[] {
		const until = at + limits.windowMs;
		const known = this.#people.get(person) ?? [];
		const edited = known.find(({ messageId }) => messageId === post.messageId);
		const all = edited
			? known.map((one) => (one === edited ? { ...post, at: one.at, until: one.until } : one))
			: [...known, { ...post, at, until }];
		const posts = inWindow(all, limits)
			.filter(({ parts }) => parts.length > 0)
			.slice(-maxPosts);
		this.#set(person, posts);
		this.#newest = Math.max(this.#newest, at);
		this.#forget();
		const repeated = post.parts.flatMap((part) => (part.isShort ? [] : (repetitionOf(posts, part, limits) ?? [])));
		return [...repeated, ...floodsOf(posts, post, limits)];
	}

	with(person: string, hashes: ReadonlySet<string>): Post[] {
		return (this.#people.get(person) ?? []).filter(({ parts }) => parts.some(({ hash }) => hashes.has(hash)));
	}

	delete(person: string): void {
		this.#set(person, []);
	}

	#set(person: string, posts: TimedPost[]): void {
		this.#total += partsIn(posts) - partsIn(this.#people.get(person) ?? []);
		this.#people.delete(person);
		if (posts.length > 0) this.#people.set(person, posts);
	}

	#forget(): void {
		for (const [person, posts] of this.#people) {
			const until = posts.at(-1)?.until ?? 0;
			if (until > this.#newest && this.#total <= maxTotal) return;
			this.#set(person, []);
		}
	}
}

function repetitionOf(posts: readonly TimedPost[], { kind, hash }: Part, limits: Thresholds): Repetition | undefined {
	const same = posts.filter(({ parts }) => parts.some((part) => part.hash === hash));
	return isRepeated(same, limits) ? { kind, hash, posts: same } : undefined;
}

/** Within at most 15 s, because over minutes such messages are a conversation. */
function floodsOf(all: readonly TimedPost[], post: Post, { presets = [], times, windowMs }: Thresholds): Repetition[] {
	const posts = inWindow(all, { windowMs: Math.min(windowMs, maxFloodMs) });
	const short = post.parts.find(({ isShort }) => isShort)?.hash ?? "";
	const same = posts.filter(({ parts }) => parts.some(({ hash }) => hash === short));
	const loud = post.isInCapitals ? posts.filter((one) => one.isInCapitals) : [];
	const found: [FloodPreset, string, readonly Post[], number][] = [
		["short_floods", short, same, times],
		["floods", "", posts, flood],
		["caps", "", loud, fewCapitals],
	];
	return found.flatMap(([kind, hash, posts, min]) =>
		presets.includes(kind) && posts.length >= min ? { kind, hash, posts } : [],
	);
}

export function isRepeated(posts: readonly Post[], { channels, times }: Thresholds): boolean {
	return channelsOf(posts) >= channels || posts.length >= times;
}

export function channelsOf(posts: readonly Post[]): number {
	return new Set(posts.map(({ channelId }) => channelId)).size;
}

function inWindow(posts: readonly TimedPost[], { windowMs }: Pick<Thresholds, "windowMs">): TimedPost[] {
	const latest = Math.max(...posts.map(({ at }) => at));
	return posts.filter(({ at }) => at > latest - windowMs);
}

function partsIn(posts: readonly Post[]): number {
	return posts.reduce((sum, { parts }) => sum + parts.length, 0);
}
