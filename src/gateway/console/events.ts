// The event streams of the console: the state of the bots, and tool calls, as they change. One timer updates all
// streams. It runs only while there are streams, so that calls cost nothing when nobody watches.

import type { Log } from "../../lib/log.ts";
import { type EndReason, type EventStream, eventText, heartbeat, openEventStream } from "./event-stream.ts";
import { ConsoleError } from "./respond.ts";
import type { Sessions } from "./sessions.ts";
import type { createState } from "./state.ts";
import type { Viewer } from "./viewer.ts";

/** Maximum number of event streams of one session of the operator, or of one person. */
export const maxPerSession = 6;
/** Maximum number of event streams of all people together. */
export const maxOfPeople = 48;
/** Maximum number of event streams of all viewers together. */
export const maxStreams = 60;
const maxCallsAtOnce = 50;
const tickMs = 250;
const stateTicks = 4;
const loadTicks = 40;
/**
 * A comment is sent after this many ticks in which nothing was sent, because Bun closes connections that are silent for
 * 10 s.
 */
const heartbeatTicks = 16;
const slowTicks = 80;

interface Watcher {
	viewer: Viewer;
	stream: EventStream;
	next: number;
	approvals: number;
	state: string;
	ticks: number;
	silentTicks: number;
	/** Consecutive ticks in which the buffer had no room, because the browser read nothing. */
	waitingTicks: number;
}

export interface EventsOptions {
	state: Pick<ReturnType<typeof createState>, "run" | "now" | "load" | "callsFor" | "nextCall" | "approvalChanges">;
	sessions: Pick<Sessions, "isOpen" | "refresh">;
	log: Log;
	/** Starts to call `tick` regularly and returns a function that stops this. Default: every 250 ms. */
	startTicking?: (tick: () => void) => () => void;
}

function startTimer(tick: () => void): () => void {
	const timer = setInterval(tick, tickMs);
	return () => clearInterval(timer);
}

export type Events = ReturnType<typeof createEvents>;

/** Creates the event streams of the console and the timer that updates them. */
export function createEvents({ state, sessions, log, startTicking = startTimer }: EventsOptions) {
	const watchers = new Set<Watcher>();
	let stopTicking: (() => void) | undefined;
	let isClosed = false;

	function send(watcher: Watcher, text: string): void {
		if (text === "") return;
		watcher.stream.send(text);
		watcher.silentTicks = 0;
	}

	/** Returns the "state" event if the state has changed since the last one; otherwise "". */
	function stateEvent(watcher: Watcher): string {
		const text = eventText("state", state.now(watcher.viewer));
		if (text === watcher.state) return "";
		watcher.state = text;
		return text;
	}

	function callEvents(watcher: Watcher): string {
		const calls = state.callsFor(watcher.viewer, watcher.next);
		watcher.next = state.nextCall;
		return calls
			.slice(-maxCallsAtOnce)
			.map((call) => eventText("call", call))
			.join("");
	}

	function update(watcher: Watcher): void {
		const { viewer, stream } = watcher;
		if (!sessions.isOpen(viewer.session)) {
			stream.end("expired");
			return;
		}
		watcher.ticks++;
		watcher.silentTicks++;
		if (!stream.isReady) {
			if (++watcher.waitingTicks > slowTicks) stream.drop();
			return;
		}
		watcher.waitingTicks = 0;
		send(watcher, callEvents(watcher));
		if (watcher.approvals !== state.approvalChanges) {
			watcher.approvals = state.approvalChanges;
			send(watcher, eventText("approvals", {}));
		}
		if (watcher.ticks % stateTicks === 0) send(watcher, stateEvent(watcher));
		if (watcher.ticks % loadTicks === 0) {
			void state.load(viewer);
			void sessions.refresh(viewer.session).catch((error) => {
				log.error("could not look up a session of the console: internal error", {
					error,
				});
			});
		}
		if (watcher.silentTicks >= heartbeatTicks) send(watcher, heartbeat);
	}

	/**
	 * Updates a stream. If that fails, logs the error and closes the stream, so that the error does not end the gateway.
	 */
	function updateSafely(watcher: Watcher): void {
		try {
			update(watcher);
		} catch (error) {
			log.error("could not send an event to the console: internal error", {
				error,
			});
			watcher.stream.drop();
		}
	}

	function hasRoomFor({ session, person }: Viewer): boolean {
		const all = [...watchers].map(({ viewer }) => viewer);
		const people = all.filter((one) => one.person);
		const own = all.filter((one) =>
			person ? one.person?.person.id === person.person.id : one.session.id === session.id,
		);
		if (own.length >= maxPerSession || all.length >= maxStreams) return false;
		return !person || people.length < maxOfPeople;
	}

	function endAll(reason: EndReason, isMeant: (watcher: Watcher) => boolean): void {
		for (const watcher of [...watchers]) if (isMeant(watcher)) watcher.stream.end(reason);
	}

	return {
		async open(viewer: Viewer, signal?: AbortSignal): Promise<Response> {
			await state.load(viewer);
			if (isClosed) throw new ConsoleError("unavailable", "The gateway is stopping.", 1);
			if (!hasRoomFor(viewer))
				throw new ConsoleError("too_many", "Too many pages of the console are open. Close some of them.", 5);
			const stream = openEventStream(() => {
				watchers.delete(watcher);
				if (watchers.size > 0) return;
				stopTicking?.();
				stopTicking = undefined;
			});
			const watcher: Watcher = {
				viewer,
				stream,
				next: state.nextCall,
				approvals: state.approvalChanges,
				state: "",
				ticks: 0,
				silentTicks: 0,
				waitingTicks: 0,
			};
			watchers.add(watcher);
			const { run } = state;
			send(watcher, eventText("hello", { run }));
			send(watcher, stateEvent(watcher));
			const calls = state.callsFor(viewer);
			send(watcher, eventText("calls", { run, calls }));
			stopTicking ??= startTicking(() => {
				for (const each of [...watchers]) updateSafely(each);
			});
			// If the browser has already disconnected, the stream is never read and would not notice.
			signal?.addEventListener("abort", stream.drop);
			if (signal?.aborted) stream.drop();
			return stream.response;
		},
		signedOut({ id }: Viewer["session"]): void {
			endAll("signed_out", ({ viewer }) => viewer.session.id === id);
		},
		/** Ends all event streams, so that the gateway can stop. */
		close(): void {
			isClosed = true;
			// A reader that takes nothing would hold up the end until Bun closes its connection.
			for (const { stream } of [...watchers]) if (!stream.isReady) stream.drop();
			endAll("stopping", () => true);
		},
		get size(): number {
			return watchers.size;
		},
	};
}
