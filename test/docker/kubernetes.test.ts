// The manifests for Kubernetes: what each says by itself, and, where kubectl can put them together, that names, secrets
// and policies meet, and that the containers in them run.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/demo/ports.ts";
import { readConfig } from "../../src/gateway/config/config.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { startContainer } from "../support/containers.ts";
import { buildImages, type Image, readStages } from "../support/images.ts";
import {
	type Container,
	checkSchema,
	kustomize,
	kustomizeMissing,
	type Manifest,
	manifests,
	type Pod,
	readManifests,
	typeFaults,
} from "../support/kubernetes.ts";
import { connectTo } from "../support/mcp.ts";
import { mayReach, type Peer } from "../support/network-policies.ts";
import { exchange, requestText } from "../support/raw-http.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const files = [...new Bun.Glob("**/*.yaml").scanSync(manifests)].filter((path) => !path.endsWith("kustomization.yaml"));
const written = (await Promise.all(files.map((path) => readManifests(join(manifests, path))))).flat();
const ofOurs = written.filter(({ apiVersion }) => !apiVersion.startsWith("monitoring."));
const workloads = written.filter(({ spec }) => spec?.template);

function find(objects: readonly Manifest[], kind: string, name: string) {
	const found = objects.find((one) => one.kind === kind && one.metadata.name === name);
	if (!found) throw new Error(`there is no ${kind} ${name}`);
	return found;
}

test("every object is as Kubernetes has it, without an unknown key", async () => {
	expect(ofOurs.length).toBeGreaterThan(10);
	expect(typeFaults(ofOurs)).toEqual([]);
	for (const object of ofOurs) await checkSchema(object);
});

test("a bot is never there twice; the gateway always is", () => {
	const bot = find(written, "Deployment", "bot").spec;
	expect(bot.replicas).toBe(1);
	expect(bot.strategy).toEqual({ type: "Recreate" });
	const gateway = find(written, "Deployment", "gateway").spec;
	expect(gateway.replicas).toBeGreaterThan(1);
	expect(gateway.strategy).toEqual({ type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
	const budget = find(written, "PodDisruptionBudget", "gateway").spec;
	expect(budget.maxUnavailable).toBe(1);
});

describe.each(workloads.map((one) => [one.metadata.name, one.spec.template]))("a pod of %s", (name, { spec }) => {
	const [container] = spec.containers;

	test("is what the namespace lets in: no root, no capability, a read-only root", () => {
		expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
		expect(container.securityContext).toEqual({
			allowPrivilegeEscalation: false,
			readOnlyRootFilesystem: true,
			capabilities: { drop: ["ALL"] },
		});
		expect(spec.automountServiceAccountToken).toBe(false);
	});

	test("has a limit for its memory, and all three probes", () => {
		expect(container.resources.limits.memory).toMatch(/^\d+Mi$/);
		for (const probe of ["startup", "liveness", "readiness"] as const) expect(container[`${probe}Probe`]).toBeDefined();
	});

	test("has as long for its end as it takes", () => {
		const before = container.lifecycle?.preStop.sleep.seconds ?? 0;
		expect(spec.terminationGracePeriodSeconds - before).toBeGreaterThan(20);
	});

	test("is the user of its image", async () => {
		const stage = (await readStages()).find((one) => one.name === "guildhall");
		const user = stage?.instructions.find(({ word }) => word === "USER");
		if (name === "postgres") return;
		const { runAsUser, runAsGroup } = spec.securityContext as { runAsUser: number; runAsGroup: number };
		expect(`${runAsUser}:${runAsGroup}`).toBe(user?.rest ?? "none");
	});
});

test("the secrets that are committed are none", () => {
	const secrets = written.filter(({ kind }) => kind === "Secret");
	const values = secrets.flatMap(({ data, stringData }) => {
		expect(data).toBeUndefined();
		return Object.values(stringData ?? {});
	});
	expect(values.length).toBeGreaterThan(3);
	for (const value of values) expect(value).toMatch(/<[a-z ']+.*>/);
});

if (kustomizeMissing !== undefined) console.warn(`the example is not put together: ${kustomizeMissing}`);

describe.skipIf(kustomizeMissing !== undefined)("the example", () => {
	const bots = ["alpha", "beta"];
	const podIp = "10.1.2.3";
	const token = "0123456789abcdef0123456789abcdef";
	let all: Manifest[];
	let directory: string;
	let image: Image;
	let simulator: Simulator;

	beforeAll(async () => {
		all = kustomize(join(manifests, "example"));
		directory = mkdtempSync(join(tmpdir(), "guildhall-images-"));
		chmodSync(directory, 0o755);
		const { guildhall } = await buildImages(directory, ["guildhall"]);
		if (!guildhall) throw new Error("there is no image");
		image = guildhall;
		simulator = await startSimulator();
	});

	afterAll(async () => {
		await simulator?.close();
		rmSync(directory, { recursive: true, force: true });
	});

	const podOf = (name: string): Pod => find(all, "Deployment", name).spec.template;
	const instances = () => {
		const [{ envFrom }] = podOf("gateway").spec.containers;
		const name = envFrom?.[0]?.configMapRef?.name;
		return find(all, "ConfigMap", name ?? "").data?.INSTANCES ?? "";
	};

	test("is as Kubernetes has it, put together", () => {
		expect(typeFaults(all)).toEqual([]);
	});

	test("directory, Deployment, Service and key in INSTANCES are called the same", () => {
		const config = readConfig({ INSTANCES: instances(), MCP_AUTH_TOKEN: "a" });
		expect(config.instances).toMatchObject(bots.map((name) => ({ name, url: `http://${name}:9090` })));
		for (const name of bots) {
			const { spec } = find(all, "Service", name);
			const { labels } = podOf(name).metadata;
			expect(labels).toMatchObject(spec.selector);
			expect(spec.selector["app.kubernetes.io/instance"]).toBe(name);
			expect(spec.ports).toEqual([{ name: "mcp", port: 9090, targetPort: "mcp" }]);
			// A bot that is not ready still says why.
			expect(spec.publishNotReadyAddresses).toBe(true);
		}
	});

	test("the gateway has a role and a schema in the database", () => {
		const { GATEWAY_DATABASE } = find(all, "Secret", "gateway").stringData ?? {};
		expect(GATEWAY_DATABASE).toMatch(/^postgres:\/\/gateway:<.*>@postgres:5432\/guildhall$/);
		expect(find(all, "Secret", "postgres").stringData?.BOT_ROLES).toMatch(/^gateway=</);
		expect(environmentOf("gateway", {}).GATEWAY_DB_SCHEMA).toBe("gateway");
	});

	test("a bot has its own configuration and its own secrets", () => {
		for (const name of bots) {
			const { containers, volumes } = podOf(name).spec;
			expect(containers[0].envFrom).toEqual([{ secretRef: { name } }]);
			const { DISCORD_TOKEN, DATABASE_URL } = find(all, "Secret", name).stringData ?? {};
			expect(DISCORD_TOKEN).toBeString();
			// Its role and its schema are called as it is; the password is one of those that the roles get.
			expect(DATABASE_URL).toStartWith(`postgres://${name}:<`);
			expect(DATABASE_URL).toEndWith("@postgres:5432/guildhall");
			expect(find(all, "Secret", "postgres").stringData?.BOT_ROLES).toMatch(new RegExp(`(^| )${name}=<`));
			const config = volumes?.[0]?.configMap?.name ?? "";
			expect(config).toStartWith(`${name}-`);
			expect(find(all, "ConfigMap", config).data?.["config.toml"]).toContain(
				`bot_name = "${name[0]?.toUpperCase()}${name.slice(1)}"`,
			);
		}
	});

	test("only the gateway and Prometheus reach a bot, and only gateway and bots reach the database", () => {
		const ingressOnly = all.map((one) => ({ ...one, spec: { ...one.spec, policyTypes: ["Ingress"] } }));
		const home = { "kubernetes.io/metadata.name": "guildhall" };
		const elsewhere = { "kubernetes.io/metadata.name": "elsewhere" };
		const monitoring = { "kubernetes.io/metadata.name": "monitoring" };
		const named = (name: string, namespace = home): Peer => ({ namespace, labels: { "app.kubernetes.io/name": name } });
		const own = (name: string): Peer => ({ namespace: home, labels: podOf(name).metadata.labels });
		const peers: Record<string, Peer> = {
			gateway: own("gateway"),
			alpha: own("alpha"),
			beta: own("beta"),
			postgres: named("postgres"),
			stranger: named("stranger"),
			prometheus: named("prometheus", monitoring),
			"a false prometheus": named("prometheus", elsewhere),
			"a false gateway": named("gateway", elsewhere),
			ingress: { namespace: { ...elsewhere, "guildhall/reaches-gateway": "true" }, labels: {} },
		};
		/** Both ends have to let them: each by itself keeps out whom it should. */
		const whoReaches = (to: string, port: number) => {
			const names = (rules: readonly Manifest[]) =>
				Object.entries(peers)
					.filter(([, from]) => mayReach(rules, home, from, peers[to] as Peer, port))
					.map(([name]) => name);
			expect(names(ingressOnly)).toEqual(names(all));
			return names(all);
		};
		expect(whoReaches("alpha", 9090)).toEqual(["gateway", "prometheus"]);
		expect(whoReaches("alpha", 22)).toEqual([]);
		expect(whoReaches("gateway", 9100)).toEqual(["prometheus", "ingress"]);
		expect(whoReaches("postgres", 5432)).toEqual(["gateway", "alpha", "beta"]);
		expect(whoReaches("stranger", 80)).toEqual([]);
	});

	/** The variables of a container, with these secrets in place of those in the example. */
	function environmentOf(name: string, secrets: Record<string, Record<string, string>>): Record<string, string> {
		const { metadata, spec } = podOf(name);
		const [{ env = [], envFrom = [] }] = spec.containers;
		const variables: Record<string, string> = {};
		for (const { secretRef, configMapRef } of envFrom) {
			Object.assign(variables, secrets[secretRef?.name ?? ""]);
			if (configMapRef) Object.assign(variables, find(all, "ConfigMap", configMapRef.name).data);
		}
		for (const { name, value, valueFrom } of env) {
			const { fieldRef, secretKeyRef } = valueFrom ?? {};
			const label = /^metadata\.labels\['(.*)'\]$/.exec(fieldRef?.fieldPath ?? "")?.[1];
			variables[name] =
				value?.replace(/\$\((\w+)\)/g, (_, one) => variables[one] ?? "") ??
				(secretKeyRef && secrets[secretKeyRef.name]?.[secretKeyRef.key]) ??
				(label && metadata.labels[label]) ??
				(fieldRef?.fieldPath === "status.podIP" ? podIp : "");
		}
		return variables;
	}

	/** What a pod of this Deployment would run. */
	function startPod(name: string, secrets: Record<string, Record<string, string>>, here: Record<string, string>) {
		const { containers, volumes } = podOf(name).spec;
		const [{ args = [] }] = containers;
		const config = volumes?.[0]?.configMap?.name;
		const mounted = mkdtempSync(join(directory, `${name}-`));
		chmodSync(mounted, 0o755);
		const { data = {} } = config ? find(all, "ConfigMap", config) : {};
		for (const [file, text] of Object.entries(data)) writeFileSync(join(mounted, file), text);
		return startContainer(
			image,
			{
				command: args,
				environment: environmentOf(name, secrets),
				healthcheck: { test: [], interval: "", timeout: "", retries: 0 },
			},
			{ here: { "/config": mounted, ...here } },
		).program;
	}

	/** Resolves when all probes of a container are answered as the kubelet wants it, which calls a pod by its address. */
	async function passesProbes(container: Container, port: string) {
		const [named] = container.ports;
		for (const name of ["startup", "liveness", "readiness"] as const) {
			const { httpGet } = container[`${name}Probe`];
			expect(httpGet?.port).toBe(named?.name ?? "");
			const request = requestText(`GET ${httpGet?.path}`, [["Host", `${podIp}:${named?.containerPort}`]]);
			await until(`${container.name} passes its ${name}Probe`, async () => {
				// Before it listens, the connection is refused.
				const answer = await exchange(`http://127.0.0.1:${port}`, request).catch(() => undefined);
				return answer?.status === 200;
			});
		}
	}

	test("its containers pass their probes and serve, and Prometheus gets its figures", async () => {
		await using stack = new AsyncDisposableStack();
		const secrets = (name: string) => ({
			guildhall: { MCP_AUTH_TOKEN: token },
			[name]: {
				DATABASE_URL: `postgres://${name}:x@127.0.0.1:1/guildhall`,
				DISCORD_TOKEN: simulator.bot(name).token,
				DISCORD_API_URL: simulator.api,
			},
		});
		const addresses: Record<string, string> = {};
		for (const name of bots) {
			const port = String(await freePort());
			addresses[`${name}:9090`] = `127.0.0.1:${port}`;
			const program = startPod(name, secrets(name), { "9090": port });
			stack.use(program);
			await passesProbes(podOf(name).spec.containers[0], port);
			const scrape = (host: string) =>
				exchange(
					`http://127.0.0.1:${port}`,
					requestText("GET /metrics", [
						["Host", `${host}:9090`],
						["Authorization", `Bearer ${token}`],
					]),
				);
			expect((await scrape(podIp)).body).toContain("guildhall_");
			expect((await scrape(name)).status).toBe(403);
		}
		const port = String(await freePort());
		const here = { "9100": port, ...addresses };
		const program = startPod("gateway", secrets("alpha"), here);
		stack.use(program);
		await passesProbes(podOf("gateway").spec.containers[0], port);
		const { call } = await connectTo(`http://127.0.0.1:${port}/mcp`, token);
		for (const instance of bots) expect(await call("list_guilds", { instance })).toMatchObject({ isError: false });
	});

	test("with the secrets as they are committed nothing starts", async () => {
		const secrets = Object.fromEntries(
			all.filter(({ kind }) => kind === "Secret").map(({ metadata, stringData = {} }) => [metadata.name, stringData]),
		);
		for (const name of ["gateway", "alpha"]) {
			await using program = startPod(name, secrets, {});
			expect(await program.exited).toBe(1);
			await program.line((line) => line.includes("MCP_AUTH_TOKEN") || undefined);
		}
	});
});

test("what Prometheus is told to scrape is there", () => {
	const { spec } = find(written, "ServiceMonitor", "guildhall");
	const { endpoints, selector } = spec as unknown as {
		endpoints: { port: string; path: string; authorization: object }[];
		selector: { matchExpressions: { key: string; values: string[] }[] };
	};
	expect(endpoints).toMatchObject([
		{
			port: "mcp",
			path: "/metrics",
			authorization: { type: "Bearer", credentials: { name: "guildhall", key: "MCP_AUTH_TOKEN" } },
		},
	]);
	const [{ key, values } = { key: "", values: [] }] = selector.matchExpressions;
	for (const name of values) {
		const { metadata, spec } = find(written, "Service", name);
		expect(metadata.labels?.[key]).toBe(name);
		expect(spec.ports.map((port) => port.name)).toEqual(["mcp"]);
	}
	expect(find(written, "Secret", "guildhall").stringData).toHaveProperty("MCP_AUTH_TOKEN");
});
