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
import {
	isOutcomeUnknown,
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
} from "../../discord/rest/rest.ts";

/** Why a belief could not be tried. */
export class NotTried extends Error {
	override name = "NotTried";
}

/** Longest rate limit that is waited for. */
const maxWaitMs = 60_000;

/** Maximum number of checks for something that Discord does later. */
const looks = 20;

/** How often a removal is tried. */
const removalAttempts = 3;

/** Names of channels, roles and emoji that a probe made. */
export const probeName = /^(?:guildhall-)?probe[0-9a-f]{8}$/;

export type Json = Readonly<Record<string, unknown>>;

interface Removal {
	/** What to undo, for the operator if it fails. */
	what: string;
	run(): Promise<unknown>;
}

export class Workspace {
	/** In the names of everything that is made, and found nowhere else; see `probeName`. */
	readonly word = `probe${randomBytes(4).toString("hex")}`;
	readonly name = `guildhall-${this.word}`;
	/** What was not removed, or may not have been. */
	readonly leftovers: string[] = [];
	readonly #removals: Removal[] = [];
	readonly #fixtures = new Map<unknown, Promise<unknown>>();
	#isCleaning = false;

	constructor(
		readonly guild: Guild,
		private readonly signal: AbortSignal,
		/** Time between two checks for something that Discord does later. */
		private readonly lookMs: number,
	) {}

	get botId(): string {
		return this.guild.client.user.id;
	}

	/** Sends a request, after waiting for rate limits. Rejects with DiscordAPIError, or as the guarded REST manager does. */
	async send(
		method: RequestMethod,
		fullRoute: RouteLike,
		options: RequestData = {},
	): Promise<Json> {
		const reason = "Guildhall probe";
		for (;;) {
			if (!this.#isCleaning) this.signal.throwIfAborted();
			try {
				const { rest } = this.guild.client;
				const request = { reason, ...options, method, fullRoute };
				const response = await rest.request(request);
				return isObject(response) ? response : { all: response };
			} catch (error) {
				const isShort =
					error instanceof PlatformBusy && error.retryAfterMs <= maxWaitMs;
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

	/** Creates something by a POST, and remembers how to remove it. */
	async create(
		what: string,
		route: RouteLike,
		body: Json,
		remove: (id: string) => RouteLike,
	): Promise<Json & { id: string }> {
		try {
			const made = await this.post(route, body);
			const id = idOf(made);
			this.onCleanUp(`${what} ${id}`, () =>
				this.send(RequestMethod.Delete, remove(id)),
			);
			return { ...made, id };
		} catch (error) {
			if (isOutcomeUnknown(error))
				this.leftovers.push(
					`${what} ${this.name}: it is unknown whether it was created`,
				);
			throw error;
		}
	}

	/** Creates a channel that only the bot and administrators see. `denied`: permissions that the bot lacks in it. */
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

	/** The result of `make`, which is called once for all probes. */
	shared<T>(make: (workspace: Workspace) => Promise<T>): Promise<T> {
		const known = this.#fixtures.get(make) as Promise<T> | undefined;
		const fixture = known ?? make(this);
		this.#fixtures.set(make, fixture);
		return fixture;
	}

	/** Calls `look` until it returns a defined result. Rejects with NotTried if there is none for some time. */
	async eventually<T>(
		what: string,
		look: () => Promise<T | undefined>,
	): Promise<T> {
		for (let count = 0; count < looks; count++) {
			const found = await look();
			if (found !== undefined) return found;
			await this.#wait(this.lookMs);
		}
		throw new NotTried(`${what} did not appear in time`);
	}

	async #wait(ms: number): Promise<void> {
		const waiting = sleep(ms);
		await (this.#isCleaning ? waiting : raceSignal(waiting, this.signal));
	}

	/** Remembers to undo something. The last is undone first. */
	onCleanUp(what: string, run: () => Promise<unknown>): void {
		this.#removals.push({ what, run });
	}

	/** What is still to be removed, for the operator. */
	get remaining(): readonly string[] {
		const listed = this.#removals.map(({ what }) => what);
		return [...this.leftovers, ...new Set(listed)];
	}

	/** Undoes something, again after a lost response or a failure of Discord's: that is safe to repeat. */
	async #undo({ run }: Removal): Promise<void> {
		for (let attempt = 1; ; attempt++) {
			try {
				await run();
				return;
			} catch (error) {
				const isTransient =
					error instanceof PlatformTimeout || error instanceof PlatformFailure;
				if (!isTransient || attempt === removalAttempts) throw error;
				await this.#wait(this.lookMs);
			}
		}
	}

	/** Removes everything, even after an interruption. What cannot be removed is added to `leftovers`. */
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

export function overwrite(
	id: string,
	type: 0 | 1,
	allow: bigint,
	deny: bigint,
) {
	return { id, type, allow: String(allow), deny: String(deny) };
}

/** The id of something that was made. Of an invite, its code. */
export function idOf({ id, code }: Json): string {
	if (typeof id === "string") return id;
	if (typeof code === "string") return code;
	throw new NotTried("Discord returned no id");
}
