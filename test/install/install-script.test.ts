// install.sh with a release of two files on a local server, on Linux x64 as far as it can see.

import { afterAll, beforeAll, expect, test } from "bun:test";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCommand } from "../support/program.ts";

const script = join(import.meta.dir, "../../src/install/install.sh");
const isRoot = process.getuid?.() === 0;
const tools = [
	"sh",
	"cat",
	"chmod",
	"cp",
	"grep",
	"id",
	"mkdir",
	"mktemp",
	"mv",
	"rm",
	"sed",
	"sha256sum",
	"sort",
	"tail",
	"tar",
	"gzip",
	"mount",
	"umount",
];
const name = "guildhall-1.2.3-linux-x64";
const executable = (version: string) =>
	`#!/bin/sh\n[ "$1" = --version ] && echo "${version} (commit x)" || echo "ran: $*"\n`;
const stub = (text: string) => `#!/bin/sh\n${text}\n`;

let place: string;
let server: ReturnType<typeof Bun.serve>;
let requests: string[] = [];
let isCut = false;

beforeAll(() => {
	place = mkdtempSync(join(tmpdir(), "guildhall-script-"));
	chmodSync(place, 0o755);
	mkdirSync(join(place, name));
	writeFileSync(join(place, name, "guildhall"), executable("1.2.3"), { mode: 0o755 });
	// Does not get smaller when packed.
	writeFileSync(join(place, name, "README.md"), crypto.getRandomValues(new Uint8Array(60_000)));
	Bun.spawnSync(["tar", "-czf", `${name}.tar.gz`, name], { cwd: place });
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
			const parts = [archive.subarray(0, 1_000)];
			return new Response(
				new ReadableStream({
					pull: (stream) => (parts.length > 0 ? stream.enqueue(parts.pop()) : stream.error(new Error("cut"))),
				}),
			);
		},
	});
});
afterAll(async () => {
	await server.stop(true);
	rmSync(place, { recursive: true, force: true });
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
	expected: string | RegExp;
	code: 0 | 1;
	/** Version at the end; undefined: none. */
	installed?: string;
}

const rows: Record<string, Row> = {
	"each step is said, and done": {
		expected: /1\. Fetch .*\n2\. Verify .*\n3\. Install .*\n(?:.*\n)*Installed 1\.2\.3/,
		code: 0,
		installed: "1.2.3",
	},
	"--dry-run only says it": { args: "--dry-run", expected: "Nothing was changed (--dry-run).", code: 0 },
	"a wrong checksum": { at: "/bad", expected: "the checksum of", code: 1 },
	"a release without this platform": { at: "/other", expected: `SHA256SUMS does not list ${name}.tar.gz`, code: 1 },
	"no such release": { at: "/none", expected: "could not fetch", code: 1 },
	"an interrupted download": { isCut: true, expected: "completely. Nothing was installed.", code: 1 },
	"wget in place of curl": {
		programs: { curl: "", wget: "/usr/bin/wget" },
		expected: "Installed 1.2.3",
		code: 0,
		installed: "1.2.3",
	},
	"neither curl nor wget": { programs: { curl: "" }, expected: "curl or wget is needed", code: 1 },
	"nothing that computes checksums": { programs: { sha256sum: "" }, expected: "shasum is needed", code: 1 },
	"an unknown platform": {
		programs: { uname: stub("echo SunOS") },
		expected: "there is no release for SunOS on SunOS",
		code: 1,
	},
	"Linux with musl": {
		args: "--dry-run",
		programs: { ldd: stub("echo musl libc >&2") },
		expected: "guildhall-1.2.3-linux-x64-musl.tar.gz",
		code: 0,
	},
	"an older version is present": {
		present: "1.2.2",
		expected: "Guildhall 1.2.2 is installed: 1.2.3 will replace it.",
		code: 0,
		installed: "1.2.3",
	},
	"the same version is present": { present: "1.2.3", expected: "is installed already", code: 0, installed: "1.2.3" },
	"a newer version is present": {
		present: "1.10.0",
		expected: "which is newer than 1.2.3",
		code: 1,
		installed: "1.10.0",
	},
	"--domain without systemd": {
		args: "--domain mcp.example.com",
		expected: "--domain needs root on Linux with systemd",
		code: 1,
	},
	"an unknown argument": { args: "--what", expected: "unknown argument --what", code: 1 },
	"--help": { args: "--help", expected: "Usage: install.sh", code: 0 },
};
if (isRoot) {
	const inMount = (text: string) => ["unshare", "--mount", "sh", "-c", `${text} && exec "$@"`, "sh"];
	rows["a full disk"] = {
		under: inMount(`mkdir -p $HOME/small && mount -t tmpfs -o size=80k tmpfs $HOME/small && export TMPDIR=$HOME/small`),
		expected: /is the disk full|could not fetch/,
		code: 1,
	};
	rows["a server runs guildhall install"] = {
		args: "--to /usr/local/bin --domain mcp.example.com --yes",
		under: inMount("mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system"),
		expected: "ran: install --domain mcp.example.com --yes",
		code: 0,
	};
	rows["a server without a terminal is not installed without a question"] = {
		args: "--to /usr/local/bin",
		under: ["setsid", ...inMount("mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system")],
		expected: "add --yes to go on without a question",
		code: 1,
	};
	rows["no root, in ~/.local/bin"] = { uid: 65_534, expected: "Installed 1.2.3", code: 0, installed: "1.2.3" };
}

test.each(Object.entries(rows))("%s", async (_name, row) => {
	const home = mkdtempSync(join(place, "home-"));
	chmodSync(home, 0o777);
	const bin = join(home, ".local/bin");
	const path = join(home, "programs");
	mkdirSync(path);
	const found = Object.fromEntries(
		["curl", "unshare", "setsid", ...tools].map((tool) => [tool, Bun.which(tool) ?? ""]),
	);
	const uname = stub('[ "$1" = -s ] && echo Linux || echo x86_64');
	for (const [tool, what] of Object.entries({ ...found, uname, ldd: stub("echo GLIBC"), ...row.programs })) {
		if (what.startsWith("#!")) writeFileSync(join(path, tool), what, { mode: 0o755 });
		else if (what) symlinkSync(what, join(path, tool));
	}
	if (row.present) {
		mkdirSync(bin, { recursive: true });
		writeFileSync(join(bin, "guildhall"), executable(row.present), { mode: 0o755 });
	}
	requests = [];
	isCut = row.isCut ?? false;
	const from = `http://127.0.0.1:${server.port}${row.at ?? ""}`;
	const args = [
		"--version",
		"1.2.3",
		"--from",
		from,
		...(row.uid ? [] : ["--to", bin]),
		...(row.args?.split(" ") ?? []),
	];
	const ids = row.uid ? { uid: row.uid, gid: row.uid } : {};
	await using program = startCommand(
		[...(row.under ?? []), Bun.which("sh") ?? "sh", script, ...args],
		{ PATH: path, HOME: home },
		{ cwd: home, ...ids },
	);
	const code = await program.exited;
	const output = program.lines.join("\n");
	expect(output).toMatch(row.expected);
	expect(code).toBe(row.code);
	const file = join(bin, "guildhall");
	const installed = existsSync(file) ? readFileSync(file, "utf8").match(/echo "(\S+) /)?.[1] : undefined;
	expect(installed).toBe(row.installed as string);
	if (row.args === "--dry-run") expect(requests).toEqual([]);
	// Nothing remains of the download.
	expect(existsSync(join(bin, ".guildhall.new"))).toBe(false);
});

test.skipIf(!Bun.which("shellcheck"))("the scripts have no findings of shellcheck", () => {
	const scripts = [script, "src/build/release.sh", "src/build/packages/libc.sh"];
	const { stdout } = Bun.spawnSync(["shellcheck", ...scripts], { cwd: join(import.meta.dir, "../..") });
	expect(stdout.toString()).toBe("");
});
