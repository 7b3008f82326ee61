// nginx as a plain reverse proxy with connections kept, and as a server of files: what the gateway is measured against.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { startCommand } from "../../support/program.ts";
import { anyCore, type Pin } from "../cores.ts";

export interface Nginx extends AsyncDisposable {
	readonly pid: number;
	/** The proxy, in front of the backend. */
	readonly proxyUrl: string;
	/** The file, which it has packed as well. */
	readonly fileUrl: string;
}

export interface NginxOptions {
	/** Its own, for its configuration and files. */
	directory: string;
	/** Two that are free. */
	ports: readonly [proxy: number, files: number];
	backendPort: number;
	/** What the file holds. */
	file: Uint8Array;
	pin?: Pin;
}

export function nginxCommand(): string | undefined {
	// Where Debian has it, it is not on everyone's path.
	const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin:/opt/homebrew/bin`;
	return Bun.which("nginx", { PATH }) ?? undefined;
}

/** Starts it; it answers some milliseconds later. */
export function startNginx(command: string, options: NginxOptions): Nginx {
	const { directory, ports, backendPort, file, pin = anyCore } = options;
	const files = join(directory, "files");
	mkdirSync(files, { recursive: true });
	writeFileSync(join(files, "list"), file);
	writeFileSync(join(files, "list.gz"), gzipSync(file));
	const configuration = join(directory, "nginx.conf");
	writeFileSync(configuration, configurationFor(directory, ports, backendPort));
	const program = run(command, directory, configuration, pin);
	return { ...program, proxyUrl: `http://127.0.0.1:${ports[0]}/mcp`, fileUrl: `http://127.0.0.1:${ports[1]}/list` };
}

function run(command: string, directory: string, configuration: string, pin: Pin) {
	const args = ["-e", join(directory, "error.log"), "-c", configuration];
	// It ends with its stdin as ours do: a shell sees to that.
	const guard = '"$@" & server=$!; cat > /dev/null; kill $server; wait';
	const program = startCommand(pin(["sh", "-c", guard, "sh", command, ...args]), {}, { cwd: directory });
	return {
		pid: program.pid,
		async [Symbol.asyncDispose]() {
			program.orphan();
			await program.exited;
		},
	};
}

const mainConfiguration = (directory: string) => `
worker_processes 1;
daemon off;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log;
events { worker_connections 4096; }`;

const httpConfiguration = (directory: string) => `access_log off;
	client_body_temp_path ${directory}/body;
	proxy_temp_path ${directory}/proxy;
	fastcgi_temp_path ${directory}/fastcgi;
	uwsgi_temp_path ${directory}/uwsgi;
	scgi_temp_path ${directory}/scgi;
	keepalive_requests 100000000;
	keepalive_timeout 600s;
	client_body_buffer_size 64k;
	tcp_nodelay on;`;

const proxyConfiguration = `proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_buffers 8 64k;`;

function configurationFor(directory: string, [proxy, files]: NginxOptions["ports"], backendPort: number): string {
	return `${mainConfiguration(directory)}
http {
	${httpConfiguration(directory)}
	upstream backend {
		server 127.0.0.1:${backendPort};
		keepalive 300;
		keepalive_requests 100000000;
	}
	server {
		listen 127.0.0.1:${proxy};
		location / {
			proxy_pass http://backend;
			${proxyConfiguration}
		}
	}
	server {
		listen 127.0.0.1:${files};
		root ${directory}/files;
		gzip_static on;
		gzip_vary on;
		open_file_cache max=10;
		sendfile on;
		types {}
		default_type text/event-stream;
	}
}
`;
}
