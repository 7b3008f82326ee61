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
import { hostTarget } from "../../src/build/targets.ts";
import { version } from "../../src/lib/program/program.ts";
import { linksIn } from "../support/documents.ts";
import { pathWithBun } from "../support/path-with-bun.ts";

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

test.skipIf(!Bun.which("npm") || !Bun.which("zip"))(
	"release.sh makes packages for npm that run in an empty home, a bundle, SBOM and statement; all have their checksums",
	async () => {
		const place = mkdtempSync(join(tmpdir(), "guildhall-release-"));
		try {
			const executable = join(place, "guildhall");
			writeFileSync(executable, '#!/bin/sh\necho "ran: $*"\nexit 3\n');
			writeRelease({ root, directory: place, executable, time, target: hostTarget() });
			// Without libc there is no image, which would need the network.
			writeFileSync(join(place, "apt-get"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
			const PATH = `${place}:${pathWithBun()}`;
			const env = { PATH, DIST: place, HOME: process.env.HOME ?? place };
			const run = (command: string[], more = {}, cwd = place) => {
				const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd, env: { ...env, ...more } });
				return { exitCode, stdout: stdout.toString().trim(), stderr: stderr.toString() };
			};
			const made = run([join(root, "src/build/release.sh")]);
			expect([made.exitCode, made.stderr]).toEqual([0, expect.stringContaining("is left out")]);
			const release = join(place, "release");
			const name = `guildhall-${version}`;
			const launcher = `owner-guildhall-${hostTarget()}-${version}.tgz`;
			const papers = [`${name}.cdx.json`, `${name}.mcpb`, `${name}.tgz`, `${name}.unsigned.intoto.json`];
			const files = [`${name}-${hostTarget()}.tar.gz`, ...papers, "install.sh", launcher, "server.json"];
			expect(readdirSync(release).sort()).toEqual(["SHA256SUMS", ...files]);
			expect(run(["sha256sum", "-c", "SHA256SUMS"], {}, release).exitCode).toBe(0);
			const read = async (file: string) => JSON.parse(await Bun.file(join(release, file)).text());
			const statement = await read(`${name}.unsigned.intoto.json`);
			expect(statement.predicate.buildDefinition.internalParameters.signed).toBe(false);
			expect(statement.subject.length).toBe(files.length - 1);
			const { components } = await read(`${name}.cdx.json`);
			expect(components.map(({ name }: { name: string }) => name).sort()).toContain("discord.js");
			const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
			for (const wanted of ["bun", ...Object.keys(dependencies)])
				expect(components.some(({ name }: { name: string }) => name === wanted)).toBe(true);

			// In a home without anything, and offline.
			mkdirSync(join(place, "home"));
			const packed = [`${name}.tgz`, launcher].map((file) => join(release, file));
			const home = { HOME: join(place, "home") };
			const installed = run(["npm", "install", "--offline", "--no-audit", ...packed], home, home.HOME);
			expect(installed.exitCode).toBe(0);
			const started = run(["npx", "--offline", "guildhall", "demo", "--json"], home, home.HOME);
			expect(started).toMatchObject({ exitCode: 3, stdout: "ran: demo --json" });
			// With the placeholder in place of an owner, nothing can be published.
			expect(await Bun.file(join(home.HOME, "node_modules/guildhall/package.json")).json()).toMatchObject({
				private: true,
			});
			expect(run([join(root, "src/build/release.sh"), "--publishable"]).exitCode).toBe(1);
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
