// What a probe works in: requests to Discord, and things made in the guild that are removed afterwards.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
	DiscordAPIError,
	type Guild,
	PermissionFlagsBits as Permission,
	type RequestData,
	RequestMethod,
	type RouteLike,
	Routes,
} from "discord.js";
import { raceSignal } from "../../../lib/wait.ts";
import { isObject } from "../../../mcp/json-rpc.ts";
import { describePlatformError } from "../../discord/rest/errors.ts";
import { isOutcomeUnknown, PlatformBusy, PlatformFailure, PlatformTimeout } from "../../discord/rest/rest.ts";

/** Thrown when an assumption about Discord's behaviour could not be tested. The message says why. */
export class NotTried extends Error {
	override name = "NotTried";
}

/** Longest wait in milliseconds for a Discord rate limit. A request that would have to wait longer fails. */
const maxWaitMs = 60_000;

/** Maximum number of polls while waiting for something that Discord does with a delay, such as an audit log entry. */
const looks = 20;

const removalAttempts = 3;

/** Matches the names of channels, roles and emoji that `--probe-guild` creates. */
export const probeName = /^(?:guildhall-)?probe[0-9a-f]{8}$/;

export type Json = Readonly<Record<string, unknown>>;

interface Removal {
	what: string;
	run(): Promise<unknown>;
}

export class Workspace {
	/**
	 * A random word in the name of everything that `--probe-guild` creates in the test guild, so that leftovers can be
	 * recognized.
	 */
	readonly word = `probe${randomBytes(4).toString("hex")}`;
	readonly name = `guildhall-${this.word}`;
	/**
	 * Descriptions of things that could not be removed from the test guild, or that may exist there because a request to
	 * create them got no response.
	 */
	readonly leftovers: string[] = [];
	readonly #removals: Removal[] = [];
	readonly #fixtures = new Map<unknown, Promise<unknown>>();
	#isCleaning = false;

	constructor(
		readonly guild: Guild,
		private readonly signal: AbortSignal,
		/** Milliseconds between two polls for something that Discord does with a delay, such as an audit log entry. */
		private readonly lookMs: number,
	) {}

	get botId(): string {
		return this.guild.client.user.id;
	}

	/**
	 * Sends a request to Discord and waits for rate limits. Rejects with a DiscordAPIError for an error response, or
	 * with an error of the REST client, such as PlatformTimeout.
	 */
	async send(method: RequestMethod, fullRoute: RouteLike, options: RequestData = {}): Promise<Json> {
		const reason = "Guildhall probe";
		for (;;) {
			if (!this.#isCleaning) this.signal.throwIfAborted();
			try {
				const { rest } = this.guild.client;
				const request = { reason, ...options, method, fullRoute };
				const response = await rest.request(request);
				return isObject(response) ? response : { all: response };
			} catch (error) {
				const isShort = error instanceof PlatformBusy && error.retryAfterMs <= maxWaitMs;
				if (!isShort) throw error;
				await this.#wait(error.retryAfterMs);
			}
		}
	}

	get(route: RouteLike, query?: URLSearchParams): Promise<Json> {
		return this.send(RequestMethod.Get, route, query && { query });
	}

	post(route: RouteLike, body: Json, options?: RequestData): Promise<Json> {
		return this.send(RequestMethod.Post, route, { ...options, body });
	}

	/**
	 * Creates an object, such as a channel, in the test guild with a POST request to `route`. The object is removed at
	 * the end of the tests.
	 */
	async create(
		what: string,
		route: RouteLike,
		body: Json,
		remove: (id: string) => RouteLike,
	): Promise<Json & { id: string }> {
		try {
			const made = await this.post(route, body);
			const id = idOf(made, `create a ${what}`);
			this.onCleanUp(`${what} ${id}`, () => this.send(RequestMethod.Delete, remove(id)));
			return { ...made, id };
		} catch (error) {
			if (isOutcomeUnknown(error)) this.leftovers.push(`${what} ${this.name}: it is unknown whether it was created`);
			throw error;
		}
	}

	/**
	 * Creates a channel that only the bot and administrators see, and resolves with its id. `denied` are the permission
	 * bits that the bot lacks in the channel.
	 */
	async createChannel(body: Json, denied = 0n): Promise<string> {
		const { id: everyone } = this.guild;
		const { id } = await this.create(
			"channel",
			Routes.guildChannels(everyone),
			{
				name: this.name,
				permission_overwrites: [
					overwrite(everyone, 0, 0n, Permission.ViewChannel),
					overwrite(this.botId, 1, Permission.ViewChannel, denied),
				],
				...body,
			},
			(id) => Routes.channel(id),
		);
		return id;
	}

	/**
	 * Calls `make`, which creates something in the test guild, only the first time. Later calls return the same result.
	 */
	shared<T>(make: (workspace: Workspace) => Promise<T>): Promise<T> {
		const known = this.#fixtures.get(make) as Promise<T> | undefined;
		const fixture = known ?? make(this);
		this.#fixtures.set(make, fixture);
		return fixture;
	}

	/**
	 * Calls `look` repeatedly until it resolves with a defined result, and resolves with this result. Rejects with a
	 * NotTried after 20 calls.
	 */
	async eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
		for (let count = 0; count < looks; count++) {
			const found = await look();
			if (found !== undefined) return found;
			await this.#wait(this.lookMs);
		}
		throw new NotTried(`this test waited for ${what}, which Discord did not show in time`);
	}

	async #wait(ms: number): Promise<void> {
		const waiting = sleep(ms);
		await (this.#isCleaning ? waiting : raceSignal(waiting, this.signal));
	}

	/**
	 * Registers a function that removes or restores something in the test guild at the end. These functions are called in
	 * reverse order.
	 */
	onCleanUp(what: string, run: () => Promise<unknown>): void {
		this.#removals.push({ what, run });
	}

	/** Descriptions of everything in the test guild that has not been removed or restored yet, for the operator. */
	get remaining(): readonly string[] {
		const listed = this.#removals.map(({ what }) => what);
		return [...this.leftovers, ...new Set(listed)];
	}

	async #undo({ run }: Removal): Promise<void> {
		for (let attempt = 1; ; attempt++) {
			try {
				await run();
				return;
			} catch (error) {
				const isTransient = error instanceof PlatformTimeout || error instanceof PlatformFailure;
				if (!isTransient || attempt === removalAttempts) throw error;
				await this.#wait(this.lookMs);
			}
		}
	}

	/**
	 * Removes or restores everything that was changed in the test guild, even after an interruption. Adds descriptions of
	 * what could not be removed or restored to the list `leftovers`.
	 */
	async cleanUp(): Promise<void> {
		this.#isCleaning = true;
		for (;;) {
			const last = this.#removals.at(-1);
			if (!last) return;
			try {
				await this.#undo(last);
			} catch (error) {
				const isGone = error instanceof DiscordAPIError && error.status === 404;
				const reason = describePlatformError(error) ?? String(error);
				if (!isGone) this.leftovers.push(`${last.what}: ${reason}`);
			}
			this.#removals.pop();
		}
	}
}

export function overwrite(id: string, type: 0 | 1, allow: bigint, deny: bigint) {
	return { id, type, allow: String(allow), deny: String(deny) };
}

/**
 * Returns the id of an object in a Discord response; for an invite, its code. Throws a NotTried that names the probe's `step` if there
 * is neither.
 */
export function idOf({ id, code }: Json, step: string): string {
	if (typeof id === "string") return id;
	if (typeof code === "string") return code;
	throw new NotTried(`Discord's response to the step "${step}" of this test contains neither an id nor a code`);
}
