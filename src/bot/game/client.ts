// HTTP client for the game server's plugin. Validates every response. Contract: README.md.

import * as v from "valibot";
import { inlineText } from "../../discord/text.ts";
import { describeConnectionError } from "../../lib/http.ts";
import { parseJson } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import { bytesAtMost } from "../../lib/program/listen.ts";
import { SaidError } from "../../texts/said-error.ts";
import { type Said, said } from "../../texts/texts.ts";

const maxBytesByDefault = 64 * 1024;
const maxListBytes = 4 * 1024 * 1024;

/** Thrown when a request to the game server fails or its response is invalid. The message can be shown to users. */
export class GameServerError extends SaidError {
	override name = "GameServerError";
}

type VerifyResult = { success: true; account: string } | { success: false; error: string | undefined };

export interface Donator {
	/** Discord user id of the player; undefined if the game account is not linked to Discord. */
	chatId: string | undefined;
	tier: string;
	uuid: string;
	username: string;
}

export interface GameClient {
	verify(code: string, chatId: string): Promise<VerifyResult>;
	donators(): Promise<Donator[]>;
	ban(uuid: string, reason: string): Promise<void>;
}

interface GameClientOptions {
	url: string;
	secret: string;
	log: Log;
	timeoutMs?: number;
}

export const discordId = v.pipe(
	v.string(),
	v.check((id) => /^\d{17,20}$/.test(id) && BigInt(id) < 2n ** 64n),
);

const text = v.pipe(v.string(), v.maxLength(10_000));

const verifyResponse = v.union([
	v.object({ success: v.literal(true), username: v.nullish(text), uuid: v.nullish(text) }),
	v.object({ success: v.literal(false), error: v.nullish(v.string()) }),
]);

const chatId = v.nullish(v.union([v.literal(""), discordId]));

const donatorsResponse = v.object({
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

const banResponse = v.object({ success: v.optional(v.boolean()), error: v.nullish(v.string()) });

/** On failure, its methods reject with a GameServerError; they never retry. */
export function createGameClient({ url, secret, log, timeoutMs = 10_000 }: GameClientOptions): GameClient {
	async function send(
		method: "GET" | "POST",
		path: string,
		body?: object,
		maxBytes = maxBytesByDefault,
	): Promise<{ status: number; json: unknown; isEmpty: boolean }> {
		const signal = AbortSignal.timeout(timeoutMs);
		try {
			const response = await fetch(url + path, {
				method,
				headers: { Authorization: `Bearer ${secret}`, "Content-Type": "application/json", Accept: "application/json" },
				...(body && { body: JSON.stringify(body) }),
				signal,
				// Following a redirect would send the secret to another server.
				redirect: "manual",
				keepalive: false,
			});
			const { status } = response;
			if (status === 401) log.warn("game server answered 401: GAME_VERIFY_SECRET differs from its plugin's secret");
			const bytes = await bytesAtMost(response.body, maxBytes);
			if (bytes === "too long") throw new GameServerError(said("verify.game.long", { size: `${maxBytes / 1024} KiB` }));
			const text = bytes.toString();
			const isEmpty = text.trim() === "";
			return { status, json: parseJson(text), isEmpty };
		} catch (cause) {
			if (cause instanceof GameServerError) throw cause;
			throw new GameServerError(
				signal.aborted ? said("verify.game.timeout", { count: timeoutMs / 1000 }) : connectionError(cause),
				{ cause },
			);
		}
	}

	return {
		async verify(code, chat_id) {
			const { status, json } = await send("POST", "/api/verify", { code, chat_id });
			const { success, output } = v.safeParse(verifyResponse, json);
			// A plugin may reject a code with a 4xx status. 401 and 403 are about the secret.
			const isValid =
				(status >= 200 && status < 300) || (status >= 400 && status < 500 && status !== 401 && status !== 403);
			if (!success || !isValid) throw unexpectedResponse(status);
			if (!output.success) return { success: false, error: output.error?.trim() ? output.error : undefined };
			const account = output.username || output.uuid;
			if (!account) throw unexpectedResponse(status);
			return { success: true, account };
		},
		async donators() {
			const { status, json } = await send("GET", "/api/donators", undefined, maxListBytes);
			const { success, output } = v.safeParse(donatorsResponse, json);
			if (!success || status !== 200) throw unexpectedResponse(status);
			return output.donators.map(({ chat_id, discord_id, tier, uuid, username }) => ({
				chatId: chat_id || discord_id || undefined,
				tier,
				uuid,
				username,
			}));
		},
		async ban(uuid, reason) {
			const { status, json, isEmpty } = await send("POST", "/api/ban", { uuid, reason });
			// The plugin may answer without a body.
			const { success, output } = v.safeParse(banResponse, isEmpty ? {} : json);
			if (!success || status < 200 || status >= 300) throw unexpectedResponse(status);
			if (output.success === false)
				throw new GameServerError(
					output.error
						? said("verify.game.refused", { why: inlineText(output.error, 200) })
						: said("verify.game.refused.no-reason"),
				);
		},
	};
}

function connectionError(cause: unknown): Said {
	const why = describeConnectionError(cause);
	if (why === "the connection was refused") return said("verify.game.connection.refused");
	return why === "the connection was lost"
		? said("verify.game.connection.lost")
		: said("verify.game.connection", { why });
}

function unexpectedResponse(status: number): GameServerError {
	const values = { status: String(status) };
	if (status >= 200 && status < 300) return new GameServerError(said("verify.game.body", values));
	const isRedirect = status >= 300 && status < 400;
	return new GameServerError(said(isRedirect ? "verify.game.redirect" : "verify.game.status", values));
}
