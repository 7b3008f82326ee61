#!/usr/bin/env node
// Runs the executable for this platform, which npm installs as an optional dependency of this package.

const { spawn } = require("node:child_process");

const system = process.platform === "win32" ? "windows" : process.platform;
const isMusl = system === "linux" && !process.report.getReport().header.glibcVersionRuntime;
const name = `{scope}/guildhall-${system}-${process.arch}${isMusl ? "-musl" : ""}`;

let executable;
try {
	executable = require.resolve(`${name}/guildhall${system === "windows" ? ".exe" : ""}`);
} catch {
	console.error(
		`guildhall: the package ${name} is not installed. Either there is no executable for this platform, or npm left out optional dependencies (--omit=optional).`,
	);
	process.exit(1);
}
const child = spawn(executable, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", ({ message }) => {
	console.error(`guildhall: ${message}`);
	process.exitCode = 1;
});
child.on("exit", (code) => {
	process.exitCode = code ?? 1;
});
