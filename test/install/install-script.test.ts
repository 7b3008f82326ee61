// install.sh with a release of two files on a local server, on Linux x64 as far as it can see.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPlace } from "../support/place.ts";
import { startCommand } from "../support/program.ts";

const script = join(import.meta.dir, "../../src/install/install.sh");
const isRoot = process.getuid?.() === 0;
const tools =
	"sh cat chmod cp grep id mkdir mktemp mv rm sed sha256sum sort tail tar gzip mount curl unshare setsid".split(" ");
const name = "guildhall-1.2.3-linux-x64";
const executable = (version: string) =>
	`#!/bin/sh\n[ "$1" = --version ] && echo "${version} (commit x)" || echo "ran: $*"\n`;
const stub = (text: string) => `#!/bin/sh\n${text}\n`;

const { path: place, write, run, [Symbol.dispose]: remove } = openPlace();
let server: ReturnType<typeof Bun.serve>;
let requests: string[] = [];
let isCut = false;

beforeAll(() => {
	chmodSync(place, 0o755);
	write(`${name}/guildhall`, executable("1.2.3"), 0o755);
	// Does not get smaller when packed.
	write(`${name}/README.md`, crypto.getRandomValues(new Uint8Array(60_000)));
	write(`${name}/docs/index.html`);
	run(["tar", "-czf", `${name}.tar.gz`, name]);
	const archive = readFileSync(join(place, `${name}.tar.gz`));
	const sum = Bun.SHA256.hash(archive, "hex");
	const sums: Record<string, string> = {
		"/SHA256SUMS": `${sum}  ${name}.tar.gz\n`,
		"/bad/SHA256SUMS": `${sum.replace(/./, (digit) => (digit === "0" ? "1" : "0"))}  ${name}.tar.gz\n`,
		"/other/SHA256SUMS": `${sum}  guildhall-1.2.3-darwin-x64.tar.gz\n`,
	};
	server = Bun.serve({
		port: 0,
		fetch(request) {
			const { pathname } = new URL(request.url);
			requests.push(pathname);
			if (sums[pathname]) return new Response(sums[pathname]);
			if (!pathname.endsWith(`/${name}.tar.gz`)) return new Response("", { status: 404 });
			if (!isCut) return new Response(archive);
			const begun = archive.subarray(0, 1_000);
			return new Response(
				new ReadableStream({ start: (it) => it.enqueue(begun), pull: (it) => it.error(new Error("cut")) }),
			);
		},
	});
});
afterAll(async () => {
	await server.stop(true);
	remove();
});

interface Row {
	args?: string;
	/** Path of the release on the server. */
	at?: string;
	/** Programs by name; "" leaves one out. */
	programs?: Record<string, string>;
	isCut?: boolean;
	present?: string;
	/** Command before `sh`. */
	under?: string[];
	uid?: number;
}

/** The version at the end, what is said, and under which conditions. "refused" exits with 1 and installs nothing. */
const rows: [name: string, end: string, expected: string | RegExp, row?: Row][] = [
	["each step is said, and done", "1.2.3", /1\. Fetch .*\n2\. Verify .*\n3\. Install .*\n(?:.*\n)*Installed 1\.2\.3/],
	["--dry-run only says it", "none", "Nothing was changed (--dry-run).", { args: "--dry-run" }],
	["a wrong checksum", "refused", "the checksum of", { at: "/bad" }],
	["no such platform in it", "refused", `SHA256SUMS does not list ${name}.tar.gz`, { at: "/other" }],
	["no such release", "refused", "could not fetch", { at: "/none" }],
	["an interrupted download", "refused", "completely. Nothing was installed.", { isCut: true }],
	["neither curl nor wget", "refused", "curl or wget is needed", { programs: { curl: "" } }],
	["nothing that computes checksums", "refused", "shasum is needed", { programs: { sha256sum: "" } }],
	["an unknown platform", "refused", "no release for SunOS on SunOS", { programs: { uname: stub("echo SunOS") } }],
	["musl", "none", "linux-x64-musl.tar.gz", { args: "--dry-run", programs: { ldd: stub("echo musl libc >&2") } }],
	["an older version", "1.2.3", "Guildhall 1.2.2 is installed: 1.2.3 will replace it.", { present: "1.2.2" }],
	["the same version", "1.2.3", "is installed already", { present: "1.2.3" }],
	["a newer version", "1.10.0", "which is newer than 1.2.3", { present: "1.10.0" }],
	["a domain without systemd", "refused", "--domain needs root on Linux with systemd", { args: "--domain a.example" }],
	["an unknown argument", "refused", "unknown argument --what", { args: "--what" }],
	["--help", "none", "Usage: install.sh", { args: "--help" }],
];
const wget = Bun.which("wget");
if (wget) rows.push(["wget in place of curl", "1.2.3", "Installed 1.2.3", { programs: { curl: "", wget } }]);
const inMount = (text: string) => ["unshare", "--mount", "sh", "-c", `${text} && exec "$@"`, "sh"];
if (isRoot && Bun.spawnSync(["unshare", "--mount", "true"]).success) {
	const small = "mkdir -p $HOME/small && mount -t tmpfs -o size=80k tmpfs $HOME/small && export TMPDIR=$HOME/small";
	rows.push(["a full disk", "refused", /is the disk full|could not fetch/, { under: inMount(small) }]);
	const systemd = inMount("mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system");
	const args = "--to /usr/local/bin --domain a.example --yes";
	rows.push(["a server", "none", "ran: install --domain a.example --yes", { args, under: systemd }]);
	const silent = { args: "--to /usr/local/bin", under: ["setsid", "--wait", ...systemd] };
	rows.push(["a server without a terminal", "refused", "add --yes to go on without a question", silent]);
	rows.push(["no root, in ~/.local/bin", "1.2.3", "Installed 1.2.3", { uid: 65_534 }]);
}

test.each(rows)("%s: %s", async (_name, end, expected, row = {}) => {
	const home = mkdtempSync(join(place, "home-"));
	chmodSync(home, 0o777);
	const bin = join(home, ".local/bin");
	const path = join(home, "programs");
	mkdirSync(path);
	const found = Object.fromEntries(tools.map((tool) => [tool, Bun.which(tool) ?? ""]));
	const uname = stub('[ "$1" = -s ] && echo Linux || echo x86_64');
	for (const [tool, what] of Object.entries({ ...found, uname, ldd: stub("echo GLIBC"), ...row.programs })) {
		if (what.startsWith("#!")) writeFileSync(join(path, tool), what, { mode: 0o755 });
		else if (what) symlinkSync(what, join(path, tool));
	}
	const file = join(bin, "guildhall");
	if (row.present) {
		mkdirSync(bin, { recursive: true });
		writeFileSync(file, executable(row.present), { mode: 0o755 });
	}
	requests = [];
	isCut = row.isCut ?? false;
	const from = `http://127.0.0.1:${server.port}${row.at ?? ""}`;
	const to = row.uid ? [] : ["--to", bin];
	const args = ["--version", "1.2.3", "--from", from, ...to, ...(row.args?.split(" ") ?? [])];
	const command = [...(row.under ?? []), Bun.which("sh") ?? "sh", script, ...args];
	const ids = row.uid ? { uid: row.uid, gid: row.uid } : {};
	await using program = startCommand(command, { PATH: path, HOME: home }, { cwd: home, ...ids });
	const code = await program.exited;
	expect(program.lines.join("\n")).toMatch(expected);
	expect(code).toBe(end === "refused" || end === "1.10.0" ? 1 : 0);
	const installed = existsSync(file) ? readFileSync(file, "utf8").match(/echo "(\S+) /)?.[1] : undefined;
	expect(installed ?? (code === 0 ? "none" : "refused")).toBe(end);
	expect(existsSync(join(home, ".local/share/guildhall/docs/index.html"))).toBe(end === "1.2.3");
	if (row.args === "--dry-run") expect(requests).toEqual([]);
	// Nothing remains of the download.
	expect(existsSync(join(bin, ".guildhall.new"))).toBe(false);
});

test.skipIf(!Bun.which("shellcheck"))("the scripts have no findings of shellcheck", () => {
	const scripts = [script, "src/build/release.sh", "src/build/packages/libc.sh"];
	const { stdout } = Bun.spawnSync(["shellcheck", ...scripts], { cwd: join(import.meta.dir, "../..") });
	expect(stdout.toString()).toBe("");
});
