// release.sh with executables that are scripts: for this platform and, by name, for Windows.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { hostTarget } from "../../src/build/targets.ts";
import { version } from "../../src/lib/program/program.ts";
import { linksIn } from "../support/documents.ts";
import { pathWithBun } from "../support/path-with-bun.ts";
import { openPlace } from "../support/place.ts";

const root = resolve(import.meta.dir, "../..");
const script = join(root, "src/build/release.sh");
const host = hostTarget();
const name = `guildhall-${version}`;
const launchers = [host, "windows-x64"].map((target) => `owner-guildhall-${target}-${version}.tgz`);
const isPossible = ["npm", "zip", "perl", "git"].every((program) => Bun.which(program)) && process.platform === "linux";

const { path: place, write, run: runIn, [Symbol.dispose]: remove } = openPlace();
const release = join(place, "release");

function run(command: string[], cwd = place, more = {}) {
	const env = { PATH: `${place}:${pathWithBun()}`, DIST: place, HOME: place, ...more };
	return runIn(command, { cwd, env });
}

const readJson = (file: string) => Bun.file(join(release, file)).json();

describe.skipIf(!isPossible)("a release", () => {
	beforeAll(() => {
		const fake = `#!/bin/sh\n[ "$1" = --version ] && echo "${version} (commit x, ${host})" && exit\necho "ran: $*"\nexit 3\n`;
		write("guildhall", fake, 0o755);
		write("windows-x64/guildhall.exe", "no script");
		// Without libc there is no image, which would need the network.
		write("apt-get", "#!/bin/sh\nexit 1\n", 0o755);
		const made = run([script]);
		expect([made.exitCode, made.stderr]).toEqual([0, "the image for amd64 is left out\n"]);
	});
	afterAll(remove);

	test("has these files, with their checksums, a statement that is not signed, and the packages in the executables", async () => {
		const archives = [host, "windows-x64"].map((target) => `${name}-${target}.tar.gz`);
		const papers = [`${name}.cdx.json`, `${name}.mcpb`, `${name}.tgz`, `${name}.unsigned.intoto.json`];
		const files = [...archives, ...papers, ...launchers, "install.sh", "server.json"];
		expect(readdirSync(release).sort()).toEqual(["SHA256SUMS", ...files].sort());
		expect(run(["sha256sum", "-c", "SHA256SUMS"], release).exitCode).toBe(0);
		const { subject, predicate } = await readJson(`${name}.unsigned.intoto.json`);
		expect(predicate.buildDefinition.internalParameters.signed).toBe(false);
		expect(subject.length).toBe(files.length - 1);
		const { components } = await readJson(`${name}.cdx.json`);
		const names = components.map((component: { name: string }) => component.name);
		const { dependencies } = await Bun.file(join(root, "package.json")).json();
		for (const wanted of ["bun", ...Object.keys(dependencies)]) expect(names).toContain(wanted);
	});

	test("unpacks into one folder: the executable, links to it, documents whose links lead somewhere", () => {
		const folder = join(place, `${name}-${host}`);
		expect(run(["tar", "xzf", join(release, `${name}-${host}.tar.gz`)]).exitCode).toBe(0);
		for (const file of ["LICENSE", "instances/example/.env", "docker/systemd/guildhall-gateway.service"]) {
			expect(readFileSync(join(folder, file)).equals(readFileSync(join(root, file)))).toBe(true);
			expect(statSync(join(folder, file)).mode & 0o777).toBe(0o644);
		}
		const documents = [...new Glob("**/*.md").scanSync({ cwd: folder, dot: true })];
		const links = documents.flatMap((path) => linksIn({ path, text: readFileSync(join(folder, path), "utf8") }));
		expect(links.length).toBeGreaterThan(100);
		expect(links.filter((link) => !existsSync(join(folder, link)))).toEqual([]);
		const time = Number(run(["git", "log", "-1", "--format=%ct"], root).stdout);
		const unpacked = statSync(join(folder, "guildhall"));
		expect([unpacked.mode & 0o777, unpacked.mtimeMs]).toEqual([0o755, time * 1_000]);
		for (const link of ["gateway", "bot"]) expect(lstatSync(join(folder, link)).isSymbolicLink()).toBe(true);
	});

	test("for Windows has no links", async () => {
		const archive = new Bun.Archive(readFileSync(join(release, `${name}-windows-x64.tar.gz`)));
		const names = [...(await archive.files()).keys()];
		expect(names).toContain(`${name}-windows-x64/guildhall.exe`);
		expect(names).not.toContain(`${name}-windows-x64/bot`);
	});

	test("has packages that npx runs in an empty home, and that nobody can publish without an owner", async () => {
		const home = join(place, "home");
		mkdirSync(home);
		const packed = [`${name}.tgz`, launchers[0] ?? ""].map((file) => join(release, file));
		const installed = run(["npm", "install", "--offline", "--no-audit", ...packed], home, { HOME: home });
		expect(installed.exitCode).toBe(0);
		const started = run(["npx", "--offline", "guildhall", "demo", "--json"], home, { HOME: home });
		expect(started).toMatchObject({ exitCode: 3, stdout: "ran: demo --json" });
		expect(await Bun.file(join(home, "node_modules/guildhall/package.json")).json()).toMatchObject({ private: true });
		expect(run([script, "--publishable"]).exitCode).toBe(1);
	});
});
