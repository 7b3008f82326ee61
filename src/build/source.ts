// What is built, as git has it.

/** The sources that executables are made from. */
export interface Source {
	/** The beginning of git's commit; "unknown" outside a checkout. */
	commit: string;
	/** Whether something in it differs from the commit. */
	dirty: boolean;
	/** When it was committed, in seconds since 1970; 0 where nobody knows. */
	time: number;
}

/** What goes into an executable; an operator's own instances do not. */
const inputs = [
	"src",
	"instances/example",
	"package.json",
	"bun.lock",
	"bunfig.toml",
];
const commitLength = 12;

/** The state of the checkout in `root`. Where that is none, its commit is BUILD_COMMIT, or unknown. */
export function readSource(
	root: string,
	env: Record<string, string | undefined>,
): Source {
	// A checkout around the sources is that of something else.
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

/** What git says; undefined where it is not installed, or knows no such thing. */
function git(root: string, ...args: string[]): string | undefined {
	try {
		const { success, stdout } = Bun.spawnSync(["git", ...args], {
			cwd: root,
			stderr: "ignore",
		});
		return success ? stdout.toString().trim() : undefined;
	} catch {
		return undefined; // There is no git.
	}
}
