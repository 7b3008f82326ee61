// `guildhall install` and `uninstall`, in the image of a system, and on a system whose commands are recorded.

import { describe, expect, test } from "bun:test";
import { lstatSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { parseDomain, setLine } from "../../src/install/caddy.ts";
import { install, uninstall } from "../../src/install/install.ts";
import { lockSystem } from "../../src/install/lock.ts";
import { InstallError } from "../../src/install/step.ts";
import { checkSystem, openSystem, type System } from "../../src/install/system.ts";
import { openPlace } from "../support/place.ts";
import { testWith } from "../support/test-with.ts";

const imageTest = testWith(() => openImage());

const domain = "mcp.example.org";
const caddyfile = ":80 {\n\trespond hello\n}";
const gatewayEnv = "/var/lib/guildhall/instances/gateway.env";
const unit = "/etc/systemd/system/guildhall.service";
const executable = "/usr/local/bin/guildhall";

/** Creates the root directory of a system with Caddy, and runs install and uninstall on it. */
function openImage() {
	const { path: root, at, read, write, [Symbol.dispose]: dispose } = openPlace();
	write("/etc/caddy/Caddyfile", caddyfile);
	write("/new/guildhall", "version 1");
	write("/new/docs/CHANGELOG.md", "## 0.1.0");
	const said: string[] = [];
	const operator = { write: (line: string): void => void said.push(line), ask: async () => true };
	/** Returns every file and link outside /new with its content. */
	const tree = () =>
		Object.fromEntries(
			readdirSync(root, { recursive: true, encoding: "utf8" })
				.filter((name) => !name.startsWith("new/"))
				.flatMap((name) => {
					const stat = lstatSync(at(name));
					if (stat.isDirectory()) return [];
					return [[`/${name}`, stat.isSymbolicLink() ? readlinkSync(at(name)) : read(name)]];
				})
				.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
		);
	const system: System = openSystem(root);
	const installImage = (named?: string, where = system, by = operator) =>
		install(where, { executable: at("/new/guildhall"), domain: named }, by);
	return {
		at,
		write,
		system,
		operator,
		said,
		tree,
		read,
		mode: (path: string) => lstatSync(at(path)).mode & 0o777,
		env: () => parseEnv(read(gatewayEnv)),
		install: installImage,
		/** Installs with success, and returns what it says. */
		async again() {
			said.length = 0;
			expect(await installImage()).toBe(0);
			return said.join("\n");
		},
		uninstall: (deleteData = false, where = system, by = operator) => uninstall(where, { deleteData }, by),
		[Symbol.dispose]: dispose,
	};
}

describe("in an image", () => {
	imageTest("it makes what it says, once; uninstall keeps the data until told", async (image) => {
		const before = image.tree();
		expect(await image.install(domain)).toBe(0);
		const made = image.tree();
		expect(Object.keys(made)).toEqual([
			"/etc/caddy/Caddyfile",
			"/etc/caddy/guildhall.caddy",
			"/etc/sysctl.d/60-guildhall.conf",
			unit,
			"/etc/systemd/system/multi-user.target.wants/guildhall.service",
			"/etc/sysusers.d/guildhall.conf",
			executable,
			"/usr/local/share/guildhall/docs/CHANGELOG.md",
			"/var/lib/guildhall/install.json",
			gatewayEnv,
		]);
		expect(made["/etc/caddy/Caddyfile"]).toBe(`${caddyfile}\nimport /etc/caddy/guildhall.caddy\n`);
		expect(made["/etc/caddy/guildhall.caddy"]).toContain(`\n${domain} {\n`);
		expect(image.env()).toEqual({ MCP_ALLOWED_HOSTS: domain });
		expect(made[executable]).toBe("version 1");
		const modes = [executable, dirname(gatewayEnv), gatewayEnv].map(image.mode);
		expect(modes).toEqual([0o755, 0o700, 0o600]);

		expect(await image.again()).toContain("nothing to do");
		expect(image.tree()).toEqual(made);

		expect(await image.uninstall()).toBe(0);
		expect(Object.keys(image.tree())).toEqual([
			...Object.keys(before),
			"/etc/sysusers.d/guildhall.conf",
			"/var/lib/guildhall/install.json",
			gatewayEnv,
		]);
		expect(image.env()).toEqual({});
		expect(image.read("/etc/caddy/Caddyfile")).toBe(`${caddyfile}\n`);
		expect(await image.uninstall(true)).toBe(0);
		expect(Object.keys(image.tree())).toEqual(Object.keys(before));
		expect(await image.uninstall(true)).toBe(0);
		expect(image.said.at(-1)).toContain("not installed");
	});

	test.each(["install", "uninstall"] as const)(
		"%s that ends at any moment is finished by the next",
		async (program) => {
			/** Runs it in a new image, and again if this step was its last. */
			const run = async (last = 0) => {
				using image = openImage();
				if (program === "uninstall") await image.install(domain);
				let steps = 0;
				const write = (line: string) => {
					if (line.startsWith("… ") && ++steps === last) throw new Error("killed");
				};
				const start = (by: typeof image.operator) =>
					program === "install" ? image.install(domain, image.system, by) : image.uninstall(true, image.system, by);
				if (await start({ ...image.operator, write }).then(Boolean, () => true)) await start(image.operator);
				return { tree: image.tree(), steps };
			};
			const whole = await run();
			expect(whole.steps).toBeGreaterThan(5);
			for (let last = 1; last <= whole.steps; last++) expect((await run(last)).tree).toEqual(whole.tree);
		},
	);

	imageTest("an upgrade replaces what is ours, and keeps the domain", async (image) => {
		await image.install(domain);
		image.write("/new/guildhall", "version 2");
		const changes = (await image.again()).match(/^ {2}- .*$/gm);
		expect(changes).toEqual([expect.stringContaining(`replace ${executable}`)]);
		expect(image.read(executable)).toBe("version 2");
		expect(image.tree()).not.toHaveProperty([`${executable}.bak`]);

		await image.install("other.example.org");
		expect(image.env()).toEqual({ MCP_ALLOWED_HOSTS: "other.example.org" });
		expect(image.read("/etc/caddy/guildhall.caddy")).not.toContain(domain);
	});

	imageTest("what the operator changed stays, or is kept beside the new version", async (image) => {
		await image.install(domain);
		image.write(executable, "my own");
		image.write(gatewayEnv, `${image.read(gatewayEnv)}CALL_TIMEOUT_SECONDS=60`);
		const note = `Note: ${executable} was changed after it was installed; it is not replaced.`;
		expect(await image.again()).toContain(note);
		expect(image.read(executable)).toBe("my own");

		image.write("/new/guildhall", "version 2");
		expect(await image.again()).toContain(`is kept as ${executable}.bak`);
		expect(image.read(`${executable}.bak`)).toBe("my own");
		expect(image.read(executable)).toBe("version 2");

		image.write(executable, "my own again");
		await image.uninstall();
		expect(image.read(`${executable}.bak.2`)).toBe("my own again");
		expect(image.tree()).not.toHaveProperty([executable]);
		expect(image.env()).toEqual({ CALL_TIMEOUT_SECONDS: "60" });
	});

	imageTest("a file that was there before is kept, and other hosts are, too", async (image) => {
		image.write(unit, "[Service]\nExecStart=/opt/mine\n");
		image.write(gatewayEnv, "export MCP_ALLOWED_HOSTS=a.example, b.example");
		await image.install(domain);
		expect(image.read(`${unit}.bak`)).toContain("/opt/mine");
		expect(image.env()).toEqual({ MCP_ALLOWED_HOSTS: `a.example,b.example,${domain}` });
		await image.uninstall();
		expect(image.env()).toEqual({ MCP_ALLOWED_HOSTS: "a.example,b.example" });
	});

	imageTest("without consent nothing is changed", async (image) => {
		const before = image.tree();
		const refusing = { ...image.operator, ask: async () => false };
		expect(await image.install(domain, image.system, refusing)).toBe(1);
		expect(image.tree()).toEqual(before);
		await image.install(domain);
		const made = image.tree();
		expect(await image.uninstall(true, image.system, refusing)).toBe(1);
		// Only the second question is about deleting the data.
		let asked = 0;
		const half = { ...image.operator, ask: async () => ++asked === 1 };
		expect(await image.uninstall(true, image.system, half)).toBe(1);
		expect(asked).toBe(2);
		expect(image.tree()).toEqual(made);
	});

	imageTest("without Caddy there is no domain, and nothing is changed", async (image) => {
		rmSync(image.at("/etc/caddy"), { recursive: true, force: true });
		await expect(image.install(domain)).rejects.toThrow("Install it first: apt-get install caddy");
		expect(image.tree()).toEqual({});
		expect(await image.install()).toBe(0);
	});

	imageTest("root follows no link that the bots' user made", async (image) => {
		await image.install();
		image.write("/etc/secret", "MCP_ALLOWED_HOSTS=secret");
		symlinkSync(image.at("/etc/secret"), image.at(gatewayEnv));
		await expect(image.install(domain)).rejects.toThrow(/ELOOP|symbolic/);
		expect(image.read("/etc/secret")).toBe("MCP_ALLOWED_HOSTS=secret");
		expect(image.tree()[gatewayEnv]).toBe(image.at("/etc/secret"));
	});
});

describe("on a system that runs", () => {
	/** Returns a system whose commands are recorded. Its /proc contains what this machine's does. */
	function openRunning(image: ReturnType<typeof openImage>) {
		const commands: string[] = [];
		let isActive = false;
		let fails: string | undefined;
		const system: System = {
			image: undefined,
			isBooted: true,
			at: image.at,
			has: () => false,
			run(command) {
				const text = command.join(" ");
				if (text.startsWith("systemctl is-active")) {
					if (!isActive) throw new Error("inactive");
					return "";
				}
				commands.push(text);
				if (fails && text.includes(fails)) throw new Error("it does not work");
				if (text.includes("restart guildhall")) isActive = true;
				if (text.includes("stop guildhall")) isActive = false;
				const passwd = `guildhall:x:${process.getuid?.()}:${process.getgid?.()}::/:\n`;
				if (text.startsWith("systemd-sysusers")) image.write("/etc/passwd", passwd);
				if (text.startsWith("userdel")) image.write("/etc/passwd", "");
				return "";
			},
		};
		const failAt = (text?: string) => {
			fails = text;
		};
		return { system, commands, failAt };
	}

	const started = [
		"systemctl daemon-reload",
		"systemctl reset-failed guildhall.service",
		"systemctl restart guildhall.service",
	];

	imageTest(
		"the user is made, the service started and restarted, Caddy reloaded, and all of it undone",
		async (image) => {
			const { system, commands } = openRunning(image);
			await image.install(domain, system);
			expect(commands.splice(0)).toEqual([
				"systemd-sysusers /etc/sysusers.d/guildhall.conf",
				"systemctl reload-or-restart caddy",
				...started,
			]);
			await image.install(undefined, system);
			expect(commands).toEqual([]);
			image.write("/new/guildhall", "version 2");
			await image.install(undefined, system);
			expect(commands.splice(0)).toContain("systemctl restart guildhall.service");
			await image.uninstall(false, system);
			expect(commands.splice(0)).toEqual([
				"systemctl stop guildhall.service",
				"systemctl try-reload-or-restart caddy",
				"systemctl daemon-reload",
			]);
			await image.uninstall(true, system);
			expect(commands).toEqual(["userdel guildhall"]);
		},
	);

	imageTest("a step that fails says so, and the next run continues there", async (image) => {
		const { system, commands, failAt } = openRunning(image);
		failAt("caddy");
		await expect(image.install(domain, system)).rejects.toThrow(
			/^Failed to add "import .*reload Caddy: it does not work\n.*run the command again/,
		);
		// The Caddyfile is restored, so that Caddy can start without the site.
		expect(image.read("/etc/caddy/Caddyfile")).toBe(caddyfile);
		failAt();
		commands.length = 0;
		await image.install(undefined, system);
		expect(commands).toEqual(["systemctl reload-or-restart caddy", ...started]);
	});

	test("the kernel's setting is made and unmade, unless it was made before", async () => {
		for (const before of ["0\n", "1\n"]) {
			using image = openImage();
			const { system } = openRunning(image);
			const setting = "/proc/sys/net/ipv4/tcp_migrate_req";
			image.write(setting, before);
			await image.install(undefined, system);
			expect(image.read(setting).trim()).toBe("1");
			await image.uninstall(false, system);
			expect(image.read(setting).trim()).toBe(before.trim());
		}
	});

	imageTest("a user that was there before stays", async (image) => {
		const { system, commands } = openRunning(image);
		image.write("/etc/passwd", `guildhall:x:${process.getuid?.()}:${process.getgid?.()}::/:\n`);
		await image.install(undefined, system);
		await image.uninstall(true, system);
		expect(commands.join()).not.toMatch(/sysusers|userdel/);
	});
});

test("where it cannot work it says so in a line", () => {
	using image = openImage();
	const machine: System = { ...openSystem(), has: () => true };
	const check = (system: System, on: { platform?: string; uid?: number }) => () =>
		checkSystem(system, "install", { platform: "linux", uid: 0, ...on });
	check(machine, {})();
	check(image.system, { uid: 1000 })();
	const refused = [
		[check(machine, { uid: 1000 }), /^.*sudo.*$/],
		[check(machine, { platform: "darwin" }), /^.*Linux.*$/],
		[check({ ...machine, has: () => false }, {}), /^.*systemd.*$/],
		[check(openSystem(image.at("/new")), {}), /^.*--root.*$/],
	] as const;
	for (const [run, line] of refused) {
		expect(run).toThrow(InstallError);
		expect(run).toThrow(line);
	}
});

test("a second one at the same time is refused", () => {
	using image = openImage();
	const first = lockSystem(image.system);
	expect(() => lockSystem(image.system)).toThrow("is running");
	first[Symbol.dispose]();
	lockSystem(image.system)[Symbol.dispose]();
	expect(Object.keys(image.tree())).toEqual(["/etc/caddy/Caddyfile"]);
});

test.each([
	["mcp.example.org", "mcp.example.org"],
	["MCP.Example.org.", "mcp.example.org"],
	["bücher.example", "xn--bcher-kva.example"],
])("the domain %s is %s", (text, parsed) => {
	expect(parseDomain(text)).toBe(parsed);
});

test.each([
	...["", "localhost", "10.0.0.1", "https://mcp.example", "mcp.example/x"],
	...["mcp.example:443", "-a.example", "a b.example", "a.example {", "a..b"],
	...["a.example\nimport /etc/passwd", `${"a".repeat(64)}.example`, "*.a.org"],
])("%p is no domain", (text) => {
	expect(() => parseDomain(text)).toThrow("Expected a domain");
});

test("a line of an .env is set, replaced and removed", () => {
	expect(setLine("", "A", "1")).toBe("A=1\n");
	expect(setLine("B=2", "A", "1")).toBe("B=2\nA=1\n");
	expect(setLine("A=0\nAA=3\n export A = 5\n# A=4\n", "A", "1")).toBe("AA=3\n# A=4\nA=1\n");
	expect(setLine("A=0\nB=2\n", "A", "")).toBe("B=2\n");
});

test("from the sources it copies nothing", () => {
	using image = openImage();
	const main = join(import.meta.dir, "../../src/guildhall/main.ts");
	for (const [line, said, code] of [
		[["install", "--root", image.at("/"), "--yes"], 'run "bun run build"', 1],
		[["uninstall", "--root", image.at("/")], "not installed", 0],
		[["install", "--help"], "guildhall install [", 0],
		[["uninstall", "--help"], "guildhall uninstall [", 0],
	] as const) {
		const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, main, ...line], { stdin: "ignore" });
		expect([`${stdout}${stderr}`, exitCode]).toEqual([expect.stringContaining(said), code]);
	}
});
