// Parses the files for Docker Compose in docker/. Unknown keys are errors.
// https://github.com/compose-spec/compose-spec/blob/main/spec.md

import { join } from "node:path";
import * as v from "valibot";

export const composeDirectory = join(import.meta.dir, "../../docker");

/** The passwords of the roles, for both files. */
export const databasePasswords = Object.fromEntries(
	["gateway", "bot", "alpha", "beta", "gamma"].map((bot) => [`${bot.toUpperCase()}_DB_PASSWORD`, `of-${bot}`]),
);

const duration = v.pipe(v.string(), v.regex(/^\d+s$/));

const service = v.strictObject({
	image: v.string(),
	build: v.optional(v.strictObject({ context: v.literal(".."), dockerfile: v.literal("docker/Dockerfile") })),
	command: v.optional(v.array(v.string())),
	restart: v.optional(v.string()),
	sysctls: v.optional(v.record(v.string(), v.string())),
	read_only: v.boolean(),
	init: v.optional(v.boolean()),
	user: v.optional(v.string()),
	cap_drop: v.array(v.string()),
	security_opt: v.array(v.string()),
	stop_grace_period: duration,
	pids_limit: v.number(),
	mem_limit: v.pipe(v.string(), v.regex(/^\d+[mg]$/)),
	shm_size: v.optional(v.string()),
	logging: v.strictObject({ driver: v.string(), options: v.record(v.string(), v.string()) }),
	// Compose converts numbers and booleans to strings, not always as written.
	environment: v.optional(v.record(v.string(), v.string()), {}),
	ports: v.optional(v.array(v.string()), []),
	volumes: v.optional(v.array(v.string()), []),
	tmpfs: v.optional(v.array(v.string()), []),
	networks: v.optional(v.array(v.string()), ["default"]),
	depends_on: v.optional(v.record(v.string(), v.strictObject({ condition: v.string() })), {}),
	healthcheck: v.strictObject({
		test: v.array(v.string()),
		interval: duration,
		timeout: duration,
		retries: v.number(),
	}),
});

const file = v.strictObject({
	name: v.string(),
	services: v.record(v.string(), service),
	networks: v.optional(v.record(v.string(), v.nullable(v.strictObject({ internal: v.boolean() }))), {}),
	volumes: v.optional(v.record(v.string(), v.null()), {}),
});

export type Service = v.InferOutput<typeof service>;
export type ComposeFile = v.InferOutput<typeof file>;

/** Parses a file and interpolates the variables of `env`. Throws if a required one is missing. */
export async function readCompose(name: string, env: Record<string, string>): Promise<ComposeFile> {
	const text = await Bun.file(join(composeDirectory, name)).text();
	const given = Object.entries(Bun.YAML.parse(text) as object).filter(([key]) => !key.startsWith("x-"));
	return v.parse(file, interpolate(Object.fromEntries(given), env));
}

/** Interpolates `${NAME:-default}` and `${NAME:?error}` in all strings of `value`. */
function interpolate(value: unknown, env: Record<string, string>): unknown {
	if (typeof value === "string") return interpolateText(value, env);
	if (Array.isArray(value)) return value.map((item) => interpolate(item, env));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolate(item, env)]));
}

function interpolateText(text: string, env: Record<string, string>): string {
	const whole = text.replace(/\$\{([A-Z_]+)(:[-?])([^}]*)\}/g, (_, name: string, kind: string, otherwise: string) => {
		const given = env[name];
		if (given) return given;
		if (kind === ":?") throw new Error(`${name} ${otherwise}`);
		return otherwise;
	});
	if (whole.includes("$")) throw new Error(`a variable is left in ${whole}`);
	return whole;
}

export function seconds(duration: string): number {
	return Number(duration.replace(/s$/, ""));
}
