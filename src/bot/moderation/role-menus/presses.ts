// Handles presses in role menus (pressed buttons and used select menus). All checks are made when the press is handled,
// with the member's current roles.

import { type APIMessage, type Guild, type Message, Routes } from "discord.js";
import { roleIds } from "../../../discord/members/member-filter.ts";
import { whyReadOnly } from "../../../discord/permissions.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { isOutcomeUnknown, observeRateLimit } from "../../../discord/rest/rest.ts";
import { menuPrefix, readMenu, readMenuId, roleIdIn } from "../../../discord/role-menu.ts";
import { auditReason } from "../../../discord/text.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said, sayIn } from "../../../texts/texts.ts";
import { deferPrivately } from "../../commands/answer.ts";
import type { ComponentHandler, ComponentInteraction } from "../../commands/components.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import type { IsRestricted } from "../../commands/role-writer.ts";
import { noMentions } from "../../messages/split-message.ts";
import { type Change, type Choice, changeFor, describeChange, type ReservedRoles } from "./choice.ts";
import type { PressQueue } from "./press-queue.ts";

interface PressOptions extends Pick<FeatureOptions, "connection" | "mutex" | "log"> {
	isRestricted: IsRestricted;
	reserved: ReservedRoles;
	queue: PressQueue;
	/** Called after each press, because the labels in the role menu's message may be outdated. */
	onPressed(message: Message): void;
}

type Press = ComponentInteraction & { guildId: string; message: Message };

export function createPressHandler(options: PressOptions): ComponentHandler {
	const { connection, mutex, isRestricted, reserved, queue, log, onPressed } = options;

	async function carryOut({ guildId, user, message }: Press, choice: Choice): Promise<Change> {
		const guild = connection.guild(guildId);
		if (!guild?.available) throw new SaidError(said("menu.unavailable"));
		return mutex.withLock(user.id, async () => {
			// The interaction has the roles from before the wait, and the cache may not have the latest press yet.
			const member = await guild.members.fetch({ user: user.id, force: true });
			const roles = [...member[roleIds]];
			const limit = whyReadOnly(member);
			if (limit) throw limit;
			if (await isRestricted(guildId, user.id, roles)) throw new SaidError(said("menu.restricted"));
			const shown = message.components.map((one) => one.toJSON());
			const rules = readMenu(shown as APIMessage["components"]);
			if (!rules) throw new SaidError(notAMenu);
			// A request of unknown outcome that Discord executes late could undo a newer choice or exceed the menu's limit.
			queue.requireSettled(guildId, user.id);
			const change = changeFor(guild, rules, choice, roles, reserved);
			await observeRateLimit(
				(state) => queue.note(guildId, state),
				() => write(guild, user.id, roles, change, message.id),
			).catch((error) => {
				if (isOutcomeUnknown(error)) queue.hold(guildId, user.id);
				throw error;
			});
			return change;
		});
	}

	async function answer(press: Press, change: Change): Promise<void> {
		try {
			await press.editReply({ content: describeChange(change, sayIn(press.locale)), allowedMentions: noMentions });
		} catch (error) {
			// The roles were changed already, so the member must not get an error that says "Nothing was done".
			const refusal = toToolError(error);
			if (!refusal) throw error;
			log.warn("could not answer a press in a role menu", {
				guild: press.guildId,
				user: press.user.id,
				reason: refusal.message,
			});
		}
	}

	return {
		prefix: menuPrefix,
		async run(interaction, rest) {
			const { press, choice } = readPress(interaction, rest);
			const place = queue.enter(press.guildId, press.user.id);
			try {
				// Discord allows 3 s for a response. The response is deferred before roles change, so that the result can be
				// shown.
				// https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-callback
				await deferPrivately(press);
				await place.turn();
				const change = await carryOut(press, choice);
				await answer(press, change);
			} finally {
				place.leave();
				onPressed(press.message);
			}
		},
	};
}

const notAMenu = said("menu.unknown");

function readPress(
	interaction: ComponentInteraction & { guildId: string },
	rest: string,
): { press: Press; choice: Choice } {
	const id = readMenuId(rest);
	const { message, client } = interaction;
	// Anyone with the URL of a webhook that the bot created can post components with any custom_id.
	// https://discord.com/developers/docs/resources/webhook#execute-webhook
	const isOwn = message?.author.id === client.user.id;
	if (!id || !isOwn) throw new SaidError(notAMenu);
	const press = interaction as Press;
	if (interaction.isButton() && id.roleId !== undefined) return { press, choice: { pressed: id.roleId } };
	if (!interaction.isStringSelectMenu() || id.roleId !== undefined) throw new SaidError(notAMenu);
	const values = interaction.values.map((value) => roleIdIn(value) ?? "");
	return { press, choice: { selected: [...new Set(values)] } };
}

async function write(
	guild: Guild,
	userId: string,
	roles: readonly string[],
	{ add, remove }: Change,
	messageId: string,
): Promise<void> {
	const { rest } = guild.client;
	const reason = auditReason(`chosen by the member in role menu ${messageId}`);
	const [added] = add;
	const [removed] = remove;
	if (add.length + remove.length > 1) {
		const kept = roles.filter((id) => !remove.includes(id));
		const body = { roles: [...kept, ...add] };
		await rest.patch(Routes.guildMember(guild.id, userId), { body, reason });
	} else if (added !== undefined) await rest.put(Routes.guildMemberRole(guild.id, userId, added), { reason });
	else if (removed !== undefined) await rest.delete(Routes.guildMemberRole(guild.id, userId, removed), { reason });
}
