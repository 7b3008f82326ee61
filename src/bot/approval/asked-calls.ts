// Tool calls of the AI in chat, in the name of who asks. A call that reads runs at once. A call that changes something is only
// planned: it runs when the person presses the button under its plan, if it would still do the same.

import type { GuildMember } from "discord.js";
import type { ToolSpec } from "../../ai/ai.ts";
import { bitsIn, type Permission } from "../../discord/permissions.ts";
import type { ItemOutcome } from "../../discord/rest/rest.ts";
import { escapeInvisible, withoutTokens } from "../../discord/text.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import type { Signal } from "../../lib/signal.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import type { Selection } from "../../mcp/server.ts";
import { textIn } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { type Language, render, said } from "../../texts/texts.ts";
import { forPeople } from "../results/result.ts";
import { allGrantedBits, grantedBits } from "../settings/grants.ts";
import type { GuildSettings } from "../settings/guild-settings.ts";
import { chatIdStart } from "../tool/admission.ts";
import type { AuditedCall } from "../tool/audit.ts";
import { forPerson, recordedCall, withGuild } from "../tool/call-as.ts";
import { outcomeOf } from "../tool/case-record.ts";
import type { BotContext, BotTool } from "../tool/context.ts";
import { withoutNames } from "../tool/named-calls.ts";
import type { Preview } from "../tool/review.ts";
import { accessors } from "../tool/search/offered-tools.ts";
import { toolTitle } from "../tool/titles.ts";
import type { Approval } from "./approval.ts";
import { digest, previewCall } from "./call-preview.ts";
import { mentionsIn } from "./request-message.ts";

/**
 * Who asks, and the address of the question on Discord. `language`: in which they read plans and results. `hides`: whose messages
 * the model must not read.
 */
export interface Asker {
	guildId: string;
	person: { id: string; name: string };
	link: string;
	language: Language;
	hides?: (userId: string) => boolean;
}

/** A call that waits for a press. `basis`: a hash of what it would do. */
export interface PlannedCall {
	tool: string;
	args: JsonObject;
	basis: string;
}

/** `text`: the plan, for people. */
export interface ShownCall extends PlannedCall {
	title: string;
	text: string;
	needsApproval: boolean;
}

/** `text`: for the model. */
type Called = { text: string; planned?: ShownCall };

/** `text`: for people. "waiting": for an approval. */
export interface Carried {
	text: string;
	outcome: "done" | "failed" | "unknown" | "waiting";
}

interface AskedCallsOptions {
	record(call: AuditedCall): void;
	settings: GuildSettings;
	log: Log;
}

interface Begun {
	select(principal: Principal): Selection<BotContext>;
	approval: Pick<Approval, "needs" | "request"> | undefined;
}

/** Offered by name, if the person may use them; all others are found with find_tools. */
const shortList: ReadonlySet<string> = new Set([
	accessors.find,
	accessors.read,
	accessors.use,
	"search_messages",
	"get_recent_messages",
	"list_members",
	"get_member",
	"list_channels",
	"list_roles",
	"list_cases",
	"get_audit_log",
]);

const givenByBot = ["guild_id", "guild_ids", "instance", "dry_run"];
/** The plan that it stands for is shown. */
const notShown = [...givenByBot, "plan_hash"];
/** In plans and results. */
const forModelsOnly =
	/^(?:plan_hash=|Estimated time: |Nothing was changed\. |Counts as destructive: ).*\n?|^Plan for .* \(ID: \d+\): | \(ID: \d{17,20}\)| \| ID: \d{17,20}|, plan\\?_hash=\w+/gm;

export const askedClient = "AI chat";

/** Works once `begin` was called. */
export class AskedCalls {
	#begun: Begun | undefined;

	constructor(private readonly options: AskedCallsOptions) {}

	begin(begun: Begun): void {
		this.#begun = begun;
	}

	#select({ guildId, person, link, hides }: Asker): Selection<BotContext> {
		if (!this.#begun) throw new Error("the bot has no tools yet");
		const { set, context } = this.#begun.select({
			id: `${chatIdStart}${guildId}`,
			name: `${askedClient}, ${link}`,
			person: { ...person, signedIn: false },
			access: "all",
			guilds: [guildId],
		});
		return { set, context: { ...context, hidesTextsOf: hides } };
	}

	/** What the member may use at all, before anything that people wrote is read. */
	tools(asker: Asker, member: GuildMember): ToolSpec[] {
		const mayChange = this.mayChange(asker, member);
		const { listed } = this.#select(asker).context.self;
		return listed
			.filter(({ name }) => shortList.has(name) && (mayChange || name !== accessors.use))
			.filter(({ needs }) => this.#mayUse(needs, member))
			.map(({ name, listing }) => {
				const { properties, ...schema } = listing.inputSchema;
				const own = Object.entries(Object(properties)).filter(([key]) => !givenByBot.includes(key));
				const parameters = { ...schema, properties: Object.fromEntries(own) };
				return { name, description: String(listing.description), parameters };
			});
	}

	/** Whether the member has a permission that others lack and that a tool which changes something needs. */
	mayChange(asker: Asker, member: GuildMember): boolean {
		const { context } = this.#select(asker);
		const needed = context.self.tools.flatMap(({ effect, needs }) => (effect === "read" ? [] : plainNeeds(needs)));
		const held = member.permissions.bitfield & ~member.guild.roles.everyone.permissions.bitfield;
		return ((held | allGrantedBits(this.options.settings, member)) & bitsIn(undefined, needed)) !== 0n;
	}

	#mayUse(needs: BotTool["needs"], member: GuildMember): boolean {
		const granted = grantedBits(this.options.settings, member, needs.person?.may);
		const lacking = bitsIn(undefined, plainNeeds(needs)) & ~granted;
		return member.permissions.has(lacking & ~bitsIn(undefined, ["ViewChannel", "ReadMessageHistory"]));
	}

	/** Never rejects, but for an abort. */
	async call(asker: Asker, name: string, given: JsonObject, member: GuildMember, signal: Signal): Promise<Called> {
		const { record } = this.options;
		try {
			const { tool, context, args: named } = this.#resolve(asker, name, given);
			const args = await withoutNames(tool, named, context, signal);
			if (tool.effect === "read") {
				const where = { record, client: context.principal?.name ?? "", guildId: asker.guildId, signal };
				const { result, error } = await recordedCall(tool, args, context, where);
				if (result === undefined) throw error;
				return { text: withoutTokens(textIn(result)) };
			}
			if (!this.mayChange(asker, member))
				return { text: `${tool.name} changes something, and the person who asks has no right to do that.` };
			const planned = await this.#plan(asker, tool.name, args, signal);
			return { text: `Planned, not done. The person sees this plan and decides:\n${planned.text}`, planned };
		} catch (error) {
			const isKnown = error instanceof RpcError || error instanceof ToolError;
			return { text: isKnown ? withoutTokens(error.message) : this.#failed(asker, name, error).text };
		}
	}

	/** What the calls would do now. A text tells people why a call cannot be done. */
	async show(asker: Asker, calls: readonly PlannedCall[]): Promise<(ShownCall | string)[]> {
		const shown: (ShownCall | string)[] = [];
		for (const { tool, args } of calls)
			shown.push(await this.#plan(asker, tool, args).catch((error) => this.#failed(asker, tool, error).text));
		return shown;
	}

	/** Does what `show` has just shown, or asks for approval. Never rejects. */
	async run(asker: Asker, call: ShownCall): Promise<Carried> {
		return this.#run(asker, call).catch((error) => this.#failed(asker, call.tool, error));
	}

	async #run(asker: Asker, { tool: name, args: given, basis, needsApproval }: ShownCall): Promise<Carried> {
		const { record, log } = this.options;
		const { language } = asker;
		const { tool, args, context } = this.#resolve(asker, name, given);
		const review = (preview: Preview) => {
			if (hashOf(preview) !== basis) throw new SaidError(said("ask.changed_late"));
		};
		const approval = this.#begun?.approval;
		if (approval && needsApproval) {
			const call = { tool, args, context, signal: undefined, client: askedClient, requestId: undefined };
			const row = await approval.request(call);
			if (typeof row === "string") throw new ToolError(textIn(row));
			return { text: render(said("ask.approval", { channel: `<#${row.channel_id}>` }), language), outcome: "waiting" };
		}
		const where = { record, client: context.principal?.name ?? "", guildId: asker.guildId };
		const outcomes = new Set<ItemOutcome>();
		const onItem = (_: string, outcome: ItemOutcome) => outcomes.add(outcome);
		const ended = await recordedCall(tool, args, { ...context, review, onItem }, where);
		if (ended.output === undefined) outcomes.add(outcomeOf(ended.error));
		const outcome = outcomes.has("unknown") ? "unknown" : outcomes.has("not done") ? "failed" : "done";
		return { text: forPerson(name, ended, language, log).replace(forModelsOnly, ""), outcome };
	}

	/** Throws a ToolError if the call is refused. */
	#resolve(asker: Asker, name: string, given: JsonObject) {
		const { set, context } = this.#select(asker);
		const own = Object.entries(given).filter(([key]) => !givenByBot.includes(key));
		const { tool, args, refusal } = set.resolve(name, Object.fromEntries(own));
		if (refusal !== undefined) throw new ToolError(refusal);
		const whole = withGuild(tool, args, asker.guildId);
		const { dry_run } = (tool.listing.inputSchema.properties ?? {}) as JsonObject;
		return { tool, args: dry_run === undefined ? whole : { ...whole, dry_run: false }, context };
	}

	async #plan(asker: Asker, name: string, given: JsonObject, signal?: Signal): Promise<ShownCall> {
		const { tool, args, context } = this.#resolve(asker, name, given);
		const preview = await previewCall(tool, args, context, signal);
		if ("result" in preview)
			throw preview.failure instanceof SaidError ? preview.failure : new ToolError(textIn(preview.result));
		const [, plan_hash = args.plan_hash] = /^plan_hash=(\w+)$/.exec(preview.basis[0] ?? "") ?? [];
		const lines = preview.lines?.join("\n") ?? "";
		if (plan_hash && lines.includes("\nThere is nothing to do.")) throw new ToolError(lines);
		const { reason } = args;
		// A call that shows another plan than its own becomes the one that carries that out.
		if (plan_hash !== args.plan_hash)
			return this.#plan(asker, name, { ...(reason ? { reason } : {}), plan_hash }, signal);
		const { language, guildId } = asker;
		const needsApproval = this.#begun?.approval?.needs(tool, args, context.principal, preview.effect) ?? false;
		if (needsApproval && this.options.settings.of(guildId)["approval.channel"] === undefined)
			throw new SaidError(said("ask.no-approval-channel"));
		return {
			tool: tool.name,
			args,
			basis: hashOf(preview),
			title: render(toolTitle(tool.name, tool.listing.title), language),
			text: withoutTokens(planText(preview, args, language)),
			needsApproval,
		};
	}

	#failed({ language }: Asker, tool: string, error: unknown): Carried {
		return { text: forPerson(tool, { outcome: "failed", error }, language, this.options.log), outcome: "failed" };
	}
}

function plainNeeds({ permissions, person }: BotTool["needs"]): Permission[] {
	return [...permissions, ...(person?.permissions ?? [])].flatMap((one) => {
		if (typeof one === "string") return [one];
		return "inGuild" in one ? [one.permission] : [];
	});
}

const hashOf = ({ basis }: Preview) => digest(basis);

/** What the tool says for people, and in blocks the arguments that it does not name, and a plan of several lines. */
function planText({ lines = [], shown = [], names = [] }: Preview, args: JsonObject, language: Language): string {
	const people = [shown].flat().filter((part) => typeof part === "object");
	const mentions = names.length > 0 ? mentionsIn(args) : [];
	const others = names.filter((line) => !mentions.some((one) => line.includes(one.replace(/\D/g, ""))));
	const text = [mentions.join(" "), forPeople([...others, ...people], language)].join("\n").trim();
	const named = new Set<unknown>(text.match(/(?<=(?<!\\)<[@#&]+|ID: )\d+(?=[>)])/g));
	const isNamed = (ids: readonly unknown[]) => ids.length > 0 && ids.every((id) => named.has(id));
	const left = Object.entries(args).filter(([key, value]) => !notShown.includes(key) && !isNamed([value].flat()));
	const plan = people.length > 0 && !lines.join("\n").includes("\n") ? "" : lines.join("\n").replace(forModelsOnly, "");
	// As JSON, which keeps a text in its line.
	const given = left.map(([key, value]) => `${key.replaceAll("_", " ")}: ${JSON.stringify(value, null, 2)}`);
	const blocks = [given.join("\n"), plan.trimEnd()].filter((block) => block !== "");
	const fenced = blocks.map((block) => `\`\`\`diff\n${escapeInvisible(block).replaceAll("`", "ˋ")}\n\`\`\``);
	return [text, ...fenced].join("\n").trim();
}
