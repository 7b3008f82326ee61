// The pictures of emoji and icons: downloaded once from Discord's CDN, hashed, and kept in the store. A hash is the first
// 32 hexadecimal digits of the SHA-256 of the picture, as in guild documents.

import { describePlatformError } from "../../../discord/rest/errors.ts";
import type { Picture, PictureReference } from "../../../discord/rest/pictures.ts";
import { currentRun, endingEarlier, PlatformBusy, timeLeftMs } from "../../../discord/rest/rest.ts";
import { pictureHash } from "../../../guild-document/read/picture.ts";
import { Semaphore } from "../../../lib/semaphore.ts";
import type { Store } from "../../store/store.ts";
import {
	pictureRows,
	pictureSourceRows,
	saveGuildPicture,
	selectKnownPictures,
	selectPictureHashes,
	touchGuildPictures,
} from "../../store/tables/guild-backups.ts";
import { StoreUnavailable } from "../../store/unavailable.ts";
import type { PictureHashes } from "./read-guild.ts";

export interface PicturesOptions {
	store: Pick<Store, "sql" | "transaction">;
	/** Undefined if the CDN does not have the picture. */
	download(reference: PictureReference): Promise<Picture | undefined>;
	/** Wall clock in epoch milliseconds, which may jump. */
	now?: () => number;
}

/** Methods reject with StoreUnavailable, except `hashesOf`. */
export type Pictures = ReturnType<typeof createPictures>;

/** Before the deadline of a tool call: downloads stop then, for the rest of the call. */
const reserveMs = 6_000;
const maxConcurrent = 4;
const maxFailures = 4;
/** With a slow database, storing a larger picture could time out. */
const maxBytes = 2 * 1024 * 1024;
/** Too large pictures remembered, so that they are not downloaded again. */
const maxTooLarge = 10_000;

export function createPictures(options: PicturesOptions) {
	const { store, download, now = Date.now } = options;
	const semaphore = new Semaphore({ max: maxConcurrent });
	const tooLarge = new Set<string>();

	async function hashesOf(references: readonly PictureReference[]): Promise<PictureHashes> {
		const bySource = new Map(references.map((one) => [one.source, one]));
		const sources = [...bySource.keys()];
		let hashes: Map<string, string>;
		try {
			hashes = await selectPictureHashes(store.sql, sources);
			await touchGuildPictures(store.sql, [...new Set(hashes.values())], now());
		} catch (error) {
			if (!(error instanceof StoreUnavailable)) throw error;
			const missing = "pictures are left out: the bot's database, which keeps them, is unavailable";
			return { hashes: new Map(), missing };
		}
		const absent = [...bySource.values()].filter(({ source }) => !hashes.has(source) && !tooLarge.has(source));
		const { gone, reason } = await loadAll(absent, hashes);
		const large = sources.filter((source) => tooLarge.has(source)).length;
		const left = sources.length - hashes.size - gone - large;
		const problems = [
			left > 0 &&
				`${left} of ${sources.length} pictures are not loaded yet (${reason}); those that are loaded are kept, and another call continues`,
			large > 0 && `${large} of ${sources.length} pictures are larger than 2 MiB, and left out`,
		].filter((problem) => problem !== false);
		if (problems.length === 0) return { hashes };
		return { hashes, missing: problems.join("; ") };
	}

	/** Adds to `hashes`. Returns how many the CDN does not have, and why others failed. */
	async function loadAll(absent: readonly PictureReference[], hashes: Map<string, string>) {
		let gone = 0;
		let failures = 0;
		let lastProblem = "the time is up";
		/** Why no more are loaded. */
		let reason: string | undefined;
		async function loadOne(reference: PictureReference): Promise<void> {
			if (timeLeftMs() <= reserveMs) reason ??= "the time is up";
			if (reason !== undefined) return;
			try {
				const hash = await load(reference);
				if (hash === undefined) gone += 1;
				else if (hash !== "too large") hashes.set(reference.source, hash);
			} catch (error) {
				// The tool was cancelled.
				if (currentRun()?.signal.aborted) throw error;
				failures += 1;
				const isStore = error instanceof StoreUnavailable;
				const problem = isStore ? "the bot's database is unavailable" : describePlatformError(error);
				if (problem === undefined) throw error;
				lastProblem = problem;
				if (isStore || error instanceof PlatformBusy || failures >= maxFailures) reason ??= problem;
			}
		}
		const signal = currentRun()?.signal ?? new AbortController().signal;
		await Promise.all(absent.map((reference) => semaphore.run(signal, () => loadOne(reference))));
		return { gone, reason: reason ?? lastProblem };
	}

	async function load(reference: PictureReference): Promise<string | undefined> {
		const picture = await endingEarlier(reserveMs / 2, () => download(reference));
		if (!picture || picture.bytes.length <= maxBytes) return picture && save(picture, reference.source);
		if (tooLarge.size < maxTooLarge) tooLarge.add(reference.source);
		return "too large";
	}

	async function save({ bytes, mediaType }: Picture, source: string): Promise<string> {
		const hash = pictureHash(bytes);
		const data = Buffer.from(bytes).toString("base64");
		await saveGuildPicture(store, { hash, media_type: mediaType, data, used_at: now() }, source);
		return hash;
	}

	return {
		hashesOf,
		async read(hash: string): Promise<Picture | undefined> {
			const row = await pictureRows.first(store.sql, { hash });
			return row && { bytes: new Uint8Array(Buffer.from(row.data, "base64")), mediaType: row.media_type };
		},
		/** As Discord's API expects it. */
		async dataUri(hash: string) {
			const row = await pictureRows.first(store.sql, { hash });
			return row && `data:${row.media_type};base64,${row.data}`;
		},
		/** Those that are stored, which then are kept for another week. */
		async known(hashes: readonly string[]) {
			const known = await selectKnownPictures(store.sql, hashes);
			await touchGuildPictures(store.sql, [...known], now());
			return known;
		},
		/** After an upload: Discord converts pictures, so that a downloaded copy would have a different hash. */
		remember: (source: string, hash: string) => pictureSourceRows.save(store.sql, [{ source, hash }]),
		/** Returns the hash. */
		add: (picture: Picture) => save(picture, pictureHash(picture.bytes)),
	};
}
