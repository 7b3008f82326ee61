// Role menus: messages with buttons or a select menu by which members give themselves roles. Part of the feature
// `moderation`. Presses are not recorded as moderation cases, because no moderator acts.

import { type APIMessage, type Guild, type Message, Routes } from "discord.js";
import { roleIds } from "../../../discord/members/member-filter.ts";
import { whyReadOnly } from "../../../discord/permissions.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { inBackground, isOutcomeUnknown, observeRateLimit } from "../../../discord/rest/rest.ts";
import { menuPrefix, readMenu, readMenuId, refreshed, roleIdIn } from "../../../discord/role-menu.ts";
import { auditReason } from "../../../discord/text.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { Pending, within } from "../../../lib/wait.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said, sayIn } from "../../../texts/texts.ts";
import { deferPrivately } from "../../commands/answer.ts";
import type { ComponentHandler, ComponentInteraction } from "../../commands/components.ts";
import { Limiter } from "../../commands/cooldown.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import { type GuildLimits, GuildSemaphores } from "../../commands/guild-semaphores.ts";
import { createIsRestricted, RateShare } from "../../commands/role-writer.ts";
import { noMentions } from "../../messages/split-message.ts";
import { type Change, type Choice, changeFor, describeChange, type ReservedRoles, reservedRoles } from "./choice.ts";
import { createMenuBuilder } from "./menu-builder.ts";
import { createMenuTool } from "./menu-tool.ts";

type RoleMenus = Required<Pick<Feature, "tools" | "menus" | "components" | "close">>;

export function createRoleMenus(options: FeatureOptions, limits = defaultPressLimits): RoleMenus {
	const reserved = reservedRoles(options.settings);
	const closing = new AbortController();
	const running = new Pending();
	const onPressed = createMenuRefresh({ ...options, running });
	const presses = createPressHandler({ ...options, reserved, limits, closing: closing.signal, onPressed });
	const builder = createMenuBuilder(options);
	return {
		tools: [createMenuTool(reserved)],
		menus: [builder.menu],
		components: [
			{ prefix: presses.prefix, run: (interaction, rest) => running.add(presses.run(interaction, rest)) },
			builder.component,
		],
		async close() {
			closing.abort(new SaidError(said("menu.restarting")));
			await running.settled();
		},
	};
}

/**
 * After a press, edits a menu whose roles were renamed or deleted. The bot has no list of menus, so a menu that nobody
 * uses keeps its labels.
 */
function createMenuRefresh({ mutex, log, running }: Pick<FeatureOptions, "mutex" | "log"> & { running: Pending }) {
	const attempts = new Limiter({ max: 1, windowMs: 60_000 });

	async function edit(guild: Guild, { id, channelId }: Message): Promise<void> {
		const { rest } = guild.client;
		const route = Routes.channelMessage(channelId, id);
		// A moderator may have replaced the menu since the press.
		const { components } = (await rest.get(route)) as APIMessage;
		const current = refreshedIn(guild, components);
		if (!current) return;
		// Without allowed_mentions, Discord would parse the mentions in the existing text again.
		const body = { components: current, allowed_mentions: { parse: [] } };
		await rest.patch(route, { body });
	}

	/** Edits the message of a role menu in the background if its labels are outdated. Never throws. */
	return (message: Message): void => {
		const { id, guild } = message;
		if (!guild) return;
		const isCurrent = !refreshedIn(guild, message.components.map((one) => one.toJSON()) as Components);
		if (isCurrent || !attempts.accepts(id)) return;
		const work = mutex.withLock(id, () => inBackground(() => edit(guild, message)));
		void running.add(work.catch((error) => logFailure({ guild: guild.id, message: id }, error)));
	};

	function logFailure(fields: Record<string, string>, error: unknown): void {
		const reason = toToolError(error)?.message;
		if (reason === undefined) log.error("could not update a role menu: internal error", { ...fields, error });
		else log.warn("could not update a role menu", { ...fields, reason });
	}
}

type Components = APIMessage["components"];

function refreshedIn(guild: Guild, components: Components) {
	return refreshed(components, (id) => guild.roles.cache.get(id)?.name);
}

interface PressOptions extends FeatureOptions {
	reserved: ReservedRoles;
	limits: PressLimits;
	/** Its reason is for people. */
	closing: AbortSignal;
	/** Called after each press, because the labels in the role menu's message may be outdated. */
	onPressed(message: Message): void;
}

type Press = ComponentInteraction & { guildId: string; message: Message };

/** All checks are made when the press is handled, with the member's current roles. */
function createPressHandler(options: PressOptions): ComponentHandler {
	const { connection, mutex, reserved, limits, closing, log, onPressed } = options;
	const isRestricted = createIsRestricted(options);
	const semaphores = new GuildSemaphores(limits);
	const shares = new LruMap<string, RateShare>(maxGuilds);
	/** By guild and person: until when presses are refused. */
	const held = new LruMap<string, number>(maxHeld);

	const shareOf = (guildId: string) => shares.getOrMake(guildId, () => new RateShare());

	/** Returns when the press may be carried out. Rejects with a SaidError if too many wait, or at the shutdown. */
	async function enter({ guildId, user }: Press, left: AbortSignal): Promise<() => void> {
		const signal = AbortSignal.any([closing, left]);
		const release = await semaphores.acquire(guildId, user.id, signal);
		if (typeof release === "string") throw new SaidError(said(release === "own" ? "menu.busy.own" : "menu.busy"));
		if (await shareOf(guildId).ready(signal, limits.maxWaitMs)) return release;
		release();
		signal.throwIfAborted();
		throw new SaidError(said("menu.busy"));
	}

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
			const rules = readMenu(message.components.map((one) => one.toJSON()) as APIMessage["components"]);
			if (!rules) throw new SaidError(notAMenu);
			// A request of unknown outcome that Discord executes late could undo a newer choice or exceed the menu's limit.
			const key = `${guildId} ${user.id}`;
			if ((held.get(key) ?? 0) > performance.now()) throw new SaidError(said("menu.unsettled"));
			const change = changeFor(guild, rules, choice, roles, reserved);
			await observeRateLimit(
				(state) => shareOf(guildId).note(state),
				() => write(guild, user.id, roles, change, message.id),
			).catch((error) => {
				if (isOutcomeUnknown(error)) held.set(key, performance.now() + limits.holdMs);
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
			const left = new AbortController();
			const entered = enter(press, left.signal);
			// Who cannot wait is told with one request.
			await within(0, entered);
			try {
				// Discord allows 3 s for a response. The response is deferred before roles change, so that the result can be
				// shown.
				// https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-callback
				await deferPrivately(press);
				await entered;
				await answer(press, await carryOut(press, choice));
			} finally {
				left.abort();
				entered.then(
					(release) => release(),
					() => {},
				);
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
		const body = { roles: [...roles.filter((id) => !remove.includes(id)), ...add] };
		await rest.patch(Routes.guildMember(guild.id, userId), { body, reason });
	} else if (added !== undefined) await rest.put(Routes.guildMemberRole(guild.id, userId, added), { reason });
	else if (removed !== undefined) await rest.delete(Routes.guildMemberRole(guild.id, userId, removed), { reason });
}

interface PressLimits extends GuildLimits {
	/**
	 * How long a member's presses are refused after a request to change the member's roles had an unknown outcome, in
	 * milliseconds. Discord may still execute that request after a later one. The duration is a guess.
	 */
	holdMs: number;
}

/** Discord accepts responses to an interaction for 15 minutes. */
export const defaultPressLimits: PressLimits = {
	max: 3,
	maxWaiting: 60,
	maxOwnWaiting: 2,
	maxWaitMs: 60_000,
	holdMs: 60_000,
};

const maxHeld = 1_000;
const maxGuilds = 1_000;
