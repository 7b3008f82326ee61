// docker/README.md: each command in it is tried here or elsewhere, or cannot be tried without what is named.

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { example } from "../../src/bot/config/example.ts";
import { makeInstance } from "../../src/bot/setup/new-instance.ts";
import { readCompose } from "../support/compose.ts";
import { openPlace } from "../support/place.ts";

const project = join(import.meta.dir, "../..");
const text = await Bun.file(join(project, "docker/README.md")).text();
const [, ...sections] = text.split(/^## /m);
const commands = sections.flatMap((section) =>
	[...section.matchAll(/^ {4}(.*)$/gm)].map(([, command = ""]) => ({ section: section.split("\n")[0] ?? "", command })),
);

const commandsOf = (name: string) => commands.filter(({ section }) => section === name);

test("every section with commands is one that is tried", () => {
	expect([...new Set(commands.map(({ section }) => section))]).toEqual([
		"Containers",
		"A container for each bot",
		"Kubernetes",
		// systemd.test.ts carries them out.
		"systemd",
		// upkeep.test.ts carries them out, or holds them against the files.
		"Back up, upgrade, go back",
		"Another bot, or a volume without roles",
	]);
});

test("containers: what the commands name is there, and the secrets that they make are enough", async () => {
	const [demo, user, ...up] = commandsOf("Containers");
	// upkeep.test.ts compares these commands with the file.
	expect(up.map(({ command }) => / guildhall (?:\/\S+ )?(\S.*)$/.exec(command)?.[1])).toEqual([
		...["new-instance alpha", undefined],
		"up restart alpha",
		"up status",
	]);
	const [newInstance, secrets, bot, ...more] = commandsOf("A container for each bot");
	expect(more).toEqual([]);
	// These need an engine. What they start is started in containers.test.ts.
	for (const line of [demo, bot]) {
		const [, file = ""] = /^docker compose -f (docker\/\S+) up --build( --detach)?$/.exec(line?.command ?? "") ?? [];
		expect(file).not.toBe("");
		expect(existsSync(join(project, file))).toBe(true);
	}
	// It writes into the project; test/bot/main.long.test.ts has it write elsewhere.
	const { scripts } = await Bun.file(join(project, "package.json")).json();
	expect(newInstance?.command).toBe("bun run new-instance bot");
	expect(scripts).toHaveProperty("new-instance");

	using place = openPlace();
	mkdirSync(place.at("docker"));
	const made = makeInstance("bot", place.at("instances"), example);
	const make = (command = "") => {
		expect(place.run(["sh", "-c", command]).exitCode).toBe(0);
		return parseEnv(place.read("docker/.env")) as Record<string, string>;
	};
	const own = await readCompose("compose.yaml", make(user?.command));
	expect(own.services.guildhall?.user).toBe(`${process.getuid?.()}:${process.getgid?.()}`);
	rmSync(place.at("docker/.env"));
	const { services } = await readCompose("compose.postgres.yaml", make(secrets?.command));
	// One token, wherever one looks.
	for (const name of ["bot", "gateway"]) expect(services[name]?.environment.MCP_AUTH_TOKEN).toBe(made.token);
	expect(services.bot?.environment.DATABASE_URL).toMatch(/bot:[0-9a-f]{64}@postgres/);
	expect(statSync(place.at("docker/.env")).mode & 0o777).toBe(0o600);
	expect(services.bot?.user).toBe(`${process.getuid?.()}:${process.getgid?.()}`);
});

test("Kubernetes: what is applied is there", () => {
	// It needs a cluster. What it would send is held against its rules in kubernetes.test.ts.
	expect(commandsOf("Kubernetes").map(({ command }) => command)).toEqual([
		"kubectl apply --kustomize docker/kubernetes/example",
	]);
	const example = join(project, "docker/kubernetes/example");
	expect(existsSync(join(example, "kustomization.yaml"))).toBe(true);
});

test("every file that it names is there", () => {
	const links = [...text.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path);
	expect(links.length).toBeGreaterThan(5);
	for (const path of links) expect([path, existsSync(join(project, "docker", path ?? ""))]).toEqual([path, true]);
});
