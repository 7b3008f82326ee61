import { expect, test } from "bun:test";
import {
	existsSync,
	lstatSync,
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
import { Glob } from "bun";
import { writeRelease } from "../../src/build/release.ts";
import { createTar } from "../../src/build/tar.ts";
import { version } from "../../src/lib/program/program.ts";
import { linksIn } from "../support/documents.ts";

const root = resolve(import.meta.dir, "../..");
/** 2026-01-02T03:04:05Z */
const time = 1_767_323_045;

test.skipIf(!Bun.which("tar"))(
	"a release unpacks into one folder: the executable, links to it, documents, the example; and it is the same each time",
	() => {
		const place = mkdtempSync(join(tmpdir(), "guildhall-release-"));
		try {
			const executable = join(place, "guildhall");
			writeFileSync(executable, "guildhall".repeat(1_000));
			const options = { root, directory: place, executable, time };
			const path = writeRelease({ ...options, target: "linux-x64" });
			const name = `guildhall-${version}-linux-x64`;
			expect(path).toBe(join(place, `${name}.tar.gz`));
			const first = readFileSync(path);
			writeRelease({ ...options, target: "linux-x64" });
			expect(readFileSync(path).equals(first)).toBe(true);

			mkdirSync(join(place, "out"));
			const { success } = Bun.spawnSync(["tar", "xzf", path], { cwd: join(place, "out") });
			expect(success).toBe(true);
			const folder = join(place, "out", name);
			expect(readdirSync(join(place, "out"))).toEqual([name]);
			for (const file of [
				"LICENSE",
				"instances/README.md",
				"instances/example/.env",
				"instances/example/config.toml",
				"docker/systemd/guildhall-gateway.service",
				"instances/PRIVACY.md",
			]) {
				const same = readFileSync(join(root, file));
				expect(readFileSync(join(folder, file)).equals(same)).toBe(true);
				expect(statSync(join(folder, file)).mode & 0o777).toBe(0o644);
			}
			// What developers read is not in it, and not linked.
			const documents = [...new Glob("**/*.md").scanSync({ cwd: folder, dot: true })];
			const links = documents.flatMap((path) => linksIn({ path, text: readFileSync(join(folder, path), "utf8") }));
			expect(links.length).toBeGreaterThan(100);
			expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([]);
			const unpacked = statSync(join(folder, "guildhall"));
			expect(unpacked.mode & 0o777).toBe(0o755);
			expect(unpacked.mtimeMs).toBe(time * 1_000);
			for (const link of ["gateway", "bot"]) {
				expect(lstatSync(join(folder, link)).isSymbolicLink()).toBe(true);
				expect(readFileSync(join(folder, link), "utf8")).toBe("guildhall".repeat(1_000));
			}
		} finally {
			rmSync(place, { recursive: true, force: true });
		}
	},
);

test("a release for Windows has no links", async () => {
	const place = mkdtempSync(join(tmpdir(), "guildhall-release-"));
	try {
		const executable = join(place, "guildhall.exe");
		writeFileSync(executable, "guildhall");
		const options = { root, directory: place, executable, time };
		const path = writeRelease({ ...options, target: "windows-x64" });
		const files = await new Bun.Archive(readFileSync(path)).files();
		const folder = `guildhall-${version}-windows-x64/`;
		const names = [...files.keys()].map((name) => name.slice(folder.length));
		expect(names).toContain("guildhall.exe");
		expect(names).not.toContain("bot");
	} finally {
		rmSync(place, { recursive: true, force: true });
	}
});

test.each([0, 1, 511, 512, 513])("a file of %i bytes comes back out of an archive", async (length) => {
	const bytes = new Uint8Array(length).fill(7);
	const tar = createTar(
		[
			{ name: "link", target: "b" },
			{ name: "a/ä", bytes, isExecutable: false },
			{ name: "b", bytes: Buffer.from("after it"), isExecutable: true },
		],
		time,
	);
	expect(tar.length % 512).toBe(0);
	const files = await new Bun.Archive(tar).files();
	expect(await files.get("a/ä")?.bytes()).toEqual(bytes);
	expect(await files.get("b")?.text()).toBe("after it");
});

test("a name that does not fit is refused", () => {
	const long = "ä".repeat(51);
	const bytes = new Uint8Array();
	for (const entry of [
		{ name: long, bytes, isExecutable: false },
		{ name: "link", target: long },
	])
		expect(() => createTar([entry], 0)).toThrow(RangeError);
});
