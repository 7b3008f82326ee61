// Runs actions for people on Discord: calls the tool in their name and formats the result. Asks for confirmation first if
// the action requires it.

import { LruMap } from "../../lib/lru-map.ts";
import { SaidError } from "../../texts/said-error.ts";
import { languageOf, render, sayIn } from "../../texts/texts.ts";
import type { CallAs, PersonCall, PersonResult } from "../tool/call-as.ts";
import { type Action, announceOption } from "./action.ts";
import type { Ran } from "./limits.ts";
import { type Page, paged } from "./pages.ts";
import { type CommandPlace, threadTool, toToolCall, type Values } from "./tool-call.ts";

export interface Place extends CommandPlace {
	guildId: string;
	person: PersonCall["person"];
	/** Such as "/ban" or "!m ban", for logs and the audit log. */
	command: string;
	/** The person's, if only the person sees the answer; else the guild's. */
	locale: string;
}

/** `question`: id of the pending action that the text asks to confirm. */
export interface Answer {
	text: string;
	question?: string;
	page?: Page;
	/** Must arrive byte for byte: split inside words. */
	isVerbatim?: boolean | undefined;
}

const maxQuestions = 1_000;
/** In which a person can confirm. */
const questionMs = 5 * 60_000;

interface Question {
	call: PersonCall;
	endsAt: number;
}

/** "answered": before. "gone": expired, or the bot was restarted. */
type Settled = { state: "done"; text: string } | { state: "answered" | "gone" };

export type Perform = ReturnType<typeof createPerform>;

export function createPerform(callAs: CallAs) {
	const questions = new LruMap<string, Question | "answered">(maxQuestions);

	/** Undefined if it has expired. */
	function questionOf(id: string): Question | "answered" | undefined {
		const found = questions.get(id);
		return found === "answered" || (found && found.endsAt > performance.now()) ? found : undefined;
	}

	async function run(call: PersonCall, action?: Action, values: Values = new Map()): Promise<Ran<Answer>> {
		const result = await callAs(call);
		const ran = ranOf(result, call);
		return action && result.pages
			? { ...ran, answer: paged(action, values, call, { ...result, ...result.pages }) }
			: ran;
	}

	async function preview({ limitTo }: Action, call: PersonCall): Promise<Ran<Answer>> {
		const { args } = call;
		const result = await callAs({ ...call, args: { ...args, dry_run: true } });
		const ran = ranOf(result, call);
		if (ran.isMistake) return ran;
		const limited = limitTo ? limitTo(args, result.basis ?? []) : args;
		if (!limited || !result.asks) return ran;
		const text = `${result.text}\n${sayIn(call.locale)("result.nothing_yet")}`;
		const question = crypto.randomUUID();
		questions.set(question, { call: { ...call, args: limited }, endsAt: performance.now() + questionMs });
		return { ...ran, answer: { text, question } };
	}

	return {
		async perform(
			action: Action,
			values: Values,
			{ guildId, person, command, locale, ...place }: Place,
		): Promise<Ran<Answer>> {
			let call: PersonCall;
			try {
				const { args, ...toCall } = toToolCall(action, values, place);
				const { [announceOption.argument]: announces = action.announces, ...given } = args;
				const announceFrom = announces ? place.channelId : undefined;
				call = { guildId, person, command, locale, ...toCall, args: given, announceFrom };
			} catch (error) {
				if (!(error instanceof SaidError)) throw error;
				return { answer: { text: render(error.said, languageOf(locale)) }, isMistake: true };
			}
			const ran = action.confirm?.(call.args) ? await preview(action, call) : await run(call, action, values);
			const [wantsNews] = values.get(announceOption.name) ?? [];
			if (!ran.isMistake && wantsNews && call.tool === threadTool)
				return { ...ran, answer: { text: `${ran.answer.text}\n${sayIn(locale)("announced.thread")}` } };
			if (!ran.isMistake) return ran;
			const text = withOptionName(action, ran.answer.text);
			return { ...ran, answer: { text } };
		},
		askedBy(question: string): string | undefined {
			const asked = questionOf(question);
			return asked === "answered" ? undefined : asked?.call.person.id;
		},
		/** Works once per question; cancels unless `yes`. */
		async answer(question: string, yes: boolean): Promise<Settled> {
			const asked = questionOf(question);
			if (asked === "answered" || !asked) return { state: asked ?? "gone" };
			questions.set(question, "answered");
			if (!yes) return { state: "done", text: sayIn(asked.call.locale)("result.nothing") };
			const { answer } = await run(asked.call);
			return { state: "done", text: answer.text };
		},
	};
}

function withOptionName({ options }: Action, text: string): string {
	const [, argument, rest = ""] = /^([a-z_\\]+)(: expected[\s\S]*)$/.exec(text) ?? [];
	const name = argument?.replaceAll("\\", "");
	const option = options.find((one) => one.argument === name);
	return option ? `${option.name}${rest}` : text;
}

function ranOf({ text, isError, wrote }: PersonResult, { locale }: PersonCall): Ran<Answer> {
	return {
		answer: { text: text || sayIn(locale)(isError ? "result.failed" : "result.done") },
		isMistake: isError && !wrote,
	};
}
