// Which of the bot's shards are connected to Discord's Gateway, and what was missed while one was not.

/** The state of one shard's connection, for operators. */
export interface ShardState {
	readonly id: number;
	/** Whether events of the shard's guilds arrive. */
	readonly connected: boolean;
	/** When the shard's connection was last established or lost. */
	readonly since: Date;
	/** Why the connection was last lost or could not be established. */
	readonly reason: string;
}

interface State {
	connected: boolean;
	since: Date;
	reason: string;
	hasSession: boolean;
	lostAt: number | undefined;
	/** Number of replayed messages and interactions that were ignored, because the connection loss was long. */
	ignoredCommands: number;
}

/** What a shard missed before it was connected again. */
export interface Return {
	/** Whether the shard was connected before. */
	wasLost: boolean;
	/** Milliseconds without events. */
	gapMs: number;
	ignoredCommands: number;
}

export class ShardStates {
	#states: State[] = [newState()];

	/** Number of shards. */
	get count(): number {
		return this.#states.length;
	}

	/** Number of shards without a session on Discord's Gateway. */
	get withoutSession(): number {
		return this.#states.filter(({ hasSession }) => !hasSession).length;
	}

	/** Whether a shard lost its connection and is not connected again. */
	get isAnyLost(): boolean {
		return this.#states.some(({ lostAt }) => lostAt !== undefined);
	}

	get list(): ShardState[] {
		return this.#states.map(({ connected, since, reason }, id) => ({
			...{ id, connected, since, reason },
		}));
	}

	/** Prepares a login with `count` shards, none of which has a session yet. */
	begin(count: number): void {
		this.#states = Array.from({ length: count }, (_, id) => ({
			...(this.#states[id] ?? newState()),
			hasSession: false,
		}));
	}

	isLost(id: number): boolean {
		return this.#states[id]?.lostAt !== undefined;
	}

	/** Milliseconds since the shard's connection was lost; 0 while it is connected. */
	gapMs(id: number): number {
		const now = performance.now();
		return now - (this.#states[id]?.lostAt ?? now);
	}

	/** Call this when Discord has started a new session for the shard, whose guilds have not arrived yet. */
	noteSession(id: number): void {
		const state = this.#states[id];
		if (state) state.hasSession = true;
	}

	/** Call this when the shard's session was lost. `heardAt` is when its last data arrived. */
	noteLoss(id: number, reason: string, heardAt: number): void {
		const state = this.#states[id];
		if (!state) return;
		state.hasSession = false;
		state.lostAt ??= heardAt;
		this.#set(state, false, reason);
	}

	/** Call this when a connection of the shard could not be established. */
	noteFailure(id: number, reason: string): void {
		const state = this.#states[id];
		if (state) this.#set(state, false, reason);
	}

	/**
	 * Call this when the shard has resumed its session, or has the guilds of a new one. Returns undefined if the new
	 * session was lost meanwhile.
	 */
	noteReturn(id: number, session: "new" | "resumed"): Return | undefined {
		const state = this.#states[id];
		// discord.js emits ShardReady after its timeout for guilds, even when the connection was lost meanwhile.
		if (!state || (session === "new" && !state.hasSession)) return undefined;
		const { lostAt, ignoredCommands } = state;
		const wasLost = lostAt !== undefined;
		const gapMs = this.gapMs(id);
		state.hasSession = true;
		state.lostAt = undefined;
		state.ignoredCommands = 0;
		this.#set(state, true);
		return { wasLost, gapMs, ignoredCommands };
	}

	/** Counts a replayed message or interaction that was ignored. */
	noteIgnoredCommand(id: number): void {
		const state = this.#states[id];
		if (state) state.ignoredCommands += 1;
	}

	#set(state: State, connected: boolean, reason = state.reason): void {
		if (state.connected !== connected) state.since = new Date();
		state.connected = connected;
		state.reason = reason;
	}
}

function newState(): State {
	return {
		connected: false,
		since: new Date(),
		reason: "not logged in yet",
		hasSession: false,
		lostAt: undefined,
		ignoredCommands: 0,
	};
}
