// The state of the sources in git.

/** The sources of a build. */
export interface Source {
	/** Abbreviated commit, or "unknown" outside a checkout. */
	commit: string;
	/** Whether build inputs differ from the commit. */
	dirty: boolean;
	/** Commit time in seconds since 1970; 0 if unknown. */
	time: number;
}

/** Build inputs. */
const inputs = [
	"src",
	"instances/example",
	"package.json",
	"bun.lock",
	"bunfig.toml",
];
const commitLength = 12;

/** The state of the checkout in `root`. Outside a checkout the commit is BUILD_COMMIT or "unknown". */
export function readSource(
	root: string,
	env: Record<string, string | undefined>,
): Source {
	// An enclosing checkout is another project.
	const own = git(root, "rev-parse", "--show-prefix") === "";
	const commit = own ? git(root, "rev-parse", "HEAD") : undefined;
	if (!commit)
		return {
			commit: env.BUILD_COMMIT?.trim().slice(0, commitLength) || "unknown",
			dirty: false,
			time: 0,
		};
	return {
		commit: commit.slice(0, commitLength),
		dirty: git(root, "status", "--porcelain", "--", ...inputs) !== "",
		time: Number(git(root, "log", "-1", "--format=%ct")),
	};
}

/** Git's output; undefined if git is missing or fails. */
function git(root: string, ...args: string[]): string | undefined {
	try {
		const { success, stdout } = Bun.spawnSync(["git", ...args], {
			cwd: root,
			stderr: "ignore",
		});
		return success ? stdout.toString().trim() : undefined;
	} catch {
		return undefined; // Git is not installed.
	}
}
