// Pictures of emoji and icons, with a real store and a CDN made of functions.

import { expect } from "bun:test";
import { createPictures, type PicturesOptions } from "../../../src/bot/guild-documents/read/pictures.ts";
import { eraseOld } from "../../../src/bot/store/personal-data.ts";
import { saveGuildBackup } from "../../../src/bot/store/tables/guild-backups.ts";
import { migrations } from "../../../src/bot/store/tables.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import {
	emojiPicture,
	guildIcon,
	type Picture,
	type PictureReference,
	roleIcon,
} from "../../../src/discord/rest/pictures.ts";
import { PlatformBusy, PlatformFailure, type ToolRun, withinRun } from "../../../src/discord/rest/rest.ts";
import { pictureHash } from "../../../src/guild-document/read/picture.ts";
import { onBoth, openStore, type TestStore } from "../../support/stores.ts";
import { testWith } from "../../support/test-with.ts";

const dayMs = 86_400_000;
const emoji = (number: number) => emojiPicture(`15000000000000${String(number).padStart(4, "0")}`, false);
const emojis = (count: number) => Array.from({ length: count }, (_, number) => emoji(number));
const bytesOf = (name: string) => new TextEncoder().encode(`picture ${name}`);

/** Pictures of a CDN that has each picture, unless `answer` says otherwise. */
function startPictures(
	{ store }: TestStore,
	answer: (source: string) => Promise<Picture | undefined> | undefined = () => undefined,
	options: Partial<PicturesOptions> = {},
) {
	const asked: string[] = [];
	const download = async ({ source }: PictureReference) => {
		asked.push(source);
		const picture = { bytes: bytesOf(source), mediaType: "image/png" };
		const given = answer(source);
		return given === undefined ? picture : given;
	};
	const pictures = createPictures({ store, download, ...options });
	return { pictures, asked };
}

onBoth((databases) => {
	const openedTest = testWith(async () => openStore(await databases.place(), { migrations }));

	openedTest("pictures are downloaded once, also across restarts", async (opened) => {
		const wanted = [...emojis(10), guildIcon("1", "a_1"), roleIcon("2", "b2")];
		const { pictures, asked } = startPictures(opened);
		const first = await pictures.hashesOf(wanted);
		expect(first.missing).toBeUndefined();
		expect(first.hashes.size).toBe(12);
		expect(first.hashes.get("a_1")).toBe(pictureHash(bytesOf("a_1")));
		expect(first.hashes.get("b2")).toBe(pictureHash(bytesOf("b2")));
		expect(asked).toHaveLength(12);
		const again = startPictures(opened);
		expect(await again.pictures.hashesOf(wanted)).toEqual(first);
		expect(again.asked).toEqual([]);
	});

	openedTest("a picture is read back as bytes and as a data URI", async (opened) => {
		const { pictures } = startPictures(opened);
		const bytes = bytesOf("soup");
		const hash = await pictures.add({ bytes, mediaType: "image/gif" });
		expect(hash).toMatch(/^[0-9a-f]{32}$/);
		expect(await pictures.read(hash)).toEqual({ bytes, mediaType: "image/gif" });
		expect(await pictures.dataUri(hash)).toBe(`data:image/gif;base64,${Buffer.from(bytes).toString("base64")}`);
		expect(await pictures.known([hash, "0".repeat(32)])).toEqual(new Set([hash]));
		expect(await pictures.read("0".repeat(32))).toBeUndefined();
		expect(await pictures.dataUri("0".repeat(32))).toBeUndefined();
	});

	openedTest("an uploaded picture keeps its hash, whatever Discord makes of it", async (opened) => {
		const { pictures, asked } = startPictures(opened);
		const hash = await pictures.add({ bytes: bytesOf("soup"), mediaType: "image/png" });
		await pictures.remember(emoji(1).source, hash);
		const { hashes } = await pictures.hashesOf([emoji(1)]);
		expect([...hashes.values()]).toEqual([hash]);
		expect(asked).toEqual([]);
	});

	openedTest("what does not fit into a tool's time is said, and another call continues", async (opened) => {
		const run: ToolRun = {
			signal: new AbortController().signal,
			endsAt: performance.now() + 3_600_000,
			reason: undefined,
			mayWrite: false,
		};
		const { pictures, asked } = startPictures(opened, () => {
			if (asked.length >= 20) run.endsAt = 0;
			return undefined;
		});
		const wanted = emojis(100);
		const first = await withinRun(run, () => pictures.hashesOf(wanted));
		const loaded = first.hashes.size;
		expect(loaded).toBeGreaterThan(0);
		expect(loaded).toBeLessThan(100);
		expect(first.missing).toContain(`${100 - loaded} of 100 pictures are not loaded yet`);
		const before = asked.length;
		run.endsAt = performance.now() + 3_600_000;
		const rest = startPictures(opened);
		const second = await withinRun(run, () => rest.pictures.hashesOf(wanted));
		expect(second.missing).toBeUndefined();
		expect(second.hashes.size).toBe(100);
		expect(rest.asked).toHaveLength(100 - loaded);
		expect(before).toBeLessThan(100);
	});

	openedTest("a CDN that fails is not asked for every picture", async (opened) => {
		const failing = startPictures(opened, () => Promise.reject(new PlatformFailure("read", new Error("it is down"))));
		const { hashes, missing } = await failing.pictures.hashesOf(emojis(100));
		expect(hashes.size).toBe(0);
		expect(missing).toContain("100 of 100 pictures");
		expect(missing).toContain("it is down");
		expect(failing.asked.length).toBeLessThan(10);
		const busy = startPictures(opened, () => Promise.reject(new PlatformBusy("rate limit", 5_000)));
		const waiting = await busy.pictures.hashesOf(emojis(100));
		expect(waiting.missing).toContain("Discord asks the bot to wait");
		expect(busy.asked.length).toBeLessThan(10);
	});

	openedTest("one picture that fails does not stop the others", async (opened) => {
		const { source: id } = emoji(3);
		const { pictures } = startPictures(opened, (source) =>
			source === id ? Promise.reject(new PlatformFailure("read", new Error("broken"))) : undefined,
		);
		const { hashes, missing } = await pictures.hashesOf(emojis(10));
		expect(hashes.size).toBe(9);
		expect(missing).toContain("1 of 10 pictures");
		expect(missing).toContain("broken");
	});

	openedTest("a picture that the CDN does not have is not missing", async (opened) => {
		const { source: id } = emoji(3);
		const { pictures } = startPictures(opened, (source) => (source === id ? Promise.resolve(undefined) : undefined));
		const { hashes, missing } = await pictures.hashesOf(emojis(5));
		expect(hashes.size).toBe(4);
		expect(missing).toBeUndefined();
	});

	openedTest("a picture that is too large to be stored is left out, and downloaded once", async (opened) => {
		const { source: id } = emoji(3);
		const { pictures, asked } = startPictures(opened, (source) =>
			source === id
				? Promise.resolve({ bytes: new Uint8Array(2 * 1024 * 1024 + 1), mediaType: "image/gif" })
				: undefined,
		);
		for (let times = 0; times < 2; times += 1) {
			const { hashes, missing } = await pictures.hashesOf(emojis(5));
			expect(hashes.size).toBe(4);
			expect(missing).toBe("1 of 5 pictures are larger than 2 MiB, and left out");
		}
		expect(asked).toHaveLength(5);
	});

	openedTest("without the store nothing is downloaded, and that is said", async (opened) => {
		const { pictures, asked } = startPictures(opened, undefined, {
			store: {
				sql: () => Promise.reject(new StoreUnavailable("it is away")),
				transaction: () => Promise.reject(new StoreUnavailable("it is away")),
			},
		});
		const { hashes, missing } = await pictures.hashesOf(emojis(5));
		expect(hashes.size).toBe(0);
		expect(missing).toContain("database");
		expect(asked).toEqual([]);
	});

	openedTest("pictures that no backup refers to are deleted after a week without use", async (opened) => {
		const { store } = opened;
		let at = 1_790_000_000_000;
		const { pictures, asked } = startPictures(opened, undefined, { now: () => at });
		const { hashes } = await pictures.hashesOf(emojis(3));
		const [inBackup = "", used = "", unused = ""] = hashes.values();
		await saveGuildBackup(
			store,
			{
				guild_id: "1",
				made_at: at,
				guild_name: "Cooks",
				length: 2,
				sha256: "",
				channels: 1,
				roles: 1,
				omitted: "",
				document: "{}",
				pictures: [inBackup],
			},
			{ keep: 2, keepReason: () => undefined },
		);
		at += 5 * dayMs;
		expect(await pictures.known([used])).toEqual(new Set([used]));
		await eraseOld(store.sql, at, {});
		at += 5 * dayMs;
		await eraseOld(store.sql, at, {});
		expect(await pictures.known([inBackup, used, unused])).toEqual(new Set([inBackup, used]));
		// The source goes with the picture, which is downloaded again.
		asked.length = 0;
		await pictures.hashesOf(emojis(3));
		expect(asked).toHaveLength(1);
	});
});
