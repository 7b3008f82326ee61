// Reads the state of the sources from git.

/** The sources that an executable is built from. */
export interface Source {
	/** The abbreviated commit; "unknown" outside a checkout. */
	commit: string;
	/** Whether files that go into the build differ from the commit. */
	dirty: boolean;
	/** The time of the commit in seconds since 1970; 0 if unknown. */
	time: number;
}

/** Files and folders that go into a build. */
const inputs = [
	"src",
	"instances/example",
	"package.json",
	"bun.lock",
	"bunfig.toml",
];
const commitLength = 12;

/** The state of the checkout in `root`. Outside a checkout the commit is that in BUILD_COMMIT, or "unknown". */
export function readSource(
	root: string,
	env: Record<string, string | undefined>,
): Source {
	// A checkout that contains `root` is another project.
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

/** The output of a git command; undefined if git is missing or fails. */
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
