// The language of the argument `where`: a question about people as a tree of conditions, which facts.ts answers.

import { oneLine } from "../../discord/text.ts";
import { readDuration, readTime } from "../../lib/times.ts";
import { ToolError } from "../../lib/tool-error.ts";

const times = ["joined", "account"] as const;
const counts = ["messages", "cases", "spam"] as const;
const lists = ["role", "name", "nickname", "user", "guild", "reacted", "invite"] as const;
const flags = ["timeout", "bot", "pending"] as const;
const fields = [...times, ...counts, ...lists, ...flags];

export type Field = (typeof fields)[number];

export interface Condition {
	field: Field;
	/** Epoch milliseconds: of `times`, the range without its end; of `counts`, its start. */
	fromMs?: number | undefined;
	toMs?: number | undefined;
	/** Of `counts`: <, <=, >, >= or =. */
	by: string;
	count: number;
	/** Names, ids, codes or links: any of them. Empty: anything at all. */
	items: readonly string[];
	/** Of `cases`, their action; of `reacted`, the emoji. */
	detail?: string | undefined;
}

/** `decisive`: false joins by "and", true by "or". */
export type Where = Condition | { not: Where } | { parts: readonly Where[]; decisive: boolean };

export const whereExample = "joined since 2d and not role:@Member and messages = 0 since 7d";

/** For models. */
export const whereGrammar = [
	`\`where\`: who is meant, such as: ${whereExample}. Conditions, joined by and, or, not, ( ):`,
	"joined since 2d | joined before 60d (longer ago) | joined > 2026-11-20 | account < 7d (its age)",
	'role:@Member | role:"Two Words" | role:(@A, @Two Words) (any of them) | no role | user:@name',
	"name:part (username, display name or nickname contains it) | name:start* | nickname:!* | nickname | no nickname",
	"messages = 0 since 7d | messages >= 8 since 30d | messages = 0 (since they joined)",
	"cases >= 2 since 90d | cases:warn | spam (was in a spam incident) | spam since 7d",
	"reacted to MESSAGE_LINK | reacted to (LINK, CHANNEL_ID/MESSAGE_ID) with 👍",
	"invite:CODE (known only if the bot saw the join) | guild:ID (member there, too: a guild of this bot)",
	"timeout | bot | pending",
	"In names, * at the start or end matches any text; other characters, such as !, are literal. Bots match unless `not bot`; people who left never match. A tool that changes something first shows who and why. Members of whom it is unknown are left out.",
] as const;

/** Without spaces, "-" and "_". */
const aliases =
	"joinedat:joined memberfor:joined created:account createdat:account registered:account age:account accountage:account hasrole:role roles:role username:name nick:nickname userid:user id:user memberof:guild inguild:guild server:guild message:messages messagecount:messages wrote:messages posted:messages posts:messages invited:invite invitecode:invite joinedby:invite joinedbyinvite:invite joinedvia:invite case:cases spamincident:spam timedout:timeout intimeout:timeout isbot:bot bots:bot";
const fieldOf = new Map<string, Field>(fields.map((one) => [one, one]));
for (const [name = "", field] of aliases.split(" ").map((pair) => pair.split(":"))) fieldOf.set(name, field as Field);

// A duration behind them is an age: the smaller it is, the later the time.
const ages: ReadonlySet<string> = new Set(["account", "age", "accountage", "memberfor"]);

// Mentions, custom emoji, links and times have signs in them.
const tokenPattern =
	/\s+|(?<quoted>@?(?:"[^"]*"|'[^']*'))|(?<word><(?:@[!&]?|a?:\w+:)\d+>|https?:\/\/[^\s,()]+|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d:\d\d)?)?|[^\s(),:<>=!"'&|]+)|(?<sign>[<>=!]=|&&|\|\||[(),:<>=!&|])|(?<other>.)/gsu;

const signs: Record<string, string> = { "==": "=", ":": "=", "&&": "and", "||": "or", "&": "and", "|": "or" };
const noise = ["has", "have", "is", "are", "was", "were", "in", "a", "an", "with", "who"];
const starts = ["since", "after", "from", "within", "last", "past", "in"];
const comparisons = ["<", "<=", ">", ">=", "=", "!="];
type Read = Partial<Condition> & { isNot?: boolean };

/** Durations count from `nowMs`. Errors are ToolErrors that name the position. */
export class WhereParser {
	readonly #tokens: { text: string; at: number; kind: "word" | "quoted" | "sign" | "end" }[] = [];
	#next = 0;

	constructor(
		private readonly text: string,
		private readonly nowMs: number,
	) {
		for (const { index: at, groups = {} } of text.matchAll(tokenPattern)) {
			const { quoted, word, sign, other } = groups;
			if (other) throw this.#error("unexpected character", at);
			if (quoted) this.#tokens.push({ text: quoted.replace(/^(@?).(.*).$/s, "$1$2"), at, kind: "quoted" });
			else if (word ?? sign)
				this.#tokens.push({ text: word ?? signs[sign ?? ""] ?? sign ?? "", at, kind: word ? "word" : "sign" });
		}
	}

	parse(): Where {
		if (this.#tokens.length > 150) throw this.#error("more than 150 words and signs", 0);
		const where = this.#joined("or");
		if (this.#token.kind === "end") return where;
		throw this.#error('expected "and", "or" or the end (names with spaces need quotation marks)');
	}

	get #token() {
		return this.#tokens[this.#next] ?? { text: "", at: this.text.length, kind: "end" };
	}

	#error(problem: string, at = this.#token.at): ToolError {
		const rest = this.text.slice(at, at + 20);
		const place = rest === "" ? "at its end" : `at position ${at + 1}, ${oneLine(JSON.stringify(rest))}`;
		return new ToolError(
			`where: ${problem}, ${place}. Fields: ${fields.join(", ")}. Example: ${whereExample}. Nothing was done; find_tools with "where" explains it.`,
		);
	}

	#take(...words: readonly string[]): string | undefined {
		const { text, kind } = this.#token;
		if (kind === "quoted" || !words.includes(text.toLowerCase())) return undefined;
		this.#next += 1;
		return text.toLowerCase();
	}

	#value(expected: string): string {
		const { text, kind } = this.#token;
		if (kind === "end" || kind === "sign") throw this.#error(`expected ${expected}`);
		this.#next += 1;
		return text;
	}

	#joined(by: "or" | "and"): Where {
		const next = () => (by === "or" ? this.#joined("and") : this.#not());
		const first = next();
		const parts = [first];
		while (this.#take(by)) parts.push(next());
		return parts.length === 1 ? first : { parts, decisive: by === "or" };
	}

	#not(): Where {
		while (this.#take(...noise));
		const token = this.#token;
		if (token.kind === "word" && /^-\w/.test(token.text)) {
			token.text = token.text.slice(1);
			return { not: this.#not() };
		}
		if (this.#take("not", "!", "no", "without", "never")) return { not: this.#not() };
		if (!this.#take("(")) return this.#condition();
		const inner = this.#joined("or");
		if (!this.#take(")")) throw this.#error('expected ")"');
		return inner;
	}

	#condition(): Where {
		// Of several words, the most: "joined by", "spam incident".
		for (const count of [3, 2, 1]) {
			const tokens = this.#tokens.slice(this.#next, this.#next + count);
			const name = tokens.map(({ text }) => text.toLowerCase().replace(/[_-]/g, "")).join("");
			const field = fieldOf.get(name);
			if (!field || tokens.some(({ kind }) => kind !== "word")) continue;
			this.#next += count;
			const isOf = (all: readonly Field[]) => all.includes(field);
			const time = isOf(times) && this.#time(ages.has(name));
			const read = time || (isOf(counts) ? this.#count(field) : isOf(lists) ? this.#items(field) : this.#flag());
			const { isNot, ...rest } = read;
			const condition: Condition = { field, by: ">=", count: 1, items: [], ...rest };
			return isNot ? { not: condition } : condition;
		}
		throw this.#error(this.#token.kind === "end" ? "expected a condition" : "unknown field");
	}

	/** "" if there is none. */
	#comparison(): string {
		const by = this.#take(...comparisons) ?? "";
		// As in "joined:>2026-11-20".
		return (by === "=" && this.#take(...comparisons)) || by;
	}

	/** A date, time, or duration before now. */
	#moment(): { atMs: number; isDay: boolean; isAgo: boolean } {
		const { at } = this.#token;
		let read = this.#value("a date or duration");
		const unit = this.#token.text;
		if (/^\d+$/.test(read) && /^[a-z]+$/i.test(unit)) read += this.#value("a unit");
		const ms = readDuration(read);
		const atMs = ms === undefined ? readTime(read.replace(" ", "T")) : this.nowMs - ms;
		if (atMs === undefined || Number.isNaN(new Date(atMs).getTime()))
			throw this.#error("expected a duration such as 7d, or a date such as 2026-11-20", at);
		this.#take("ago");
		return { atMs, isDay: /^\d{4}-\d\d-\d\d$/.test(read), isAgo: ms !== undefined };
	}

	/** "since 7d", "in the last 7 days". */
	#start(): number | undefined {
		if (!this.#take(...starts)) return undefined;
		this.#take("the");
		this.#take("last", "past");
		return this.#moment().atMs;
	}

	#time(isAge: boolean): Read {
		const { at } = this.#token;
		const fromMs = this.#start();
		if (fromMs !== undefined) return { fromMs };
		if (this.#take("before", "until")) return { toMs: this.#moment().atMs };
		const by = this.#take("on") ? "=" : this.#comparison();
		if (by === "") throw this.#error('expected "since", "before", < or >');
		const { atMs, isDay, isAgo } = this.#moment();
		if (isAgo && !isAge)
			throw this.#error("a comparison with a duration is ambiguous: write since 2d (newer) or before 2d (older)", at);
		const endMs = isDay ? atMs + 86_400_000 : atMs;
		if (by.endsWith("=") && !/[<>]/.test(by)) {
			if (!isDay) throw this.#error("only a day can be equal", at);
			return { fromMs: atMs, toMs: endMs, isNot: by === "!=" };
		}
		if (by.startsWith(">") !== isAgo) return { fromMs: atMs };
		return { toMs: by === "<=" ? endMs : atMs };
	}

	#count(field: Field): Read {
		const read: Read = {};
		for (;;) {
			const by = this.#comparison();
			const text = this.#token.text.toLowerCase();
			if (/^(\d{1,9}|none)$/.test(text) && (by !== "" || read.by === undefined)) {
				if (read.by !== undefined) throw this.#error("one number each: write both conditions with and");
				this.#next += 1;
				const count = Number(text) || 0;
				const most = by || (count === 0 ? "=" : ">=");
				Object.assign(read, { by: most === "!=" ? "=" : most, count, isNot: most === "!=" });
			} else if (by === "=" && field === "cases") read.detail = this.#value("a kind").toLowerCase();
			else if (by !== "") throw this.#error("expected a number");
			else {
				const fromMs = this.#start();
				if (fromMs === undefined) return read;
				read.fromMs = fromMs;
			}
		}
	}

	#items(field: Field): Read {
		this.#take("to", "by", "via");
		const by = this.#comparison();
		if (/[<>]/.test(by)) throw this.#error("expected = or !=");
		if (by === "") this.#take("in");
		const isNot = by === "!=" || this.#take("!") !== undefined;
		const isList = this.#take("(");
		const { text, kind } = this.#token;
		// "no role", "no nickname"
		const isEnd = kind === "end" || text === ")" || (kind !== "quoted" && /^(and|or)$/i.test(text));
		const mayBeAny = field === "role" || field === "nickname";
		if (mayBeAny && by === "" && isEnd) return {};
		const items: string[] = [];
		do {
			const words = [this.#value("a name or id")];
			// In a list, a name ends at a comma.
			while (isList && kind !== "quoted" && this.#token.kind === "word" && !this.#token.text.startsWith("@"))
				words.push(this.#value("a name or id"));
			items.push(words.join(" "));
		} while (this.#take(","));
		if (isList && !this.#take(")")) throw this.#error('expected "," or ")"');
		// Begins with "!", since "not any name" makes no sense.
		if (/name$/.test(field) && isNot && items.join() === "*") return { items: ["!*"] };
		if (/name$/.test(field) && items.some((item) => /^\**$/.test(item)))
			throw this.#error('expected a name; one that begins with a sign needs quotation marks, such as "!*"');
		if (mayBeAny && kind !== "quoted" && /^(none|0)$/i.test(items.join())) return { isNot: !isNot };
		const detail = field === "reacted" && this.#take("with") ? this.#value("an emoji") : undefined;
		return { items, detail, isNot };
	}

	#flag(): Read {
		const said = this.#comparison() === "" ? "true" : this.#take("true", "yes", "false", "no");
		if (said) return { isNot: /^[fn]/.test(said) };
		throw this.#error("expected true or false");
	}
}

/** What is wrong with it. */
export function whereProblem(where: string): string[] {
	try {
		new WhereParser(where, 0).parse();
		return [];
	} catch (error) {
		if (error instanceof ToolError) return [error.message];
		throw error;
	}
}

export function conditionsIn(where: Where): Condition[] {
	if ("not" in where) return conditionsIn(where.not);
	return "parts" in where ? where.parts.flatMap(conditionsIn) : [where];
}

/** With three values: undefined is unknown. */
export function evaluate(where: Where, is: (condition: Condition) => boolean | undefined): boolean | undefined {
	if ("not" in where) {
		const inner = evaluate(where.not, is);
		return inner === undefined ? undefined : !inner;
	}
	if (!("parts" in where)) return is(where);
	const values = where.parts.map((part) => evaluate(part, is));
	if (values.includes(where.decisive)) return where.decisive;
	return values.includes(undefined) ? undefined : !where.decisive;
}

/** `isOpen`: there may be more than `min`. */
export function compareCount({ by, count }: Pick<Condition, "by" | "count">, min: number, isOpen = false) {
	const isUp = by.startsWith(">");
	const isLess = by === ">=" || by === "<" ? min < count : min <= count;
	if (by === "=") return isOpen && min <= count ? undefined : min === count;
	return isLess && isOpen ? undefined : isLess !== isUp;
}
