// Which of the bot's shards are connected to Discord's Gateway, and what was missed while one was not.

interface State {
	connected: boolean;
	since: Date;
	reason: string;
	hasSession: boolean;
	lostAt: number | undefined;
	/** Replayed messages and interactions that were ignored, because the connection loss was long. */
	ignoredCommands: number;
}

export type ShardState = Readonly<Pick<State, "connected" | "since" | "reason"> & { id: number }>;

export class ShardStates {
	#states: State[] = [newState()];

	get count(): number {
		return this.#states.length;
	}

	get withoutSession(): number {
		return this.#states.filter(({ hasSession }) => !hasSession).length;
	}

	get isAnyLost(): boolean {
		return this.#states.some(({ lostAt }) => lostAt !== undefined);
	}

	get list(): ShardState[] {
		return this.#states.map(({ connected, since, reason }, id) => ({ id, connected, since, reason }));
	}

	begin(count: number): void {
		this.#states = Array.from({ length: count }, (_, id) => ({ ...this.#of(id), hasSession: false }));
	}

	isLost(id: number): boolean {
		return this.#of(id).lostAt !== undefined;
	}

	/** 0 while the shard is connected. */
	gapMs(id: number): number {
		const now = performance.now();
		return now - (this.#of(id).lostAt ?? now);
	}

	/** Its guilds have not arrived yet. */
	noteSession(id: number): void {
		this.#of(id).hasSession = true;
	}

	/** `heardAt` is when the shard's last data arrived. */
	noteLoss(id: number, reason: string, heardAt: number): void {
		const state = this.#of(id);
		state.hasSession = false;
		state.lostAt ??= heardAt;
		this.#set(state, false, reason);
	}

	noteFailure(id: number, reason: string): void {
		this.#set(this.#of(id), false, reason);
	}

	/** The shard has resumed, or has the guilds of a new session. Undefined if that was lost meanwhile. */
	noteReturn(id: number, session: "new" | "resumed") {
		const state = this.#of(id);
		// discord.js emits ShardReady after its timeout for guilds, even when the connection was lost meanwhile.
		if (session === "new" && !state.hasSession) return undefined;
		const { lostAt, ignoredCommands } = state;
		const wasLost = lostAt !== undefined;
		const gapMs = this.gapMs(id);
		state.hasSession = true;
		state.lostAt = undefined;
		state.ignoredCommands = 0;
		this.#set(state, true);
		return { wasLost, gapMs, ignoredCommands };
	}

	noteIgnoredCommand(id: number): void {
		this.#of(id).ignoredCommands += 1;
	}

	/** A login may begin with fewer shards than the last one had. */
	#of(id: number): State {
		return this.#states[id] ?? newState();
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
