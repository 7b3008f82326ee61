// Reads the state of the sources from git.

export interface Source {
	/** Abbreviated; "unknown" outside a git checkout. */
	commit: string;
	/** Files of the build differ from the commit. */
	dirty: boolean;
}

const inputs = ["src", "docker", "instances/example", "package.json", "bun.lock", "bunfig.toml"];
const commitLength = 12;

/** Outside a git checkout, the commit is BUILD_COMMIT, or "unknown". */
export function readSource(root: string, env: Record<string, string | undefined>): Source {
	// A checkout that contains `root` is another project.
	const own = git(root, "rev-parse", "--show-prefix") === "";
	const commit = own ? git(root, "rev-parse", "HEAD") : undefined;
	if (!commit) return { commit: env.BUILD_COMMIT?.trim().slice(0, commitLength) || "unknown", dirty: false };
	return { commit: commit.slice(0, commitLength), dirty: git(root, "status", "--porcelain", "--", ...inputs) !== "" };
}

function git(root: string, ...args: string[]): string | undefined {
	try {
		const { success, stdout } = Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" });
		return success ? stdout.toString().trim() : undefined;
	} catch {
		return undefined; // Git is not installed.
	}
}
