// Saves images on arrival, because Discord deletes a message's files with it.

import type { Log } from "../../../lib/log.ts";
import { bytesAtMost } from "../../../lib/program/listen.ts";
import { Semaphore } from "../../../lib/semaphore.ts";
import { Limiter } from "../../commands/cooldown.ts";
import { isAtCdn, readAtCdn } from "../cdn-files.ts";
import type { RecentFile } from "./recent-messages.ts";

export const maxImageBytes = 8_000_000;
const rate = { max: 60, windowMs: 60_000 };
const timeoutMs = 10_000;

interface SavedImagesOptions {
	/** Files at other addresses are not read. */
	cdn: string;
	log: Log;
	closing: AbortSignal;
}

export function createSavedImages({ cdn, log, closing }: SavedImagesOptions) {
	const recent = new Limiter(rate);
	const downloads = new Semaphore({ max: 3, maxWaiting: 60 });

	async function download(url: string): Promise<Buffer | "too long"> {
		const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), closing]);
		await downloads.acquire(signal);
		try {
			return await bytesAtMost(await readAtCdn(url, signal), maxImageBytes);
		} finally {
			downloads.release();
		}
	}

	/** The files, with the content of images, together of at most 8 MB. Those beyond 60 of a guild in a minute have none. */
	return (guildId: string, files: readonly RecentFile[]): Promise<RecentFile[]> => {
		let bytes = 0;
		return Promise.all(
			files.map(async (file) => {
				bytes += file.type.startsWith("image/") ? file.size : 0;
				const isSaved = file.type.startsWith("image/") && bytes <= maxImageBytes && isAtCdn(cdn, file.url);
				if (!isSaved || recent.take(guildId).waitS > 0) return file;
				try {
					const content = await download(file.url);
					return content === "too long" ? file : { ...file, content };
				} catch (error) {
					log.debug("could not save an image of a message", { reason: String((error as Error).message) });
					return file;
				}
			}),
		);
	};
}
