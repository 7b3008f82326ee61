// Create Message requests carry a nonce. If a response is lost, the same request is sent again, and Discord returns the
// message that it has already created. https://docs.discord.com/developers/resources/message#create-message
// Webhooks and interactions have no such nonce (https://github.com/discord/discord-api-docs/pull/6647), nor have forum posts.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { DiscordAPIError, type InternalRequest, type REST } from "discord.js";
import { doubledMs } from "../../lib/back-off.ts";
import { isObject } from "../../lib/json.ts";
import { toAbortSignal } from "../../lib/signal.ts";
import { ForeignResponse, UnusableResponse } from "./response.ts";
import {
	createsMessage,
	currentRun,
	isOutcomeUnknown,
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
	timeLeftMs,
} from "./rest.ts";

const maxResolveMs = 60_000;
const maxResends = 4;
const resendTimeoutMs = 5_000;
/** The first pause and the maximum: the first request may still be in progress. */
export const resendPauseMs: readonly [number, number] = [500, 4_000];

/** Sends a message whose response was lost again, with its nonce. Call it after `guardRest`. */
export function resolveLostMessages(rest: REST, closing = new AbortController().signal, pauseMs = resendPauseMs): void {
	const request = rest.request.bind(rest);
	rest.request = async (options) => {
		if (!createsMessage(options) || !isObject(options.body)) return request(options);
		const nonce = options.body.nonce ?? newNonce();
		const body = { ...options.body, nonce, enforce_nonce: true };
		const message = { ...options, body };
		const sentAt = performance.now();
		try {
			return await request(message);
		} catch (error) {
			if (!isLost(error)) throw error;
			const endsAt = sentAt + maxResolveMs;
			return sendAgain(request, message, { error, endsAt, closing, pauseMs });
		}
	};
}

/** Discord allows 25 characters. */
function newNonce(): string {
	return randomBytes(12).toString("hex");
}

/** A response that arrived but cannot be read is not lost. */
function isLost(error: unknown): boolean {
	if (!isOutcomeUnknown(error)) return false;
	const { cause } = error;
	return cause instanceof ForeignResponse || !(cause instanceof UnusableResponse);
}

/** If that fails, throws the error of the first request. */
async function sendAgain(
	request: REST["request"],
	message: InternalRequest,
	lost: { error: unknown; endsAt: number; closing: AbortSignal; pauseMs: typeof resendPauseMs },
): Promise<unknown> {
	const run = currentRun();
	const signals = [lost.closing, run && toAbortSignal(run.signal), message.signal];
	const ended = AbortSignal.any(signals.filter((signal) => signal != null));
	let latest = lost.error;
	for (let resends = 0; resends < maxResends; resends += 1) {
		const waitMs = Math.max(doubledMs(resends, lost.pauseMs), pauseAfter(latest));
		const leftMs = Math.min(timeLeftMs(), lost.endsAt - performance.now());
		if (waitMs >= leftMs) break;
		try {
			await sleep(waitMs, undefined, { signal: ended });
			const timeoutMs = Math.min(resendTimeoutMs, leftMs - waitMs);
			const signal = AbortSignal.any([ended, AbortSignal.timeout(timeoutMs)]);
			return await request({ ...message, signal });
		} catch (error) {
			// A refusal does not tell whether the first request was carried out.
			if (error instanceof DiscordAPIError) break;
			if (ended.aborted || error instanceof PlatformTimeout) break;
			latest = error;
		}
	}
	throw lost.error;
}

/** Because requests are paused or rate limited; otherwise 0. */
function pauseAfter(error: unknown): number {
	if (error instanceof PlatformBusy) return error.retryAfterMs;
	if (!(error instanceof PlatformFailure)) return 0;
	return error.cause instanceof ForeignResponse ? error.cause.pauseMs : 0;
}
