// Builds the images of docker/Dockerfile without a container engine: stages are directories, RUN lines run in them, and
// entry points are the files that a container would start.

import { chownSync, cpSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { madeOfSources } from "./made-once.ts";

/** The slow stage that compiles. It is built once; other stages only copy files from it. */
const compiled = "build";
const project = join(import.meta.dir, "../..");
const dockerfile = join(project, "docker/Dockerfile");

export interface Instruction {
	/** In upper case. */
	word: string;
	/** Such as `--from=build`, by name. */
	flags: Record<string, string>;
	/** The rest of the instruction, on one line. */
	rest: string;
}

export interface Stage {
	name: string;
	/** An image, or an earlier stage. */
	from: string;
	instructions: Instruction[];
}

/** The data that a container starts from. */
export interface Image {
	/** Its root directory. */
	root: string;
	env: Record<string, string>;
	workdir: string;
	/** `uid:gid`. */
	user: string;
	entrypoint: string[];
	/** Default arguments of the image's program. */
	command: string[];
	healthcheck: string[];
	/** The options in the Dockerfile, by name. */
	healthcheckFlags: Record<string, string>;
	ports: number[];
	labels: string;
}

export async function readStages(): Promise<Stage[]> {
	const text = await Bun.file(dockerfile).text();
	const stages: Stage[] = [];
	for (const line of text
		.replace(/^\s*#.*\n/gm, "")
		.replace(/\\\n\s*/g, "")
		.split("\n")
		.filter(Boolean)) {
		const { word, flags, rest } = readInstruction(line);
		if (word === "FROM") {
			const [from = "", , name = ""] = rest.split(" ");
			stages.push({ name, from, instructions: [] });
		} else stages.at(-1)?.instructions.push({ word, flags, rest });
	}
	return stages;
}

function readInstruction(line: string): Instruction {
	const [, word = "", given = "", rest = ""] = /^([A-Z]+) ((?:--[a-z-]+=\S+ )*)(.*)$/.exec(line) ?? [];
	if (!word) throw new Error(`not an instruction: ${line}`);
	const flags = [...given.matchAll(/--([a-z-]+)=(\S+)/g)];
	return { word, flags: Object.fromEntries(flags.map(([, name, value]) => [name, value])), rest };
}

const empty = {
	workdir: "/",
	user: "0:0",
	labels: "",
	entrypoint: [],
	command: [],
	healthcheck: [],
	healthcheckFlags: {},
};

/** The project files that a stage and its base stages copy. */
function copiedBy(stages: readonly Stage[], name: string): string[] {
	const stage = stages.find((one) => one.name === name);
	if (!stage) return [];
	const own = stage.instructions
		.filter(({ word, flags }) => word === "COPY" && !flags.from)
		.flatMap(({ rest }) => rest.split(" ").slice(0, -1));
	return [...copiedBy(stages, stage.from), ...own];
}

/** Builds these stages and their base stages below `directory`. */
export async function buildImages(directory: string, names: readonly string[]): Promise<Record<string, Image>> {
	const stages = await readStages();
	const built: Record<string, Image> = {};
	const bin = join(directory, "bin");
	mkdirSync(bin, { recursive: true });
	symlinkSync(process.execPath, join(bin, "bun"));

	function build(name: string): Image {
		const done = built[name];
		if (done) return done;
		const stage = stages.find((one) => one.name === name);
		if (!stage) throw new Error(`unknown stage ${name}`);
		const root = join(directory, name);
		const isStage = stages.some((one) => one.name === stage.from);
		const base = isStage ? build(stage.from) : undefined;
		if (base) share(base.root, root);
		else mkdirSync(root);
		const image: Image = { ...empty, ...base, root, env: { ...base?.env }, ports: [...(base?.ports ?? [])] };
		for (const instruction of stage.instructions) carryOut(instruction, image);
		built[name] = image;
		return image;
	}

	function carryOut({ word, flags, rest }: Instruction, image: Image): void {
		const words = rest.split(" ");
		switch (word) {
			case "WORKDIR":
				image.workdir = rest;
				mkdirSync(join(image.root, rest), { recursive: true });
				return;
			case "COPY":
				copy(words, flags, image);
				return;
			case "RUN":
				run(rest, image);
				return;
			case "ENV":
				for (const pair of words) {
					const [name = "", value = ""] = pair.split("=");
					image.env[name] = value;
				}
				return;
			case "ARG":
				return; // It is given from outside, and nothing needs it.
			case "USER":
				image.user = rest;
				return;
			case "EXPOSE":
				image.ports.push(...words.map(Number));
				return;
			case "LABEL":
				image.labels = rest;
				return;
			case "ENTRYPOINT":
				image.entrypoint = JSON.parse(rest);
				return;
			case "CMD":
				image.command = JSON.parse(rest);
				return;
			case "HEALTHCHECK":
				image.healthcheck = JSON.parse(rest.replace(/^CMD /, ""));
				image.healthcheckFlags = flags;
				return;
			default:
				throw new Error(`unsupported instruction ${word}`);
		}
	}

	function copy(words: readonly string[], { from, chown }: Record<string, string>, image: Image): void {
		const to = words.at(-1) ?? "";
		for (const path of words.slice(0, -1)) {
			if (from === undefined) mayBeRead(path);
			const base = from === undefined ? project : build(from).root;
			const source = join(base, path);
			const target = join(image.root, to.startsWith("/") ? to : join(image.workdir, to), to.endsWith("/") ? path : "");
			mkdirSync(dirname(target), { recursive: true });
			if (from === undefined) cpSync(source, target, { recursive: true });
			else share(source, target);
			if (chown && process.getuid?.() === 0) {
				const [uid = 0, gid = 0] = chown.split(":").map(Number);
				chownSync(target, uid, gid);
			}
		}
	}

	function run(command: string, image: Image): void {
		// Of this machine only Bun and its download cache.
		const { HOME = directory } = process.env;
		const { success, stdout, stderr } = Bun.spawnSync(["sh", "-c", command], {
			cwd: join(image.root, image.workdir),
			env: { HOME, PATH: `${bin}:/usr/bin:/bin`, ...image.env },
		});
		if (!success) throw new Error(`RUN ${command}:\n${stdout}\n${stderr}`);
	}

	const root = await madeOfSources(
		"guildhall-images",
		["docker/Dockerfile", ...copiedBy(stages, compiled)],
		async (made) => share(build(compiled).root, made),
	);
	built[compiled] = { ...empty, root, env: {}, ports: [] };
	for (const name of names) build(name);
	return built;
}

function linkOrCopy(from: string, to: string): void {
	try {
		linkSync(from, to);
	} catch (error) {
		// The paths are on different file systems.
		if (Object(error).code !== "EXDEV") throw error;
		cpSync(from, to, { verbatimSymlinks: true });
	}
}

/** Copies `from` to `to` with hard links: some files are large, and none is changed in place. */
export function share(from: string, to: string): void {
	if (!lstatSync(from).isDirectory()) {
		linkOrCopy(from, to);
		return;
	}
	mkdirSync(to);
	for (const name of readdirSync(from)) share(join(from, name), join(to, name));
}

/** Throws if Dockerfile.dockerignore excludes this path. */
function mayBeRead(path: string): void {
	const [all, ...allowed] = readFileSync(`${dockerfile}.dockerignore`, "utf8")
		.split("\n")
		.filter((line) => line !== "" && !line.startsWith("#"));
	const names = allowed.map((line) => line.replace(/^!/, ""));
	if (all !== "*" || allowed.some((line) => !/^!\w[\w./]*$/.test(line)))
		throw new Error("Dockerfile.dockerignore is not a plain list of exceptions");
	if (!names.includes(path.replace(/^\.\//, ""))) throw new Error(`Dockerfile.dockerignore excludes ${path}`);
}
