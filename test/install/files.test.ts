// The files that install writes, checked by systemd and Caddy where these are installed. They are replaced whole or not at all.

import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { siteFor } from "../../src/install/caddy.ts";
import { openPlace } from "../support/place.ts";

const docker = join(import.meta.dir, "../../docker");
const read = (path: string) => Bun.file(join(docker, path)).text();
const unit = await read("systemd/guildhall.service");

describe("the unit", () => {
	test("has the sandbox of the units for single programs", async () => {
		const sandbox = (text: string) => text.split("NoNewPrivileges")[1]?.split("[Install]")[0];
		expect(sandbox(unit)).toBeString();
		for (const other of ["guildhall-bot@.service", "guildhall-gateway.service"])
			expect(sandbox(unit)).toBe(sandbox(await read(`systemd/${other}`)));
	});

	test("ends only after the gateway and the bots have drained, and keeps the others after a kill for memory", () => {
		const value = (key: string) => new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1];
		// 30 s of the gateway (SHUTDOWN_SECONDS under "up"), then 26 s of each bot.
		expect(Number(value("TimeoutStopSec"))).toBeGreaterThan(30 + 26 + 10);
		expect(value("KillMode")).toBe("mixed");
		expect(value("OOMPolicy")).toBe("continue");
	});

	const analyze = Bun.which("systemd-analyze");
	if (!analyze) console.warn("the unit is not verified: systemd-analyze is not installed");

	test.skipIf(!analyze)("is understood by systemd, and exposed to 2 of 10 at the most", async () => {
		using place = openPlace();
		const path = place.at("guildhall.service");
		place.write("guildhall.service", unit.replace(/^(ExecStart=)\S+/m, `$1${process.execPath}`));
		const verified = place.run(["systemd-analyze", "verify", "--man=no", path]);
		expect(verified).toMatchObject({ stderr: "", exitCode: 0 });
		const options = ["--offline=true", "--threshold=20", "--no-pager"];
		const security = place.run(["systemd-analyze", "security", ...options, path]);
		expect(security.stdout).toContain("Overall exposure level");
		expect(security.exitCode).toBe(0);
	});
});

describe("the site of Caddy", () => {
	const site = siteFor("mcp.other.example.org", "127.0.0.1:9200");

	test("is the example with another domain and port", async () => {
		const body = (text: string) => text.slice(text.indexOf("\n\n"));
		expect(body(site)).toBe(
			body(await read("proxy/Caddyfile"))
				.replace("\nmcp.example {", "\nmcp.other.example.org {")
				.replace("127.0.0.1:9100", "127.0.0.1:9200"),
		);
	});

	if (!Bun.which("caddy")) console.warn("the site is not read: caddy is not installed");

	test.skipIf(!Bun.which("caddy"))("is understood by Caddy, beside the sites that Debian's package has", async () => {
		using place = openPlace();
		place.write("guildhall.caddy", site);
		place.write("Caddyfile", ":80 {\n\troot * /usr/share/caddy\n\tfile_server\n}\nimport guildhall.caddy\n");
		const options = ["--validate", "--adapter", "caddyfile", "--config", "Caddyfile"];
		const { stdout, exitCode } = place.run(["caddy", "adapt", ...options]);
		expect(exitCode).toBe(0);
		const { servers } = JSON.parse(stdout).apps.http;
		const hosts = Object.values<{ listen: string[]; routes: { match?: { host: string[] }[] }[] }>(servers).map(
			({ listen, routes }) => [listen, routes[0]?.match?.[0]?.host],
		);
		expect(hosts).toContainEqual([[":443"], ["mcp.other.example.org"]]);
	});
});

test.skipIf(process.platform === "win32").each([
	["written", `writeAtomically("file", "x".repeat(1 << 20), 0o600)`],
	["copied", `copyAtomically("large", "file", 0o755)`],
])("what can only be %s in part leaves the old file", (_, statement) => {
	const atomic = join(import.meta.dir, "../../src/install/atomic.ts");
	using place = openPlace();
	place.write("file", "old");
	place.write("large", "x".repeat(1 << 20));
	const script = `import { copyAtomically, writeAtomically } from ${JSON.stringify(atomic)}; ${statement}`;
	// A disk that is full after 8 blocks; without the trap, the signal would end it before there is an error.
	const limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh"];
	expect(place.run([...limited, process.execPath, "-e", script]).exitCode).not.toBe(0);
	expect(place.read("file")).toBe("old");
	expect(readdirSync(place.path).sort()).toEqual(["file", "large"]);
});
