// https://discord.com/developers/docs/reference#image-formatting

import { DefaultUserAgent } from "discord.js";
import { bytesAtMost } from "../../lib/program/listen.ts";
import { toAbortSignal } from "../../lib/signal.ts";
import { UnusableResponse } from "./response.ts";
import {
	currentRun,
	type OutcomeCounter,
	outcomeOf,
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
	platformTimeoutMs,
} from "./rest.ts";

export interface Picture {
	readonly bytes: Uint8Array;
	/** As the CDN states it. */
	readonly mediaType: string;
}

export interface PicturesOptions {
	/** Without a trailing slash. */
	cdn: string;
	/** Called after every request that was sent. */
	responses?: OutcomeCounter | undefined;
	/** Default: AbortSignal.timeout. */
	timeoutSignal?: ((ms: number) => AbortSignal) | undefined;
}

/** Discord accepts emoji of up to 256 KiB and larger icons. */
const maxBytes = 10 * 1024 * 1024;

const defaultRetryAfter = 1;

export class Pictures {
	constructor(private readonly options: PicturesOptions) {}

	/**
	 * PNG, or WebP if animated, uploaded as AVIF or not convertible; undefined if the CDN lacks it. Rejects as requests
	 * do.
	 */
	emoji(id: string, isAnimated: boolean): Promise<Picture | undefined> {
		// Discord recommends WebP for all emoji; PNG loses nothing when it is uploaded again.
		const path = `emojis/${id}`;
		return this.#download(
			isAnimated ? [`${path}.webp?animated=true&size=256`] : [`${path}.png?size=256`, `${path}.webp?size=256`],
		);
	}

	/** PNG; GIF if animated, or WebP if it was not uploaded as a GIF. Otherwise like `emoji`. */
	guildIcon(guildId: string, hash: string): Promise<Picture | undefined> {
		const path = `icons/${guildId}/${hash}`;
		return this.#download(
			hash.startsWith("a_")
				? [`${path}.gif?size=1024`, `${path}.webp?animated=true&size=1024`]
				: [`${path}.png?size=1024`],
		);
	}

	/** PNG. Otherwise like `emoji`. */
	roleIcon(roleId: string, hash: string): Promise<Picture | undefined> {
		return this.#download([`role-icons/${roleId}/${hash}.png?size=256`]);
	}

	async #download(files: readonly string[]): Promise<Picture | undefined> {
		const { timeoutSignal = (ms: number) => AbortSignal.timeout(ms) } = this.options;
		const run = currentRun();
		const signals = [timeoutSignal(platformTimeoutMs), run && toAbortSignal(run.signal)];
		const signal = AbortSignal.any(signals.filter((one) => one !== undefined));
		for (const [index, file] of files.entries()) {
			const isLast = index === files.length - 1;
			const result = await this.#request(file, signal).catch((error) => {
				if (!isWorthRepeating(error)) throw error;
				return this.#request(file, signal);
			});
			if (result !== "unsupported") return result;
			if (isLast) throw failure(415, file, "in no format");
		}
		return undefined;
	}

	async #request(file: string, signal: AbortSignal): Promise<Picture | undefined | "unsupported"> {
		const { cdn, responses } = this.options;
		if (signal.aborted) throw new PlatformTimeout("not sent");
		let status = 0;
		try {
			const response = await fetch(`${cdn}/${file}`, {
				headers: { "user-agent": DefaultUserAgent },
				signal,
				redirect: "manual",
			});
			status = response.status;
			const picture = await readPicture(response, file);
			responses?.add([outcomeOf(status)]);
			return picture;
		} catch (cause) {
			responses?.add([status >= 400 ? outcomeOf(status) : "failed"]);
			if (signal.aborted) throw new PlatformTimeout("read");
			if (cause instanceof PlatformBusy || cause instanceof PlatformFailure) throw cause;
			throw new PlatformFailure("read", cause);
		}
	}
}

async function readPicture(response: Response, file: string) {
	const { status, headers, body } = response;
	if (status !== 200) await body?.cancel();
	if (status === 404) return undefined;
	if (status === 415) return "unsupported";
	if (status === 429) {
		const seconds = Number(headers.get("retry-after") ?? defaultRetryAfter);
		throw new PlatformBusy("rate limit", 1000 * (seconds || defaultRetryAfter));
	}
	if (status !== 200) throw failure(status, file);
	const [mediaType = ""] = (headers.get("content-type") ?? "").split(";");
	if (!/^image\/\w+$/.test(mediaType)) {
		await body?.cancel();
		throw failure(status, file, " that is not a picture");
	}
	const bytes = await bytesAtMost(body, maxBytes);
	if (bytes === "too long")
		throw failure(status, file, ` of more than ${maxBytes / 1024 / 1024} MiB, which the bot did not read`);
	if (bytes.length === 0) throw failure(status, file, " that is not a picture");
	return { bytes: new Uint8Array(bytes), mediaType };
}

function failure(status: number, file: string, problem = ""): PlatformFailure {
	const text = `Discord's CDN answered the request for ${file.replace(/\?.*/, "")} with HTTP ${status}${problem}`;
	return new PlatformFailure("read", new UnusableResponse(status, text));
}

function isWorthRepeating(error: unknown): boolean {
	if (!(error instanceof PlatformFailure)) return false;
	const { cause } = error;
	return !(cause instanceof UnusableResponse) || cause.status >= 500;
}
