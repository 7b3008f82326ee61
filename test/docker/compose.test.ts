// Checks the Docker Compose files and the Dockerfile against rules for deployments. containers.test.ts tests that the
// deployment works.

import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { readConfig } from "../../src/gateway/config/config.ts";
import {
	type ComposeFile,
	composeDirectory,
	databasePasswords,
	readCompose,
	type Service,
	seconds,
} from "../support/compose.ts";
import { readStages } from "../support/images.ts";

const env = { MCP_AUTH_TOKEN: "0123456789abcdef", POSTGRES_PASSWORD: "secret", ...databasePasswords };
const stages = await readStages();

function required<T>(found: T | undefined, what: string): T {
	if (found === undefined) throw new Error(`there is no ${what}`);
	return found;
}

function parts(file: ComposeFile) {
	const { gateway, postgres, ...bots } = file.services;
	return {
		gateway: required(gateway, "gateway"),
		postgres: required(postgres, "postgres"),
		bots: Object.entries(bots),
	};
}

/** INSTANCES, as the gateway reads it. */
function instancesOf(gateway: Service) {
	return readConfig(gateway.environment).instances.map(({ name, url }) => ({ name, url }));
}

/** Returns the last instruction of this kind in our Dockerfile, which is the effective one. */
function lastOf(word: string, text = "") {
	const image = required(stages.at(-1), "image");
	const last = image.instructions.findLast((one) => one.word === word && one.rest.includes(text));
	return required(last, word);
}

describe.each([
	["compose.postgres.yaml", ["bot"]],
	["compose.several.yaml", ["alpha", "beta", "gamma"]],
])("%s", async (name, botNames) => {
	const file = await readCompose(name, env);
	const { gateway, postgres, bots } = parts(file);

	test("each instance has a directory of its own, which it can only read", () => {
		expect(bots.map(([, { volumes }]) => volumes)).toEqual(botNames.map((bot) => [`../instances/${bot}:/config:ro`]));
		for (const [, { environment }] of bots) expect(environment.CONFIG_DIR).toBe("/config");
	});

	test("directory, service and key in INSTANCES are called the same, and the URL has port 9090", () => {
		expect(bots.map(([bot]) => bot)).toEqual(botNames);
		expect(instancesOf(gateway)).toEqual(botNames.map((bot) => ({ name: bot, url: `http://${bot}:9090` })));
		for (const [, { environment }] of bots)
			expect(environment).toMatchObject({ MCP_PORT: "9090", MCP_BIND_ADDR: "0.0.0.0" });
	});

	test("the gateway starts when all backends are healthy, and they when the database is", () => {
		const healthy = { condition: "service_healthy" };
		expect(gateway.depends_on).toEqual(Object.fromEntries(botNames.map((bot) => [bot, healthy])));
		for (const [, { depends_on }] of bots) expect(depends_on).toEqual({ postgres: healthy });
	});

	test("health is asked every 10 s, for 5 s at the most, 12 times", () => {
		for (const { healthcheck } of Object.values(file.services))
			expect(healthcheck).toMatchObject({ interval: "10s", timeout: "5s", retries: 12 });
	});

	test("the gateway is published on the loopback alone, and nothing else is", () => {
		expect(gateway.ports).toEqual(["127.0.0.1:9100:9100"]);
		expect(gateway.environment.GATEWAY_PORT).toBe("9100");
		for (const [, bot] of bots) expect(bot.ports).toEqual([]);
		expect(postgres.ports).toEqual([]);
	});

	test.each([
		...["MCP_AUTH_TOKEN", "POSTGRES_PASSWORD"],
		...["gateway", ...botNames].map((bot) => `${bot.toUpperCase()}_DB_PASSWORD`),
	])("nothing starts without %s", (variable) => {
		for (const missing of [undefined, ""])
			expect(readCompose(name, { ...env, [variable]: missing } as typeof env)).rejects.toThrow(
				`${variable} is missing`,
			);
	});

	test("gateway and bots have the same token", () => {
		for (const { environment } of [gateway, ...bots.map(([, bot]) => bot)])
			expect(environment.MCP_AUTH_TOKEN).toBe(env.MCP_AUTH_TOKEN);
	});

	test("gateway and bots share a database, each with a role and a schema called as it is", () => {
		expect(gateway.environment).toMatchObject({
			GATEWAY_DATABASE: "postgres://gateway:of-gateway@postgres:5432/guildhall",
			GATEWAY_DB_SCHEMA: "gateway",
		});
		for (const [bot, { environment }] of bots)
			expect(environment).toMatchObject({
				DATABASE_URL: `postgres://${bot}:of-${bot}@postgres:5432/guildhall`,
				DB_SCHEMA: bot,
			});
		expect(postgres.image).toBe("postgres:17");
		const [data, script = "", ...more] = postgres.volumes;
		expect([data, more]).toEqual(["postgres:/var/lib/postgresql/data", []]);
		const [path = "", ...there] = script.split(":");
		expect(there).toEqual(["/docker-entrypoint-initdb.d/bot-roles.sh", "ro"]);
		// What cannot be executed the image would take into its own shell.
		expect(statSync(join(composeDirectory, path)).mode & 0o111).toBe(0o111);
		expect(file.volumes).toEqual({ postgres: null });
		expect(postgres.environment).toEqual({
			POSTGRES_USER: "guildhall",
			POSTGRES_DB: "guildhall",
			POSTGRES_PASSWORD: "secret",
			BOT_ROLES: ["gateway", ...botNames].map((bot) => `${bot}=of-${bot}`).join(" "),
		});
	});

	test("only gateway and bots reach the database, which has no way out", () => {
		expect(postgres.networks).toEqual(["database"]);
		for (const bot of [gateway, ...bots.map(([, one]) => one)]) expect(bot.networks).toEqual(["mcp", "database"]);
		expect(file.networks).toEqual({ mcp: null, database: { internal: true } });
	});

	test("people sign in with Discord where docker/.env has what that takes", async () => {
		const given = {
			PUBLIC_URL: "https://mcp.example.com",
			DISCORD_CLIENT_ID: "1".repeat(18),
			DISCORD_CLIENT_SECRET: "s",
		};
		const { services } = await readCompose(name, { ...env, ...given });
		expect(readConfig(services.gateway?.environment ?? {}).signIn?.publicUrl).toBe(given.PUBLIC_URL);
		expect(readConfig(gateway.environment).signIn).toBeUndefined();
	});

	test("everything is started again when it ends", () => {
		for (const { restart } of Object.values(file.services)) expect(restart).toBe("unless-stopped");
	});

	test("a stop waits for longer than the programs take", () => {
		const { shutdownMs } = readConfig(gateway.environment);
		for (const { stop_grace_period } of Object.values(file.services))
			expect(seconds(stop_grace_period)).toBeGreaterThan((2 * shutdownMs) / 1000);
	});
});

test("INSTANCES is one bot unless it is said otherwise", async () => {
	const INSTANCES = "alpha=http://alpha:9090,beta=http://beta:9090";
	const { gateway } = parts(await readCompose("compose.postgres.yaml", { ...env, INSTANCES }));
	expect(gateway.environment.INSTANCES).toBe(INSTANCES);
});

test("`guildhall up` has the instances to write to, needs nothing else, and is published on the loopback alone", async () => {
	const { services, volumes } = await readCompose("compose.yaml", {});
	const { guildhall } = services;
	expect(Object.keys(services)).toEqual(["guildhall"]);
	expect(guildhall?.command).toBeUndefined();
	expect(JSON.parse(lastOf("CMD").rest)).toEqual(["up"]);
	expect(guildhall?.volumes).toEqual(["../instances:/instances"]);
	expect(lastOf("ENV", "GUILDHALL_INSTANCES").rest).toContain("=/instances ");
	expect(guildhall?.environment).toEqual({});
	expect(volumes).toEqual({});
	expect(guildhall?.ports).toEqual(["127.0.0.1:9100:9100"]);
	expect(guildhall?.restart).toBe("unless-stopped");
	const there = await readCompose("compose.yaml", {
		INSTANCES_DIR: "/srv/bots",
		GUILDHALL_USER: "1000:1000",
		GUILDHALL_MEMORY: "4g",
	});
	expect(there.services.guildhall).toMatchObject({
		volumes: ["/srv/bots:/instances"],
		user: "1000:1000",
		mem_limit: "4g",
	});
});

test("connections pass to a new gateway where `guildhall up` replaces it, in a network of its own", async () => {
	for (const name of files) {
		const { services } = await readCompose(name, env);
		for (const service of Object.values(services))
			expect(service.sysctls).toEqual(isUp(service) ? { "net.ipv4.tcp_migrate_req": "1" } : undefined);
	}
});

test("the container of `guildhall up` has the limits and the time of its unit for systemd", async () => {
	const { services } = await readCompose("compose.yaml", {});
	const path = join(composeDirectory, "systemd/guildhall.service");
	const unit = await Bun.file(path).text();
	const { pids_limit, stop_grace_period = "" } = services.guildhall ?? {};
	expect(unit).toContain(`\nTasksMax=${pids_limit}\n`);
	expect(unit).toContain(`\nTimeoutStopSec=${seconds(stop_grace_period)}\n`);
});

test("the demo is published on the loopback alone, and is given no secret", async () => {
	const { services } = await readCompose("compose.demo.yaml", {});
	const { demo } = services;
	expect(Object.keys(services)).toEqual(["demo"]);
	expect(demo?.ports).toEqual(["127.0.0.1:9100:9100", "127.0.0.1:9200:9200"]);
	expect(demo?.environment).toEqual({});
	expect(demo?.volumes).toEqual([]);
});

const files = [...["compose.yaml", "compose.postgres.yaml"], ...["compose.several.yaml", "compose.demo.yaml"]];
const everything = await Promise.all(files.map(async (name) => [name, await readCompose(name, env)] as const));

const isUp = ({ build, command }: Service) => build && !command;

describe.each(
	everything.flatMap(([name, { services }]) =>
		Object.entries(services).map(([service, options]) => [`${name}: ${service}`, options] as const),
	),
)("%s", (_, service) => {
	test("has a read-only root, no capability, and no way to more rights", () => {
		expect(service.read_only).toBe(true);
		expect(service.cap_drop).toEqual(["ALL"]);
		expect(service.security_opt).toEqual(["no-new-privileges:true"]);
	});

	test("is not root", () => {
		const user = service.user ?? (service.build && lastOf("USER").rest);
		expect(user).toMatch(/^(65532:65532|postgres)$/);
	});

	test("has a limit for its memory, its processes and its log", () => {
		expect(service.mem_limit).toMatch(/^(256m|512m|1g|2g)$/);
		expect(service.pids_limit).toBe(isUp(service) ? 2_048 : 256);
		expect(service.logging).toEqual({ driver: "json-file", options: { "max-size": "10m", "max-file": "3" } });
	});

	test("asks for its health as its image does: a bot the bot, another the gateway", () => {
		if (!service.build) return;
		const { flags, rest } = lastOf("HEALTHCHECK");
		const { test, ...times } = service.healthcheck;
		const ofGateway = JSON.parse(rest.replace("CMD ", ""));
		const isBot = service.command?.[0] === "bot";
		const expected = ["CMD", ...ofGateway];
		expect(test).toEqual(isBot ? expected.with(2, "bot") : expected);
		expect({ ...flags, retries: Number(flags.retries) }).toEqual({ ...times });
	});

	test("has the one image of ours, or none", () => {
		expect(service.image).toBe(service.build ? "guildhall" : "postgres:17");
	});
});

test("the Dockerfile has no fault that a linter finds", async () => {
	const text = await Bun.file(join(composeDirectory, "Dockerfile")).text();
	expect(validate(text)).toEqual([]);
});

test("the image is labelled, and runs a file without a shell", () => {
	expect(lastOf("LABEL").rest).toContain('image.title="guildhall"');
	expect(JSON.parse(lastOf("ENTRYPOINT").rest)).toEqual(["/usr/local/bin/guildhall"]);
});

test("bases have a version, and dependencies are those of the lock file", () => {
	const names = stages.map(({ name }) => name);
	const bases = stages.map(({ from }) => from);
	const outside = [...new Set(bases.filter((from) => !names.includes(from)))];
	expect(outside).toEqual(["oven/bun:1.4.5", "gcr.io/distroless/base-debian12:nonroot"]);
	const installs = stages.flatMap(({ instructions }) => instructions).filter(({ rest }) => /\binstall\b/.test(rest));
	expect(installs.map(({ rest }) => rest)).toEqual(["bun install --frozen-lockfile --production"]);
});

test("no secret stands in an image or a file", async () => {
	const suspicious = /TOKEN|PASSWORD|SECRET|_KEY|DATABASE_URL/;
	for (const { instructions } of stages)
		for (const { word, rest } of instructions)
			expect(`${word} ${rest}`).not.toMatch(/^(ARG|ENV|LABEL).*(TOKEN|PASSWORD|SECRET|_KEY|DATABASE_URL)/);
	for (const name of files) {
		const text = await Bun.file(join(composeDirectory, name)).text();
		const values = text.split("\n").filter((line) => suspicious.test(line.split(":")[0] ?? ""));
		for (const line of values) expect(line).toMatch(/:\?|\$\{\w+:-\}/);
	}
});
