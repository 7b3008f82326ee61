// Detects spam in the messages of a guild: a message in a honeypot channel, a link that its settings list, or the
// same text, link or file posted by one person in many channels or many times.

import { type GuildMember, type GuildTextBasedChannel, type Message, PermissionFlagsBits } from "discord.js";
import { isAbove } from "../../../discord/role-hierarchy.ts";
import { isStaff } from "../../../discord/staff.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { type Said, said } from "../../../texts/texts.ts";
import { createHash, hasListedLink, isInCapitals, type Part, type PartKind, partsOf } from "./content.ts";

const maxCompared = 2_000;
const minSample = 10;
const newAccountMs = 7 * 86_400_000;

export interface Detection {
	member: GuildMember;
	messageId: string;
	/** Why it is spam, such as "the same file 3 times in 3 channels". Contains nothing that people wrote. */
	rule: Said;
	hashes: ReadonlySet<string>;
	posts: readonly Post[];
}

interface SpamRules extends Thresholds {
	honeypots: readonly string[];
	links: readonly string[];
	exemptRoles: readonly string[];
	presets: readonly string[];
}

interface DetectorOptions {
	/** Undefined: the guild does not look for spam. */
	rulesOf(guildId: string): SpamRules | undefined;
	/** A label for each URL: the same for the same content. */
	compareFiles(urls: readonly string[]): Promise<string[]>;
	isAllowed(member: GuildMember): boolean;
	/** Of the person's current incident. */
	spamOf(member: GuildMember): ReadonlySet<string> | undefined;
	onSpam(detection: Detection): void;
	onError(error: unknown): void;
}

export function createDetector(options: DetectorOptions) {
	const hash = createHash();
	const recent = new RecentPosts();
	const compared = new LruMap<string, true>(maxCompared);
	const comparing = new Set<string>();

	function report(
		{ id, member, channel }: Message<true>,
		{ exemptRoles }: SpamRules,
		rule: Said,
		hashes: ReadonlySet<string>,
		more: readonly Post[] = [],
	): void {
		if (!member || isExempt(member, channel, exemptRoles)) return;
		if (options.isAllowed(member)) return;
		const known = [...recent.with(`${member.guild.id} ${member.id}`, hashes), ...more];
		const posts = [...new Map(known.map((post) => [post.messageId, post])).values()];
		options.onSpam({ member, messageId: id, rule, hashes, posts });
	}

	async function compare(message: Message<true>, rules: SpamRules, repetition: Repetition): Promise<void> {
		const key = `${message.guildId} ${message.author.id} ${repetition.hash}`;
		if (comparing.has(key)) return;
		comparing.add(key);
		try {
			const sample = sampleOf(repetition, rules);
			const urls = sample.map(({ parts }) => parts.find(({ hash }) => hash === repetition.hash)?.url ?? "");
			const labels = await options.compareFiles(urls);
			const groups = Map.groupBy(sample, (_, index) => labels[index]);
			const same = [...groups.values()].find((posts) => isRepeated(posts, rules));
			if (!same) return;
			compared.set(repetition.hash, true);
			report(message, rules, ruleOf(repetition), new Set([repetition.hash]), same);
		} finally {
			comparing.delete(key);
		}
	}

	function ruleFor(
		{ channel, member, author, createdTimestamp }: Message<true>,
		{ honeypots, links, presets }: SpamRules,
		text: string,
		parts: readonly Part[],
	): Said | undefined {
		const parentId = channel.isThread() ? channel.parentId : null;
		if ([channel.id, parentId].some((id) => id && honeypots.includes(id))) return said("spam.rule.honeypot");
		if (hasListedLink(text, links)) return said("spam.rule.listed");
		const isNew = presets.includes("new_account_links") && createdTimestamp - author.createdTimestamp < newAccountMs;
		if (isNew && parts.some(({ kind }) => kind === "link")) return said("spam.rule.new_account_links");
		const known = member && options.spamOf(member);
		return parts.some(({ hash }) => known?.has(hash)) ? said("spam.rule.more") : undefined;
	}

	function see(message: Message<true>): void {
		const { id, author, channel, guild } = message;
		const rules = options.rulesOf(guild.id);
		if (!rules) return;
		const content = contentOf(message);
		const parts = partsOf(content, hash, rules.presets.length > 0);
		const post: Post = { messageId: id, channelId: channel.id, parts, isInCapitals: isInCapitals(content.text) };
		const at = message.editedTimestamp ?? message.createdTimestamp;
		const repetitions = recent.add(`${guild.id} ${author.id}`, post, at, rules);
		const rule = ruleFor(message, rules, content.text, parts);
		if (rule !== undefined) {
			report(message, rules, rule, new Set(parts.map((part) => part.hash)), [post]);
		} else
			for (const repetition of repetitions)
				if (repetition.kind === "file" && !compared.get(repetition.hash))
					compare(message, rules, repetition).catch(options.onError);
				else report(message, rules, ruleOf(repetition), new Set([repetition.hash]), repetition.posts);
	}

	return {
		/** Never throws. */
		see(message: Message): void {
			const { author, webhookId, system } = message;
			if (author.bot || webhookId || system || !message.inGuild()) return;
			try {
				see(message);
			} catch (error) {
				options.onError(error);
			}
		},
		forget: (guildId: string, userId: string) => recent.delete(`${guildId} ${userId}`),
	};
}

/** Staff, who ranks above the bot, has Manage Messages in the channel, or has one of `roles`. */
function isExempt(member: GuildMember, channel: GuildTextBasedChannel, roles: readonly string[]): boolean {
	const { me } = member.guild.members;
	if (!me || isStaff(member) || roles.some((id) => member.roles.cache.has(id))) return true;
	const isModerator = channel.permissionsFor(member)?.has(PermissionFlagsBits.ManageMessages);
	return isModerator || !isAbove(me, member.roles.highest);
}

function contentOf({ content, attachments, messageSnapshots }: Message) {
	const forwarded = [...(messageSnapshots?.values() ?? [])];
	const texts = [content, ...forwarded.map((one) => one.content ?? "")];
	const files = [...attachments.values(), ...forwarded.flatMap((one) => [...(one.attachments?.values() ?? [])])];
	return { text: texts.join("\n"), files };
}

function sampleOf({ posts }: Repetition, limits: Thresholds): readonly Post[] {
	const byChannel = new Map(posts.map((post) => [post.channelId, post]));
	if (byChannel.size >= limits.channels) return [...byChannel.values()].slice(-Math.max(limits.channels, minSample));
	return posts.slice(-Math.max(limits.times, minSample));
}

function ruleOf({ kind, posts }: Repetition): Said {
	const times = said("spam.times", { count: posts.length });
	return said(`spam.rule.${kind}`, { times, channels: said("spam.channels", { count: channelsOf(posts) }) });
}

const maxPosts = 60;
const maxTotal = 50_000;
const maxFloodMs = 15_000;
/** Messages. */
const flood = 12;
const fewCapitals = 3;

interface Post {
	messageId: string;
	channelId: string;
	parts: readonly Part[];
	isInCapitals?: boolean;
}

interface TimedPost extends Post {
	at: number;
	until: number;
}

type FloodPreset = "short_floods" | "floods" | "caps";

interface Repetition {
	kind: PartKind | FloodPreset;
	hash: string;
	posts: readonly Post[];
}

interface Thresholds {
	/** From how many on the same text, link or file counts as repeated. */
	channels: number;
	times: number;
	windowMs: number;
	/** Of the setting automod.presets. */
	presets?: readonly string[];
}

/**
 * The latest messages of each person, as hashes. In memory only, for a limited time and up to a limited number.
 */
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

function isRepeated(posts: readonly Post[], { channels, times }: Thresholds): boolean {
	return channelsOf(posts) >= channels || posts.length >= times;
}

function channelsOf(posts: readonly Post[]): number {
	return new Set(posts.map(({ channelId }) => channelId)).size;
}

function inWindow(posts: readonly TimedPost[], { windowMs }: Pick<Thresholds, "windowMs">): TimedPost[] {
	const latest = Math.max(...posts.map(({ at }) => at));
	return posts.filter(({ at }) => at > latest - windowMs);
}

function partsIn(posts: readonly Post[]): number {
	return posts.reduce((sum, { parts }) => sum + parts.length, 0);
}
