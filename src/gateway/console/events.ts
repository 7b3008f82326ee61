import { type EventStream, eventText, openEventStream } from "../../lib/event-stream.ts";
import type { Log } from "../../lib/log.ts";
import { sseHeaders } from "../../mcp/http-response.ts";
import { securityHeaders } from "../../pages/static-files.ts";
import type { RecentCalls } from "../calls/recent-calls.ts";
import { ConsoleError } from "./respond.ts";
import type { Sessions } from "./sessions.ts";
import type { createState } from "./state.ts";
import type { Viewer } from "./viewer.ts";

/** Of the operator's session, or of one person. */
export const maxPerSession = 6;
/** Of all people together. */
export const maxOfPeople = 48;
/** Of all viewers together. */
export const maxStreams = 60;
const tickMs = 250;
const stateTicks = 4;
const loadTicks = 40;
/** Ticks without an event before "alive": Bun closes connections that are silent for 10 s, and the page after 12 s. */
const heartbeatTicks = 16;
const slowTicks = 80;
const maxWaitingBytes = 256 * 1024;

const headers = { ...securityHeaders, ...sseHeaders, "Cache-Control": "no-store" };

type EndReason = "signed_out" | "expired" | "stopping";

interface EventsOptions {
	state: Pick<ReturnType<typeof createState>, "now" | "load" | "callsFor">;
	recent: Pick<RecentCalls, "next" | "approvalChanges">;
	sessions: Pick<Sessions, "isOpen" | "refresh">;
	log: Log;
	/** Returns a function that stops the ticks. Default: every 250 ms. */
	startTicking?: (tick: () => void) => () => void;
}

function startTimer(tick: () => void): () => void {
	const timer = setInterval(tick, tickMs);
	return () => clearInterval(timer);
}

/** A stream, and what of it was sent. */
class Watcher {
	/** The first call that was not yet sent. */
	#next: number;
	#approvals: number;
	#state = "";
	#ticks = 0;
	#silentTicks = 0;
	/** Consecutive ticks without room in the buffer, because the browser read nothing. */
	#waitingTicks = 0;

	constructor(
		readonly viewer: Viewer,
		readonly stream: EventStream,
		private readonly options: EventsOptions,
	) {
		const { state, recent } = options;
		this.#next = recent.next;
		this.#approvals = recent.approvalChanges;
		this.#send(eventText("hello", {}));
		this.#sendState();
		this.#send(eventText("calls", { calls: state.callsFor(viewer) }));
	}

	/** A failure is logged and closes the stream, so that it does not end the gateway. */
	tick(): void {
		try {
			this.#update();
		} catch (error) {
			this.options.log.error("could not send an event to the console: internal error", { error });
			this.stream.drop();
		}
	}

	#update(): void {
		const { viewer, stream } = this;
		const { state, recent, sessions, log } = this.options;
		if (!sessions.isOpen(viewer.session)) {
			stream.end("expired");
			return;
		}
		this.#ticks++;
		this.#silentTicks++;
		if (!stream.isReady) {
			if (++this.#waitingTicks > slowTicks) stream.drop();
			return;
		}
		this.#waitingTicks = 0;
		const calls = state.callsFor(viewer, this.#next);
		this.#next = recent.next;
		if (calls.length > 0) this.#send(eventText("calls", { calls }));
		if (this.#approvals !== recent.approvalChanges) {
			this.#approvals = recent.approvalChanges;
			this.#send(eventText("approvals", {}));
		}
		if (this.#ticks % stateTicks === 0) this.#sendState();
		if (this.#ticks % loadTicks === 0) {
			void state.load(viewer);
			void sessions.refresh(viewer.session).catch((error) => {
				log.error("could not look up a session of the console: internal error", { error });
			});
		}
		if (this.#silentTicks >= heartbeatTicks) this.#send(eventText("alive", {}));
	}

	#sendState(): void {
		const text = eventText("state", this.options.state.now(this.viewer));
		if (text === this.#state) return;
		this.#state = text;
		this.#send(text);
	}

	#send(text: string): void {
		this.stream.send(text);
		this.#silentTicks = 0;
	}
}

export class Events {
	readonly #watchers = new Set<Watcher>();
	#stopTicking: (() => void) | undefined;
	#isClosed = false;

	constructor(private readonly options: EventsOptions) {}

	get size(): number {
		return this.#watchers.size;
	}

	/** Ends when `signal` aborts. Rejects with a ConsoleError if there are too many. */
	async open(viewer: Viewer, signal?: AbortSignal): Promise<Response> {
		const { state, startTicking = startTimer } = this.options;
		await state.load(viewer);
		if (this.#isClosed) throw new ConsoleError("unavailable", "The gateway is stopping.", 1);
		if (!this.#hasRoomFor(viewer))
			throw new ConsoleError("too_many", "Too many pages of the console are open. Close some of them.", 5);
		const stream = openEventStream(headers, maxWaitingBytes, () => {
			this.#watchers.delete(watcher);
			if (this.#watchers.size > 0) return;
			this.#stopTicking?.();
			this.#stopTicking = undefined;
		});
		const watcher = new Watcher(viewer, stream, this.options);
		this.#watchers.add(watcher);
		this.#stopTicking ??= startTicking(() => {
			for (const each of [...this.#watchers]) each.tick();
		});
		// If the browser has already disconnected, the stream is never read and would not notice.
		signal?.addEventListener("abort", stream.drop);
		if (signal?.aborted) stream.drop();
		return stream.response;
	}

	/** To the pages of this session. */
	send({ id }: Viewer["session"], name: string, data: unknown): void {
		const text = eventText(name, data);
		for (const { viewer, stream } of this.#watchers) if (viewer.session.id === id) stream.send(text);
	}

	/** Ends the streams of this session. */
	signedOut({ id }: Viewer["session"]): void {
		this.#endAll("signed_out", ({ viewer }) => viewer.session.id === id);
	}

	/** So that the gateway can stop. */
	close(): void {
		this.#isClosed = true;
		// A reader that takes nothing would hold up the end until Bun closes its connection.
		for (const { stream } of [...this.#watchers]) if (!stream.isReady) stream.drop();
		this.#endAll("stopping", () => true);
	}

	/** So that one person cannot use all streams, nor all people lock out the operator. */
	#hasRoomFor({ session, person }: Viewer): boolean {
		const all = [...this.#watchers].map(({ viewer }) => viewer);
		const people = all.filter((one) => one.person);
		const own = all.filter((one) =>
			person ? one.person?.person.id === person.person.id : one.session.id === session.id,
		);
		if (own.length >= maxPerSession || all.length >= maxStreams) return false;
		return !person || people.length < maxOfPeople;
	}

	#endAll(reason: EndReason, isMeant: (watcher: Watcher) => boolean): void {
		for (const watcher of [...this.#watchers]) if (isMeant(watcher)) watcher.stream.end(reason);
	}
}
