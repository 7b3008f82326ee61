// docker/README.md on backing up, upgrading and going back. What needs no engine, cluster or systemd is carried out: tar on
// the paths of the units, and pg_dump and pg_restore where a server of their version is installed. The others are held
// against the files: what they name is there. That engine and cluster take them, nobody has tried.

import { describe, expect, test } from "bun:test";
import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { freePort } from "../../src/demo/ports.ts";
import { type ComposeFile, databasePasswords, readCompose } from "../support/compose.ts";
import { project, readDocument, wordsOf } from "../support/documents.ts";
import { manifests, readManifests } from "../support/kubernetes.ts";
import { openPlace } from "../support/place.ts";
import { openStore, thingsTable } from "../support/stores.ts";

const { text } = await readDocument("docker/README.md");

/** A part of the README, and its commands. */
function part(heading: string) {
	const [, after = ""] = text.split(`${heading}\n`);
	const [said = ""] = after.split(/^#/m);
	return { said, commands: linesIn(said) };
}

const linesIn = (said: string) => [...said.matchAll(/^ {4}(.*)$/gm)].map(([, line = ""]) => line);

/** Each block of commands of a part. */
const blocksIn = (said: string) =>
	said
		.split(/\n\n/)
		.map(linesIn)
		.filter(({ length }) => length > 0);

const up = part("### With `guildhall up` in a container");
const compose = part("### With a container for each bot");
const kubernetes = part("### With Kubernetes");
const systemd = part("### With systemd");

const roles = part("## Another bot, or a volume without roles");

const env = { MCP_AUTH_TOKEN: "token", POSTGRES_PASSWORD: "password", ...databasePasswords };

/** The database programs among the commands: what runs in the container of PostgreSQL, as a shell there would have it. */
const inPostgres = (commands: readonly string[]) =>
	commands.flatMap((line) => {
		const [, command] = /(?:exec -T postgres|exec (?:--stdin )?postgres-0 --) (.*)$/.exec(line) ?? [];
		return command === undefined ? [] : [command];
	});

/** The one of them that is no program of PostgreSQL's. */
const makesRoles = "sh /docker-entrypoint-initdb.d/bot-roles.sh";

describe("Compose", async () => {
	const file = await readCompose("compose.postgres.yaml", env);
	const several = await readCompose("compose.several.yaml", env);

	const files: Record<string, ComposeFile> = {
		"docker/compose.yaml": await readCompose("compose.yaml", {}),
		"docker/compose.postgres.yaml": file,
		"docker/compose.demo.yaml": await readCompose("compose.demo.yaml", {}),
	};

	/** Its options as https://docs.docker.com/reference/cli/docker/compose/ has them. */
	const options: Record<string, readonly string[]> = {
		build: [],
		run: ["--rm", "--build"],
		down: [],
		up: ["--build", "--detach", "--wait"],
		exec: ["-T"],
		stop: [],
		start: [],
	};

	test("its commands name a file, services and options that there are", () => {
		const lines = [
			...["## Containers", "## A container for each bot"].flatMap((heading) => part(heading).commands),
			...[...up.commands, ...compose.commands, ...roles.commands],
		].filter((line) => line.startsWith("docker "));
		expect(lines.length).toBeGreaterThan(6);
		for (const line of lines) {
			const [docker, word, f, path, name = "", ...rest] = wordsOf(line.replace(/ [<>] \S+$/, ""));
			expect([docker, word, f]).toEqual(["docker", "compose", "-f"]);
			const { services } = files[path ?? ""] ?? {};
			const own = rest.findIndex((one) => !one.startsWith("-"));
			const given = own < 0 ? rest : rest.slice(0, own);
			expect([line, options[name]]).toEqual([line, expect.arrayContaining(given)]);
			if (own >= 0) expect(Object.keys(services ?? {})).toContain(rest[own] ?? "");
			else expect([line, services]).toEqual([line, expect.anything()]);
		}
	});

	test("the volume is that of both files, and the demo has none", async () => {
		for (const { name, services, volumes } of [file, several]) {
			expect(compose.said).toContain(
				`\`${Object.keys(volumes)}\`, which Docker calls \`${name}_${Object.keys(volumes)}\``,
			);
			expect(services.postgres?.volumes).toContain("postgres:/var/lib/postgresql/data");
			expect(services.postgres?.volumes.join()).toContain(makesRoles.slice("sh ".length));
		}
		expect((await readCompose("compose.demo.yaml", {})).volumes).toEqual({});
	});

	test("with `guildhall up`, what is copied comes back, with its owners and modes", async () => {
		using place = openPlace();
		const name = "instances/alpha/data/store.sqlite";
		const run = (line: string) => expect(place.run(["sh", "-c", line])).toMatchObject({ exitCode: 0 });
		const store = place.at(name);
		mkdirSync(dirname(store), { recursive: true, mode: 0o700 });
		place.write(name, "old", 0o600);
		const [copy = [], , goBack = []] = blocksIn(up.said).map((lines) =>
			lines.filter((line) => !line.startsWith("docker ")),
		);
		expect([copy.length, goBack.length]).toEqual([1, 2]);
		copy.forEach(run);
		place.write(name, "new");
		goBack.forEach(run);
		expect(place.read(name)).toBe("old");
		expect(lstatSync(store).mode & 0o777).toBe(0o600);
		expect(lstatSync(dirname(store)).mode & 0o777).toBe(0o700);
	});

	test("an SQLite file is copied from where it is said to be kept", () => {
		const [, kept = ""] = /`\.\.\/(\S+):\/data`/.exec(part("## A container for each bot").said) ?? [];
		expect(kept).not.toBe("");
		expect(compose.commands).toContain(`cp -Rp ${kept} bot-data`);
	});

	test("each bot's schema is called as its service, and the database as it says", () => {
		for (const { services } of [file, several])
			for (const [name, { environment }] of Object.entries(services))
				if (environment.DATABASE_URL) {
					expect(environment.DB_SCHEMA).toBe(name);
					expect(compose.said).toContain(`\`${name}\``);
				}
		const { POSTGRES_USER, POSTGRES_DB } = file.services.postgres?.environment ?? {};
		const commands = inPostgres(compose.commands);
		expect(commands).toHaveLength(4);
		expect(commands[3]).toBe(makesRoles);
		for (const command of commands.slice(0, 3)) {
			expect(command).toContain(`--username=${POSTGRES_USER} `);
			expect(command).toMatch(new RegExp(` (--dbname=)?${POSTGRES_DB}( --single-transaction <| >|$)`));
		}
	});
});

const claims = v.object({ volumeClaimTemplates: v.tuple([v.object({ metadata: v.object({ name: v.string() }) })]) });

describe("Kubernetes", async () => {
	const path = join(manifests, "postgres/postgres.yaml");
	const [set] = await readManifests(path);
	const pod = `${set?.metadata.name}-0`;
	const example = Bun.YAML.parse(await Bun.file(join(manifests, "example/kustomization.yaml")).text()) as {
		namespace: string;
		resources: string[];
		images: object[];
	};

	test("its commands name a namespace, a pod, a bot and a label that there are", async () => {
		expect([set?.kind, pod]).toEqual(["StatefulSet", "postgres-0"]);
		const { volumeClaimTemplates } = v.parse(claims, set?.spec);
		expect(kubernetes.said).toContain(`\`${volumeClaimTemplates[0].metadata.name}-${pod}\``);
		expect(example.resources).toContain("alpha");
		const alpha = await Bun.file(join(manifests, "example/alpha/kustomization.yaml")).text();
		expect(alpha).toContain("app.kubernetes.io/instance: alpha");
		expect(alpha).toContain("includeTemplates: true");
		for (const image of example.images) expect(image).toHaveProperty("newTag");
		const ours = roles.commands.filter((line) => line.startsWith("kubectl "));
		expect(ours.length).toBeGreaterThan(2);
		for (const line of [...kubernetes.commands, ...ours]) {
			if (line === "kubectl apply --kustomize docker/kubernetes/example") continue;
			expect(line).toStartWith(`kubectl --namespace ${example.namespace} `);
			expect(line).toMatch(
				/ (postgres-0 -- |deployment\/alpha\b|statefulset\/postgres$|pod --selector=app\.kubernetes\.io\/instance=alpha )/,
			);
		}
	});

	test("the database is what the pod makes, and the commands in it are those of Compose", () => {
		const variables = set?.spec.template.spec.containers[0].env ?? [];
		for (const name of ["POSTGRES_USER", "POSTGRES_DB"]) expect(variables).toContainEqual({ name, value: "guildhall" });
		expect(inPostgres(kubernetes.commands).map((line) => line.replaceAll("alpha", "bot"))).toEqual(
			inPostgres(compose.commands),
		);
		expect(new Set(inPostgres(roles.commands))).toEqual(new Set([makesRoles]));
		const [container] = set?.spec.template.spec.containers ?? [];
		expect(container?.volumeMounts).toContainEqual({
			name: "bot-roles",
			mountPath: dirname(makesRoles.slice(3)),
			readOnly: true,
		});
	});

	test.skipIf(!Bun.which("kubectl"))("kubectl has all options", () => {
		for (const line of kubernetes.commands) {
			const [ours = ""] = line.split(" -- ");
			const [, command = ""] = /^kubectl (?:--namespace \S+ )?(rollout status|\w+)/.exec(ours) ?? [];
			const help = ["--help", "options"].map((last) =>
				Bun.spawnSync([...["kubectl", ...(last === "options" ? [] : command.split(" "))], last]).stdout.toString(),
			);
			for (const [, option = ""] of ours.matchAll(/ (--[\w-]+)/g))
				expect([line, help.join("")]).toEqual([line, expect.stringContaining(`${option}=`)]);
		}
	});
});

describe("systemd", async () => {
	const units = join(project, "docker/systemd");
	const bot = await Bun.file(join(units, "guildhall-bot@.service")).text();
	const [backUp = [], upgrade = [], goBack = []] = blocksIn(systemd.said);

	test("its commands name units, directories and programs as the units have them", () => {
		expect(bot).toContain("StateDirectory=guildhall/%i\n");
		const [check = "", ...more] = upgrade;
		const [, variables = ""] = /^(.*) dist\/guildhall bot --check$/.exec(check) ?? [];
		expect(variables.split(" ")).toHaveLength(2);
		for (const variable of variables.split(" "))
			expect(bot).toContain(`Environment=${variable.replace(/alpha$/, "%i")}\n`);
		// systemd.test.ts installs with them.
		const installs = more.filter((line) => line.startsWith("install "));
		expect(installs).toHaveLength(2);
		expect(part("## systemd").commands).toEqual(expect.arrayContaining([...installs, "systemctl daemon-reload"]));
		for (const line of systemd.commands)
			for (const [, name = "", of] of line.matchAll(/\b(guildhall-\w+)(@alpha)?(?= |$)(?!\.)/g))
				if (line.startsWith("systemctl "))
					expect(existsSync(join(units, `${name}${of ? "@" : ""}.service`))).toBe(true);
	});

	test("what is backed up comes back, and nothing else is left", () => {
		using place = openPlace();
		const { path: root, write } = place;
		const store = "var/lib/private/guildhall/alpha/store.sqlite";
		const state = dirname(place.at(store));
		const link = place.at("var/lib/guildhall/alpha");
		const kept = {
			"etc/guildhall/gateway.env": "old",
			"etc/guildhall/alpha/.env": "old",
			"etc/systemd/system/guildhall-bot@.service": "old",
			"etc/systemd/system/guildhall-gateway.service": "old",
			"usr/local/bin/guildhall": "old",
		};
		const fill = (files: object, word: string) => {
			for (const file of Object.keys(files)) write(file, word);
		};
		const run = (lines: readonly string[]) => {
			const ours = lines.filter((line) => !line.startsWith("systemctl "));
			expect(ours).toHaveLength(lines === backUp ? 2 : 3);
			for (const line of ours) {
				const here = line.replace("-C / ", `-C ${root} `).replace(/\/var\/lib/, `${root}$&`);
				expect([line, place.run(["sh", "-c", here])]).toMatchObject([line, { stderr: "", exitCode: 0 }]);
			}
		};
		fill(kept, "old");
		mkdirSync(state, { recursive: true, mode: 0o700 });
		mkdirSync(dirname(link), { recursive: true });
		// A user that exists while it runs has its directory where nobody else gets to.
		symlinkSync("../private/guildhall/alpha", link);
		write(store, "old", 0o600);
		const isRoot = process.getuid?.() === 0;
		if (isRoot) for (const path of [state, place.at(store)]) chownSync(path, 61_234, 61_234);
		run(backUp);

		fill(kept, "new");
		write(store, "new");
		write(`${store}-wal`, "new");
		run(goBack);
		for (const [file, word] of Object.entries(kept)) expect([file, place.read(file)]).toEqual([file, word]);
		expect(lstatSync(link).isSymbolicLink()).toBe(true);
		expect(readdirSync(state)).toEqual(["store.sqlite"]);
		expect(place.read(store)).toBe("old");
		if (isRoot) for (const path of [state, place.at(store)]) expect(lstatSync(path).uid).toBe(61_234);
	});
});

const rolesScript = join(manifests, "postgres/bot-roles.sh");

/** Where PostgreSQL is installed with its server; npm's has no pg_dump. */
const installed = Bun.which("pg_config") ? Bun.spawnSync(["pg_config", "--bindir"]).stdout.toString().trim() : "";
const serverMissing = !["initdb", "pg_ctl", "pg_dump"].every((name) => existsSync(join(installed, name)));

/** A server that lets its own machine in without a password, as the image does; the URL of its database for a user. */
async function startServer(stack: AsyncDisposableStack) {
	const { path: root } = stack.use(openPlace());
	// It does not run as root.
	const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
	if (user) chownSync(root, user.uid, user.gid);
	const port = await freePort();
	const PATH = `${installed}:${process.env.PATH}`;
	const run = (...words: string[]) => {
		const log = join(root, "log");
		const { exitCode } = Bun.spawnSync(words, {
			...user,
			cwd: root,
			env: {
				PATH,
				PGHOST: "127.0.0.1",
				PGPORT: String(port),
				POSTGRES_USER: "guildhall",
				POSTGRES_DB: "guildhall",
				BOT_ROLES: "bot=of-bot",
			},
			// A server that stays would keep a pipe open.
			stdio: ["ignore", Bun.file(log), Bun.file(log)],
		});
		const said = exitCode === 0 ? "" : readFileSync(log, "utf8");
		expect([words.join(" "), exitCode, said]).toEqual([words.join(" "), 0, ""]);
	};
	const data = join(root, "data");
	const options = `-p ${port} -c listen_addresses=127.0.0.1 -k ${root}`;
	run("initdb", "-D", data, "-U", "guildhall", "-A", "trust", "-N");
	run("pg_ctl", "-D", data, "-w", "-o", options, "start");
	stack.defer(() => run("pg_ctl", "-D", data, "-w", "-m", "fast", "stop"));
	run("createdb", "--username=guildhall", "guildhall");
	const urlOf = (user: string) => `postgres://${user}@127.0.0.1:${port}/guildhall`;
	return { run, urlOf };
}

describe.skipIf(serverMissing)("PostgreSQL", () => {
	test("a schema that a newer program has changed comes back as it was, and the older one runs on it", async () => {
		await using stack = new AsyncDisposableStack();
		const { run, urlOf } = await startServer(stack);
		const of = (user: string) => ({ databaseUrl: urlOf(user), schema: "bot", directory: "/none" });
		const settings = of("bot");
		const [dump = "", drop = "", restore = "", ...more] = inPostgres(compose.commands).map((command) =>
			command.replace(makesRoles, `sh ${rolesScript}`),
		);
		expect(more).toEqual([`sh ${rolesScript}`]);
		const afterwards = [restore, ...more];
		{
			// Before each bot had a role.
			await using older = await openStore({ settings: of("guildhall") });
			await older.store.sql`INSERT INTO things (id, big) VALUES ('old', 1)`;
			// While it runs.
			run("sh", "-c", dump);
		}
		run("sh", "-c", more.join());
		{
			const added = { number: 2, name: "more things", text: "CREATE TABLE more_things (id TEXT)" };
			await using newer = await openStore({ settings }, { migrations: [thingsTable, added] });
			await newer.store.sql`INSERT INTO things (id, big) VALUES ('new', 2)`;
		}
		{
			await using refused = await openStore({ settings });
			const { message } = await refused.store.failed;
			const [, promised = ""] = /`(The database is newer[^`]*)`/.exec(text) ?? [];
			expect(promised).not.toBe("");
			expect(message).toStartWith(promised);
		}
		for (const command of [drop, ...afterwards]) run("sh", "-c", command);
		await using older = await openStore({ settings });
		expect(older.store.state).toBe("ready");
		expect(await older.store.sql`SELECT id FROM things`).toEqual([{ id: "old" }]);
		// On a server that has no such schema yet, the same commands do.
		for (const command of [drop, drop]) {
			await older.store.close();
			run("sh", "-c", command);
		}
		for (const command of afterwards) run("sh", "-c", command);
	});
});
