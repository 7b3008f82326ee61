// Handles the buttons of requests for approval. Who may decide: people with one of the roles in approval_roles, or with
// Manage Server. Who approves also needs the permissions that the call itself needs, and must not be the requester.

import {
	type ButtonInteraction,
	type GuildMember,
	type Message,
	MessageFlags,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
} from "discord.js";
import type { Log } from "../../lib/log.ts";
import { rootPrincipal } from "../../lib/principal.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import type { Connection } from "../discord/connection/connection.ts";
import { absentIf } from "../discord/find.ts";
import {
	bitsIn,
	describeBits,
	type Permission,
} from "../discord/permissions.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { inlineText, truncate } from "../discord/text.ts";
import { noMentions } from "../messages/split-message.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import type { Store } from "../store/store.ts";
import {
	type ApprovalRow,
	decideApproval,
	selectApproval,
} from "../store/tables/approvals.ts";
import type { BotTool } from "../tool/toolsets.ts";
import { refusalOf } from "./call-preview.ts";
import type { ApprovalSettings } from "./needs-approval.ts";
import { principalOf, readButtonId } from "./request-message.ts";
import { textIn } from "./request-text.ts";
import type { Requests, RequestsOptions } from "./requests.ts";

const { UnknownMember, UnknownUser } = RESTJSONErrorCodes;

/**
 * Maximum length of a reply to the person who pressed a button, in characters. Discord allows messages of at most this
 * length.
 */
const maxReplyLength = 2_000;

export interface ApprovalButtonsOptions
	extends Pick<RequestsOptions, "select" | "now"> {
	settings: ApprovalSettings;
	connection: Connection;
	store: Pick<Store, "sql">;
	requests: Requests;
	log: Log;
}

/**
 * Creates the handler for presses of the buttons "Approve" and "Deny" below a request to approve a tool call. The
 * handler ignores all other buttons and never rejects.
 */
export function createApprovalButtons(
	options: ApprovalButtonsOptions,
): (interaction: ButtonInteraction) => Promise<void> {
	const { settings, connection, requests, log, now = Date.now } = options;
	const { sql } = options.store;

	/**
	 * Approves or denies a tool call, as the person who pressed the button wants. An approved call is run. Returns a text
	 * that tells this person the outcome.
	 */
	async function decide(
		interaction: ButtonInteraction,
		{ decision, id, token }: NonNullable<ReturnType<typeof readButtonId>>,
	): Promise<string> {
		const refusal = refusalFor(interaction, settings);
		if (refusal !== undefined) return refusal;
		const { user } = interaction;
		const row = await selectApproval(sql, id);
		if (!row || requests.isWithdrawn(id))
			return "There is no such request any more. Nothing was done.";
		if (row.token !== token) {
			await requests.retire(row, interaction.message.id).catch(() => {});
			return "What the call would do has changed, and the request was posted again in another message. Nothing was done.";
		}
		const other = decidedText(row, now());
		if (other !== undefined) return other;
		if (decision === "approve") {
			if (isAltered(interaction.message))
				return "This message was changed after the bot posted it, so it may not show what the call would do. Nothing was done. Deny the request; the call can be made again.";
			const problem = await whyNotApprove(row, interaction);
			if (problem !== undefined)
				return `You cannot approve this call: ${problem}`;
		}
		return requests.hold(id, async () => {
			const state = decision === "approve" ? "approved" : "denied";
			const decided = await decideApproval(
				sql,
				{ id, token },
				state,
				user.id,
				now(),
			);
			if (!decided) {
				const current = await selectApproval(sql, id);
				return (
					(current && decidedText(current, now())) ??
					"The request has changed meanwhile. Nothing was done."
				);
			}
			log.info("a person decided on a tool call", {
				approval: id,
				tool: row.tool,
				decision,
				decided_by: user.id,
			});
			if (decision === "deny") {
				requests.settle(decided);
				return `Denied. ${row.tool} is not run.`;
			}
			requests.note(decided, "approved");
			return requests.run(decided, user.globalName ?? user.username);
		});
	}

	/** Returns why the person who pressed the button cannot approve this tool call; undefined if the person can. */
	async function whyNotApprove(
		row: ApprovalRow,
		{ user }: ButtonInteraction,
	): Promise<string | undefined> {
		const requester = principalOf(row);
		if (requester?.person?.id === user.id && !settings.approval_self)
			return "it is made in your name. Another person has to approve it.";
		const guild = connection.guilds.find(({ id }) => id === row.guild_id);
		const member =
			guild &&
			(await absentIf([UnknownMember, UnknownUser], () =>
				guild.members.fetch(user.id),
			));
		if (guild && !member)
			return `you are not a member of ${inlineText(guild.name, 200)}, in which it acts.`;
		const person = {
			id: user.id,
			name: user.globalName ?? user.username,
			signedIn: false,
		};
		const { set, context } = options.select({
			...(requester ?? rootPrincipal),
			person,
		});
		const args = JSON.parse(row.arguments);
		try {
			const { tool, refusal } = set.resolve(row.tool, args);
			if (refusal !== undefined) return refusal;
			const refused = await refusalOf(tool as BotTool, args, context);
			if (refused !== undefined) return textIn(refused);
			return whyNotInRun(tool as BotTool, args, member);
		} catch (error) {
			if (error instanceof RpcError) return error.message;
			throw error;
		}
	}

	/**
	 * Returns which guild-wide permissions a person lacks to approve a call of a tool that checks its permissions only
	 * while it runs; undefined if the person has them, and for other tools.
	 */
	function whyNotInRun(
		tool: BotTool,
		args: Record<string, unknown>,
		member: GuildMember | undefined,
	): string | undefined {
		if (!tool.needs.checkedInRun || tool.needs.isPlanned) return undefined;
		const needed = tool.needs.permissions.flatMap((item): Permission[] => {
			if (typeof item === "string") return [item];
			return args[item.with] ? [item.permission] : [];
		});
		const missing =
			member?.permissions.missing(bitsIn(undefined, needed)) ?? [];
		return missing.length === 0
			? undefined
			: `you lack ${describeBits(bitsIn(undefined, missing))} in the server as a whole.`;
	}

	return async (interaction) => {
		const button = readButtonId(interaction.customId);
		if (!button) return;
		const { id, decision } = button;
		try {
			// Discord allows 3 s to respond. Deferring first: a decision counts only if its outcome can be shown.
			await interaction.deferReply({ flags: MessageFlags.Ephemeral });
			const text = await decide(interaction, button).catch((error) => {
				if (error instanceof StoreUnavailable) return error.message;
				throw error;
			});
			await interaction.editReply({
				content: safeText(text),
				allowedMentions: noMentions,
			});
		} catch (error) {
			const refusal = toToolError(error);
			const fields = { approval: id, decision };
			if (refusal)
				log.warn("could not respond to a press of an approval button", {
					...fields,
					reason: refusal.message,
				});
			else
				log.error(
					"could not handle a press of an approval button: internal error",
					{ ...fields, error },
				);
		}
	};
}

/** Returns why the person who pressed the button may not approve or deny any tool call; undefined if the person may. */
function refusalFor(
	{ user, member, memberPermissions }: ButtonInteraction,
	{ approval_roles }: ApprovalSettings,
): string | undefined {
	if (user.bot) return "Bots cannot decide on requests. Nothing was done.";
	// The roles and permissions in the interaction are current; the cache may be older.
	const roles = !member
		? []
		: Array.isArray(member.roles)
			? member.roles
			: [...member.roles.cache.keys()];
	if (approval_roles)
		return roles.some((role) => approval_roles.includes(role))
			? undefined
			: "Only people with certain roles can decide on this, and you have none of them. Nothing was done.";
	return member && memberPermissions?.has(PermissionFlagsBits.ManageGuild)
		? undefined
		: "Only people with Manage Server can decide on this. Nothing was done.";
}

/**
 * Whether the Discord message that asks for an approval was changed after it was posted: edited with a tool of this
 * bot, or stripped of its embed by people. When the bot itself edits such a message, the message's buttons no longer
 * work.
 */
function isAltered({ editedTimestamp, embeds, flags }: Message): boolean {
	return (
		editedTimestamp !== null ||
		embeds.length !== 1 ||
		flags.has(MessageFlags.SuppressEmbeds)
	);
}

/**
 * Returns a text that says why a tool call can no longer be approved or denied, such as because someone has decided
 * already; undefined if it still can.
 */
function decidedText(row: ApprovalRow, now: number): string | undefined {
	const by = row.decided_by === null ? "" : ` by <@${row.decided_by}>`;
	switch (row.state) {
		case "pending":
			return row.expires_at > now
				? undefined
				: "This request has expired. Nothing was done.";
		case "approved":
		case "running":
			return `This request was approved${by} and is being carried out. Nothing more was done.`;
		case "denied":
			return `This request was denied${by}. Nothing was done.`;
		case "expired":
			return "This request has expired. Nothing was done.";
		case "done":
			return `This request was approved${by} and is done. Nothing more was done.`;
		case "failed":
			return "This request has failed. Nothing more was done.";
		case "unknown":
			return `This request was approved${by}, and the bot was stopped while it carried the call out. It is not run again.`;
	}
}

/**
 * Converts a text to the content of a Discord message: shortens it, and escapes Markdown, links and mentions in all
 * lines but the first.
 */
function safeText(text: string): string {
	const [first = "", ...rest] = text.split("\n");
	const shown =
		rest.length === 0
			? first
			: `${first}\n${inlineText(rest.join(" "), maxReplyLength - 200)}`;
	return truncate(shown, maxReplyLength);
}
