// The latest messages of each person, as hashes, to detect that a person posts the same in many channels or many times.
// Kept in memory only, for a limited time and up to a limited number.

import type { Part, PartKind } from "./content.ts";

const maxPosts = 60;
const maxTotal = 50_000;

export interface Post {
	messageId: string;
	channelId: string;
	parts: readonly Part[];
}

interface TimedPost extends Post {
	at: number;
	until: number;
}

export interface Repetition {
	kind: PartKind;
	hash: string;
	posts: readonly Post[];
	channels: number;
}

export interface Thresholds {
	/** From how many on the same text, link or file counts as repeated. */
	channels: number;
	times: number;
	windowMs: number;
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
		return post.parts.flatMap((part) => (part.isShort ? [] : (repetitionOf(posts, part, limits) ?? [])));
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
	const channels = new Set(same.map(({ channelId }) => channelId)).size;
	if (channels < limits.channels && same.length < limits.times) return undefined;
	return { kind, hash, posts: same, channels };
}

function inWindow(posts: readonly TimedPost[], { windowMs }: Thresholds): TimedPost[] {
	const latest = Math.max(...posts.map(({ at }) => at));
	return posts.filter(({ at }) => at > latest - windowMs);
}

function partsIn(posts: readonly Post[]): number {
	return posts.reduce((sum, { parts }) => sum + parts.length, 0);
}
