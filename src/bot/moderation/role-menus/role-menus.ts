// Role menus: messages with buttons or a select menu by which members give themselves roles. Part of the feature
// `moderation`. Presses are not recorded as moderation cases, because no moderator acts.

import { setTimeout as sleep } from "node:timers/promises";
import { type APIMessage, type Guild, type Message, Routes } from "discord.js";
import { roleIds } from "../../../discord/members/member-filter.ts";
import { whyReadOnly } from "../../../discord/permissions.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { inBackground, isOutcomeUnknown, observeRateLimit, type RateLimitState } from "../../../discord/rest/rest.ts";
import { menuPrefix, readMenu, readMenuId, refreshed, roleIdIn } from "../../../discord/role-menu.ts";
import { auditReason } from "../../../discord/text.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { Overloaded, Semaphore } from "../../../lib/semaphore.ts";
import { Pending } from "../../../lib/wait.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said, sayIn } from "../../../texts/texts.ts";
import { deferPrivately } from "../../commands/answer.ts";
import type { ComponentHandler, ComponentInteraction } from "../../commands/components.ts";
import { Limiter } from "../../commands/cooldown.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import { createIsRestricted, type IsRestricted, RateShare } from "../../commands/role-writer.ts";
import { noMentions } from "../../messages/split-message.ts";
import { type Change, type Choice, changeFor, describeChange, type ReservedRoles, reservedRoles } from "./choice.ts";
import { createMenuBuilder } from "./menu-builder.ts";
import { createMenuTool } from "./menu-tool.ts";

type RoleMenus = Required<Pick<Feature, "tools" | "menus" | "components" | "close">>;

export function createRoleMenus(options: FeatureOptions, limits?: PressLimits): RoleMenus {
	const { connection, mutex, log } = options;
	const reserved = reservedRoles(options.settings);
	const queue = new PressQueue(limits);
	const running = new Pending();
	const presses = createPressHandler({
		connection,
		mutex,
		isRestricted: createIsRestricted(options),
		reserved,
		queue,
		log,
		onPressed: createMenuRefresh({ mutex, log, running }),
	});
	const builder = createMenuBuilder(options);
	return {
		tools: [createMenuTool(reserved)],
		menus: [builder.menu],
		components: [
			{ prefix: presses.prefix, run: (interaction, rest) => running.add(presses.run(interaction, rest)) },
			builder.component,
		],
		async close() {
			queue.close();
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

interface PressOptions extends Pick<FeatureOptions, "connection" | "mutex" | "log"> {
	isRestricted: IsRestricted;
	reserved: ReservedRoles;
	queue: PressQueue;
	/** Called after each press, because the labels in the role menu's message may be outdated. */
	onPressed(message: Message): void;
}

type Press = ComponentInteraction & { guildId: string; message: Message };

/** All checks are made when the press is handled, with the member's current roles. */
function createPressHandler(options: PressOptions): ComponentHandler {
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
			const rules = readMenu(message.components.map((one) => one.toJSON()) as APIMessage["components"]);
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
				await answer(press, await carryOut(press, choice));
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
		const body = { roles: [...roles.filter((id) => !remove.includes(id)), ...add] };
		await rest.patch(Routes.guildMember(guild.id, userId), { body, reason });
	} else if (added !== undefined) await rest.put(Routes.guildMemberRole(guild.id, userId, added), { reason });
	else if (removed !== undefined) await rest.delete(Routes.guildMemberRole(guild.id, userId, removed), { reason });
}

export interface PressLimits {
	/** Maximum number of presses per guild that are handled at the same time. */
	running: number;
	/** Maximum number of waiting presses per guild. */
	waiting: number;
	/** Maximum number of presses per member and guild, both waiting and being handled. */
	perPerson: number;
	/** Maximum time that a press waits, in milliseconds. Discord accepts responses to an interaction for 15 minutes. */
	waitMs: number;
	/**
	 * How long a member's presses are refused after a request to change the member's roles had an unknown outcome, in
	 * milliseconds. Discord may still execute that request after a later one. The duration is a guess.
	 */
	holdMs: number;
}

export const defaultPressLimits: PressLimits = {
	running: 3,
	waiting: 60,
	perPerson: 3,
	waitMs: 60_000,
	holdMs: 60_000,
};

const maxHeld = 1_000;

const tooMany = said("menu.busy");

interface GuildQueue {
	readonly semaphore: Semaphore;
	readonly people: Map<string, number>;
	readonly share: RateShare;
}

/**
 * Presses of each guild are handled in order of arrival. The number of waiting ones is limited per guild and per member,
 * so a flood in one guild delays no other guild.
 */
export class PressQueue {
	readonly #guilds = new Map<string, GuildQueue>();
	readonly #held = new LruMap<string, number>(maxHeld);
	readonly #closing = new AbortController();

	constructor(private readonly limits: PressLimits = defaultPressLimits) {}

	/** At the end of the guild's queue. Throws a SaidError for the member if it is full. */
	enter(guildId: string, userId: string) {
		if (this.#closing.signal.aborted) throw restarting();
		const { running: max, waiting: maxWaiting, waitMs: maxWaitMs } = this.limits;
		const queue = this.#guilds.get(guildId) ?? {
			semaphore: new Semaphore({ max, maxWaiting, maxWaitMs }),
			people: new Map(),
			share: new RateShare(),
		};
		const own = queue.people.get(userId) ?? 0;
		if (own >= this.limits.perPerson) throw new SaidError(said("menu.busy.own"));
		const left = new AbortController();
		const turn = takeTurn(queue.semaphore, AbortSignal.any([left.signal, this.#closing.signal]));
		const isGranted = turn.then(
			() => true,
			() => false,
		);
		this.#guilds.set(guildId, queue);
		queue.people.set(userId, own + 1);
		return {
			/** Resolves when the press may be handled. Rejects with a SaidError for the member on a timeout. */
			turn: async () => {
				await turn;
				await this.#pauseOf(queue);
			},
			/** Call it when the press was handled or no longer waits. */
			leave: () => {
				left.abort();
				void isGranted.then((granted) => granted && queue.semaphore.release());
				const rest = (queue.people.get(userId) ?? 1) - 1;
				if (rest > 0) queue.people.set(userId, rest);
				else queue.people.delete(userId);
				if (queue.people.size === 0 && queue.share.waitMs <= 0) this.#guilds.delete(guildId);
			},
		};
	}

	/** Delays the next press until the rate limit resets, if the rest is reserved for tools and commands. */
	note(guildId: string, state: RateLimitState): void {
		this.#guilds.get(guildId)?.share.note(state);
	}

	/** Makes `requireSettled` throw for some time, after a role change of this member had an unknown outcome. */
	hold(guildId: string, userId: string): void {
		const until = performance.now() + this.limits.holdMs;
		this.#held.set(`${guildId} ${userId}`, until);
	}

	/** Throws a SaidError for the member if Discord may still execute an earlier role change. */
	requireSettled(guildId: string, userId: string): void {
		const until = this.#held.get(`${guildId} ${userId}`) ?? -Infinity;
		if (until > performance.now()) throw new SaidError(said("menu.unsettled"));
	}

	/** Refuses new presses and rejects the waiting ones. */
	close(): void {
		this.#closing.abort();
	}

	async #pauseOf(queue: GuildQueue): Promise<void> {
		const until = performance.now() + this.limits.waitMs;
		for (;;) {
			const ms = queue.share.waitMs;
			if (ms <= 0) return;
			if (performance.now() + ms > until) throw new SaidError(tooMany);
			await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => {
				throw restarting();
			});
		}
	}
}

function takeTurn(semaphore: Semaphore, signal: AbortSignal): Promise<void> {
	const refusal = (error: unknown) => (error instanceof Overloaded ? new SaidError(tooMany) : restarting());
	try {
		return Promise.resolve(semaphore.acquire(signal)).catch((error) => {
			throw refusal(error);
		});
	} catch (error) {
		throw refusal(error);
	}
}

function restarting(): SaidError {
	return new SaidError(said("menu.restarting"));
}
