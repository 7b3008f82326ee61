// The changes that AI chat has planned: a message in the bot's own words, with buttons for who asked.

import { ButtonStyle, MessageFlags } from "discord.js";
import { truncate } from "../../../discord/text.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { languageOf, type Say, said, sayIn } from "../../../texts/texts.ts";
import type { AskedCalls, Asker, Carried, PlannedCall, ShownCall } from "../../approval/asked-calls.ts";
import { type ComponentHandler, type ComponentInteraction, callerOf } from "../../commands/components.ts";
import { buttonRow } from "../../messages/buttons.ts";
import { noMentions } from "../../messages/split-message.ts";
import { at } from "../../results/result.ts";
import type { Store } from "../../store/store.ts";
import { type AskedPlan, askedPlanRows } from "../../store/tables/chat.ts";

/** For which a plan can be carried out. */
export const planMs = 15 * 60_000;
/** Of an embed's description: https://docs.discord.com/developers/resources/message#embed-object-embed-limits */
const maxDescription = 4_000;
const prefix = "askplan";

interface PlansOptions {
	store: Store;
	calls: AskedCalls;
	/** What became of the plan of an answer. */
	onDone(answerId: string, done: { userId: string; text: string; isPublic: boolean }): void;
	now(): number;
}

export type Plans = ReturnType<typeof createPlans>;

export type PlanMessage = ReturnType<typeof messageOf>;

export function createPlans({ store: { sql }, calls, onDone, now }: PlansOptions) {
	async function save(asker: Asker, planned: readonly ShownCall[], answerId: string, expiresAt: number) {
		const id = crypto.randomUUID();
		const row = {
			id,
			guild_id: asker.guildId,
			person_id: asker.person.id,
			link: asker.link,
			answer_id: answerId,
			calls: JSON.stringify(planned.map(({ tool, args, basis }): PlannedCall => ({ tool, args, basis }))),
			expires_at: expiresAt,
		};
		await askedPlanRows.insert(sql, [row]);
		return `${id}:${asker.language}`;
	}

	/** Stores the plan. Rejects with StoreUnavailable. */
	async function show(
		asker: Asker,
		planned: readonly ShownCall[],
		given: { answerId: string; expiresAt?: number | undefined; notes?: readonly string[] },
	) {
		const { answerId, expiresAt = now() + planMs, notes = [] } = given;
		const say = sayIn(asker.language);
		const id = planned.length === 0 ? undefined : await save(asker, planned, answerId, expiresAt);
		const when = say("ask.plan.when", { who: `<@${asker.person.id}>`, until: at(expiresAt, "T") });
		const lines = planned.map(({ title, text, needsApproval }) =>
			block(title + (needsApproval ? ` · ${say("ask.plan.approval")}` : ""), text),
		);
		return messageOf(say("ask.plan.title"), [...notes, ...lines, ...(id ? [`-# ${when}`] : [])], id, say);
	}

	async function press(interaction: ComponentInteraction & { guildId: string }, rest: string): Promise<void> {
		if (!interaction.isButton()) return;
		await interaction.deferUpdate();
		const { user, guildId } = interaction;
		// What is there stays in the language in which it was planned.
		const [action, id = "", language] = rest.split(":");
		const say = sayIn(language);
		const end = (text: string) => interaction.editReply(messageOf(text, [], undefined, say));
		const row = await askedPlanRows.first(sql, { id });
		if (!row || row.guild_id !== guildId || row.expires_at < now()) return void (await end(say("ask.plan.gone")));
		if (row.person_id !== user.id) throw new SaidError(said("ask.others", { who: `<@${row.person_id}>` }));
		const asker = { ...callerOf(interaction), link: row.link, language: languageOf(language) };
		const planned: PlannedCall[] = JSON.parse(row.calls);
		const shown = action === "do" ? await calls.show(asker, planned) : [];
		if (!(await askedPlanRows.delete(sql, row))) return void (await end(say("ask.plan.gone")));
		if (action !== "do") return void (await end(say("ask.plan.cancelled")));
		const current = shown.filter((one) => typeof one === "object");
		if (current.length < shown.length || current.some(({ basis }, index) => basis !== planned[index]?.basis)) {
			const refusals = shown.filter((one) => typeof one === "string");
			const { answer_id: answerId, expires_at: expiresAt } = row;
			const given = { answerId, expiresAt, notes: [say("ask.plan.changed"), ...refusals] };
			return void (await interaction.editReply(await show(asker, current, given)));
		}
		await carryOut(interaction, asker, current, row, say);
	}

	async function carryOut(
		interaction: ComponentInteraction,
		asker: Asker,
		planned: readonly ShownCall[],
		{ answer_id }: AskedPlan,
		say: Say,
	): Promise<void> {
		await interaction.editReply(messageOf(say("ask.plan.running"), [], undefined, say));
		const carried: (Carried & { title: string })[] = [];
		// One after another, as planned: a later one may need an earlier one.
		for (const call of planned) carried.push({ title: call.title, ...(await calls.run(asker, call)) });
		const results = carried.map(({ title, text }) => block(title, text));
		const isPublic = !interaction.message?.flags.has(MessageFlags.Ephemeral);
		onDone(answer_id, { userId: asker.person.id, text: results.join("\n"), isPublic });
		await interaction.editReply(messageOf(titleOf(carried, say), results, undefined, say));
	}

	const component: ComponentHandler = { prefix, run: press };
	return { show, component };
}

function titleOf(carried: readonly Carried[], say: Say): string {
	const count = (which: Carried["outcome"]) => carried.filter(({ outcome }) => outcome === which).length;
	const others = (["failed", "unknown", "waiting"] as const).filter((one) => count(one) > 0);
	if (others.length === 0) return say("ask.plan.done");
	const done = say("ask.plan.done.some", { done: count("done"), count: carried.length });
	return [done, ...others.map((one) => say(`ask.plan.${one}`, { count: count(one) }))].join(" · ");
}

const block = (title: string, text: string) => `**${title}**\n${text}`;

/** What does not fit into the message is in a file. */
function messageOf(title: string, lines: readonly string[], id: string | undefined, say: Say) {
	const whole = lines.join("\n");
	const isLong = whole.length > maxDescription;
	const buttons = [
		{ id: `${prefix}:do:${id}`, label: say("answer.do_it.button"), style: ButtonStyle.Success },
		{ id: `${prefix}:cancel:${id}`, label: say("answer.cancel.button"), style: ButtonStyle.Secondary },
	] as const;
	return {
		content: "",
		embeds: [{ title, ...(whole !== "" && { description: truncate(whole, maxDescription) }) }],
		components: id === undefined ? [] : [buttonRow(buttons)],
		files: isLong ? [{ name: "plan.txt", attachment: Buffer.from(whole) }] : [],
		allowedMentions: noMentions,
	};
}
