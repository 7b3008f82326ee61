/**
 * Returns a function that runs Bun with these arguments in a folder, and resolves with its stdout and stderr. It throws with
 * both if Bun fails. For packages that have a folder of their own: Bun does not find those installed after its start.
 */
export function bunIn(cwd: string) {
	return async (...command: string[]) => {
		const child = Bun.spawn([process.execPath, ...command], {
			cwd,
			// Shorter than a test's timeout, so that no process stays.
			timeout: 100_000,
			stdout: "pipe",
			stderr: "pipe",
		});
		const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
		if ((await child.exited) !== 0) throw new Error(`bun ${command.join(" ")}: ${out}\n${error}`);
		return { out, error };
	};
}
