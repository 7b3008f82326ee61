// https://discord.com/developers/docs/reference#image-formatting

import { DefaultUserAgent } from "discord.js";
import { bytesAtMost } from "../../lib/program/listen.ts";
import { UnusableResponse } from "./response.ts";
import {
	type OutcomeCounter,
	outcomeOf,
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
	platformTimeoutMs,
	signalOfRun,
} from "./rest.ts";

export interface Picture {
	readonly bytes: Uint8Array;
	/** As the CDN states it. */
	readonly mediaType: string;
}

/** Of an emoji, a guild or a role. */
export interface PictureReference {
	/** The id of the emoji, or Discord's hash of the icon. */
	source: string;
	/** At the CDN, in the formats that are tried in turn. */
	files: readonly string[];
}

/** PNG, or WebP if animated, uploaded as AVIF or not convertible. */
export function emojiPicture(id: string, isAnimated: boolean): PictureReference {
	const path = `emojis/${id}`;
	// Discord recommends WebP for all emoji; PNG loses nothing when it is uploaded again.
	const files = isAnimated ? [".webp?animated=true&size=256"] : [".png?size=256", ".webp?size=256"];
	return { source: id, files: files.map((file) => path + file) };
}

/** PNG; GIF if animated, or WebP if it was not uploaded as a GIF. */
export function guildIcon(guildId: string, hash: string): PictureReference {
	const path = `icons/${guildId}/${hash}`;
	const moving = [".gif?size=1024", ".webp?animated=true&size=1024"];
	const files = hash.startsWith("a_") ? moving : [".png?size=1024"];
	return { source: hash, files: files.map((file) => path + file) };
}

/** PNG. */
export function roleIcon(roleId: string, hash: string): PictureReference {
	return { source: hash, files: [`role-icons/${roleId}/${hash}.png?size=256`] };
}

interface DownloadOptions {
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

export type DownloadPicture = ReturnType<typeof createPictureDownload>;

/** Undefined if the CDN lacks the picture. Rejects as requests do. */
export function createPictureDownload(options: DownloadOptions) {
	const { cdn, responses, timeoutSignal = (ms: number) => AbortSignal.timeout(ms) } = options;
	return async ({ files }: Pick<PictureReference, "files">): Promise<Picture | undefined> => {
		const signal = signalOfRun(timeoutSignal(platformTimeoutMs));
		for (const file of files) {
			const result = await request(file, signal).catch((error) => {
				if (!isWorthRepeating(error)) throw error;
				return request(file, signal);
			});
			if (result !== "unsupported") return result;
		}
		throw failure(415, files.at(-1) ?? "", "in no format");
	};

	async function request(file: string, signal: AbortSignal): Promise<Picture | undefined | "unsupported"> {
		if (signal.aborted) throw new PlatformTimeout("not sent");
		let status = 0;
		try {
			const headers = { "user-agent": DefaultUserAgent };
			const response = await fetch(`${cdn}/${file}`, { headers, signal, redirect: "manual" });
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
