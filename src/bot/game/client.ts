// The game server's plugin, as the bot calls it. What it answers is checked; what it is asked with is a secret.
// The contract: README.md beside this file.

import * as v from "valibot";
import { describeConnectionError } from "../../lib/http.ts";
import { parseJson } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import { oneLine } from "../discord/text.ts";

const maxVerifyBytes = 64 * 1024;
/** A list of supporters may be long. */
const maxListBytes = 4 * 1024 * 1024;

/** The game server could not be reached, or did not answer as the contract has it. The message is for people. */
export class GameServerError extends Error {
	override name = "GameServerError";
}

/** What has become of a code. */
export type VerifyAnswer =
	| { success: true; account: string }
	/** `error` is the plugin's own text; undefined where it gave none. */
	| { success: false; error: string | undefined };

/** A supporter, and their account on Discord if it is known. */
export interface Donator {
	chatId: string | undefined;
	tier: string;
	uuid: string;
	username: string;
}

export interface GameClient {
	/** Asks to link the account that this code was issued for. The plugin decides, once. */
	verify(code: string, chatId: string): Promise<VerifyAnswer>;
	/** All supporters. */
	donators(): Promise<Donator[]>;
	/** Bans an account on the game server. */
	ban(uuid: string, reason: string): Promise<void>;
}

export interface GameClientOptions {
	/** Of the plugin, without a slash at its end. */
	url: string;
	secret: string;
	log: Log;
	/** What one exchange may take, to the last byte of its answer. */
	timeoutMs?: number;
}

/** Discord's ids are unsigned numbers of 64 bits. */
export const discordId = v.pipe(
	v.string(),
	v.check((id) => /^\d{17,20}$/.test(id) && BigInt(id) < 2n ** 64n),
);

const text = v.pipe(v.string(), v.maxLength(10_000));

const verifyAnswer = v.union([
	v.object({
		success: v.literal(true),
		username: v.nullish(text),
		uuid: v.nullish(text),
	}),
	v.object({ success: v.literal(false), error: v.nullish(v.string()) }),
]);

/** Empty for an account that is linked to none. */
const chatId = v.nullish(v.union([v.literal(""), discordId]));

const donatorsAnswer = v.object({
	donators: v.array(
		v.object({
			chat_id: chatId,
			discord_id: chatId,
			tier: text,
			uuid: v.nullish(text, ""),
			username: v.nullish(text, ""),
		}),
	),
});

const banAnswer = v.object({
	success: v.optional(v.boolean()),
	error: v.nullish(v.string()),
});

/** Every method rejects with a GameServerError. Nothing is sent twice. */
export function createGameClient({
	url,
	secret,
	log,
	timeoutMs = 10_000,
}: GameClientOptions): GameClient {
	/** The answer's status, and its body parsed as JSON; undefined for what is none. */
	async function exchange(
		method: "GET" | "POST",
		path: string,
		body: object | undefined,
		maxBytes: number,
	): Promise<{ status: number; answer: unknown; isEmpty: boolean }> {
		const signal = AbortSignal.timeout(timeoutMs);
		try {
			const response = await fetch(url + path, {
				method,
				headers: {
					Authorization: `Bearer ${secret}`,
					"Content-Type": "application/json",
					Accept: "application/json",
				},
				...(body && { body: JSON.stringify(body) }),
				signal,
				// To follow it would carry the secret to another place.
				redirect: "manual",
				keepalive: false,
			});
			const { status } = response;
			if (status === 401)
				log.warn(
					"the game server answers 401: GAME_VERIFY_SECRET is not the plugin's",
				);
			const received = await readText(response, maxBytes);
			const isEmpty = received.trim() === "";
			return { status, answer: parseJson(received), isEmpty };
		} catch (cause) {
			if (cause instanceof GameServerError) throw cause;
			throw new GameServerError(
				signal.aborted
					? `no answer within ${timeoutMs / 1000} seconds`
					: describeConnectionError(cause),
				{ cause },
			);
		}
	}

	return {
		async verify(code, chat_id) {
			const { status, answer } = await exchange(
				"POST",
				"/api/verify",
				{ code, chat_id },
				maxVerifyBytes,
			);
			const { success, output } = v.safeParse(verifyAnswer, answer);
			// The plugin may say no with a status of its own; 401 and 403 are about the secret.
			const counts =
				(status >= 200 && status < 300) ||
				(status >= 400 && status < 500 && status !== 401 && status !== 403);
			if (!success || !counts) throw wrong(status);
			if (!output.success)
				return {
					success: false,
					error: output.error?.trim() ? output.error : undefined,
				};
			const account = output.username || output.uuid;
			if (!account) throw wrong(status);
			return { success: true, account };
		},
		async donators() {
			const { status, answer } = await exchange(
				"GET",
				"/api/donators",
				undefined,
				maxListBytes,
			);
			const { success, output } = v.safeParse(donatorsAnswer, answer);
			if (!success || status !== 200) throw wrong(status);
			return output.donators.map(
				({ chat_id, discord_id, tier, uuid, username }) => ({
					chatId: chat_id || discord_id || undefined,
					tier,
					uuid,
					username,
				}),
			);
		},
		async ban(uuid, reason) {
			const { status, answer, isEmpty } = await exchange(
				"POST",
				"/api/ban",
				{ uuid, reason },
				maxVerifyBytes,
			);
			// A plugin may say nothing at all: then the status counts.
			const { success, output } = v.safeParse(banAnswer, isEmpty ? {} : answer);
			if (!success || status < 200 || status >= 300) throw wrong(status);
			if (output.success === false)
				throw new GameServerError(
					`it refuses: ${oneLine(firstOf(output.error ?? "", 200) || "without a reason")}`,
				);
		},
	};
}

/** The first characters of a text, none of them cut in its middle. */
export function firstOf(given: string, most: number): string {
	return [...given].slice(0, most).join("");
}

/** What is said of an answer that does not count. */
function wrong(status: number): GameServerError {
	if (status >= 200 && status < 300)
		return new GameServerError(
			`HTTP ${status} with an answer that is none of its plugin's`,
		);
	return new GameServerError(
		status >= 300 && status < 400
			? `HTTP ${status}, a redirect, which is not followed`
			: `HTTP ${status}`,
	);
}

/** The body, which may not be longer than `maxBytes`. */
async function readText(response: Response, maxBytes: number): Promise<string> {
	if (!response.body) return "";
	const pieces: Uint8Array[] = [];
	let length = 0;
	for await (const piece of response.body) {
		length += piece.length;
		if (length > maxBytes)
			throw new GameServerError(
				`its answer is longer than ${maxBytes / 1024} KiB`,
			);
		pieces.push(piece);
	}
	return Buffer.concat(pieces).toString();
}
