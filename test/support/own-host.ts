/**
 * An address of this machine: on Linux one that only this process uses, so that no server of a test in another process gets
 * a port while its server is stopped. `network` (0 to 255) sets the tests of one process apart.
 */
export const ownHost = (network: number): string =>
	process.platform === "linux" ? `127.${network}.${(process.pid >> 8) & 255}.${process.pid & 255}` : "127.0.0.1";
