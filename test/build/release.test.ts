import { expect, test } from "bun:test";
import {
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { writeRelease } from "../../src/build/release.ts";
import { createTar } from "../../src/build/tar.ts";
import { version } from "../../src/lib/program/program.ts";

const root = resolve(import.meta.dir, "../..");
/** 2026-01-02T03:04:05Z */
const time = 1_767_323_045;

test.skipIf(!Bun.which("tar"))(
	"a release unpacks into one folder: executables, documents, the example; and it is the same each time",
	() => {
		const place = mkdtempSync(join(tmpdir(), "guildhall-release-"));
		try {
			const executables = ["gateway", "bot"].map((name) => {
				writeFileSync(join(place, name), name.repeat(1_000));
				return join(place, name);
			});
			const options = { root, directory: place, executables, time };
			const path = writeRelease({ ...options, target: "linux-x64" });
			const name = `guildhall-${version}-linux-x64`;
			expect(path).toBe(join(place, `${name}.tar.gz`));
			const first = readFileSync(path);
			writeRelease({ ...options, target: "linux-x64" });
			expect(readFileSync(path).equals(first)).toBe(true);

			mkdirSync(join(place, "out"));
			const { success } = Bun.spawnSync(["tar", "xzf", path], {
				cwd: join(place, "out"),
			});
			expect(success).toBe(true);
			const folder = join(place, "out", name);
			expect(readdirSync(join(place, "out"))).toEqual([name]);
			for (const file of [
				"README.md",
				"LICENSE",
				"CHANGELOG.md",
				"instances/README.md",
				"instances/example/.env",
				"instances/example/config.toml",
				"docker/systemd/guildhall-gateway.service",
				"src/gateway/README.md",
				"src/bot/features/README.md",
			]) {
				const same = readFileSync(join(root, file));
				expect(readFileSync(join(folder, file)).equals(same)).toBe(true);
				expect(statSync(join(folder, file)).mode & 0o777).toBe(0o644);
			}
			const bot = statSync(join(folder, "bot"));
			expect(bot.mode & 0o777).toBe(0o755);
			expect(bot.mtimeMs).toBe(time * 1_000);
			expect(readFileSync(join(folder, "bot"), "utf8")).toBe(
				"bot".repeat(1_000),
			);
		} finally {
			rmSync(place, { recursive: true });
		}
	},
);

test.each([0, 1, 511, 512, 513])(
	"a file of %i bytes comes back out of an archive",
	async (length) => {
		const bytes = new Uint8Array(length).fill(7);
		const tar = createTar(
			[
				{ name: "a/ä", bytes, executable: false },
				{ name: "b", bytes: Buffer.from("after it"), executable: true },
			],
			time,
		);
		expect(tar.length % 512).toBe(0);
		const files = await new Bun.Archive(tar).files();
		expect(await files.get("a/ä")?.bytes()).toEqual(bytes);
		expect(await files.get("b")?.text()).toBe("after it");
	},
);

test("a name that does not fit is refused", () => {
	const entry = { bytes: new Uint8Array(), executable: false };
	expect(() => createTar([{ ...entry, name: "ä".repeat(51) }], 0)).toThrow(
		RangeError,
	);
});
