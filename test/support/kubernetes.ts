// The manifests in docker/kubernetes, and the output of kustomize if kubectl is installed.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const project = join(import.meta.dir, "../..");
export const manifests = join(project, "docker/kubernetes");

export interface Probe {
	httpGet?: { path: string; port: string };
	exec?: { command: string[] };
}

interface EnvVariable {
	name: string;
	value?: string;
	valueFrom?: { fieldRef?: { fieldPath: string }; secretKeyRef?: { name: string; key: string } };
}

export interface Container {
	name: string;
	image: string;
	args?: string[];
	ports: { name: string; containerPort: number }[];
	env?: EnvVariable[];
	envFrom?: { secretRef?: { name: string }; configMapRef?: { name: string } }[];
	startupProbe: Probe;
	livenessProbe: Probe;
	readinessProbe: Probe;
	resources: { requests: object; limits: { memory: string } };
	securityContext: object;
	lifecycle?: { preStop: { sleep: { seconds: number } } };
	volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

export interface Pod {
	metadata: { labels: Record<string, string> };
	spec: {
		automountServiceAccountToken: boolean;
		terminationGracePeriodSeconds: number;
		securityContext: object;
		containers: [Container];
		volumes?: { name: string; configMap?: { name: string } }[];
	};
}

/** Any object, with the fields that tests use. */
export interface Manifest {
	apiVersion: string;
	kind: string;
	metadata: { name: string; labels?: Record<string, string> };
	spec: {
		replicas: number;
		strategy: { type: string; rollingUpdate?: object };
		template: Pod;
		selector: Record<string, string>;
		ports: { name: string; port: number; targetPort: string }[];
		publishNotReadyAddresses?: boolean;
		maxUnavailable?: number;
	};
	data?: Record<string, string>;
	stringData?: Record<string, string>;
}

/** The objects in a file. */
export async function readManifests(path: string): Promise<Manifest[]> {
	return parse(await Bun.file(path).text());
}

function parse(text: string): Manifest[] {
	return [Bun.YAML.parse(text)].flat() as Manifest[];
}

/** Why kustomize is not available, or undefined. */
export const kustomizeMissing: string | undefined = Bun.which("kubectl") ? undefined : "kubectl is not installed";

/** The objects that `kubectl apply -k` would send. */
export function kustomize(directory: string): Manifest[] {
	const command = ["kubectl", "kustomize", directory];
	const { success, stdout, stderr } = Bun.spawnSync(command);
	if (!success) throw new Error(`kubectl kustomize: ${stderr}`);
	return parse(stdout.toString());
}

/** The type errors of these objects against the types of Kubernetes' API, one per line: unknown keys and wrong types. */
export function typeFaults(objects: readonly Manifest[]): string[] {
	const directory = mkdtempSync(join(tmpdir(), "guildhall-kubernetes-"));
	try {
		symlinkSync(join(project, "node_modules"), join(directory, "node_modules"));
		const lines = objects.map((object, index) => {
			const { apiVersion, kind } = object;
			return `export const object${index}: import("kubernetes-models/${apiVersion}/${kind}").I${kind} = ${JSON.stringify(object)};\n`;
		});
		writeFileSync(join(directory, "objects.ts"), lines.join(""));
		const options = "--noEmit --strict --skipLibCheck --module preserve --moduleResolution bundler --pretty false";
		const { stdout } = Bun.spawnSync(
			[join(project, "node_modules/.bin/tsc"), ...options.split(" ")].concat(["--types", "", "objects.ts"]),
			{ cwd: directory },
		);
		return stdout.toString().split("\n").filter(Boolean);
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}

/** Throws if a value does not match the API's schema. */
export async function checkSchema(object: Manifest): Promise<void> {
	const { apiVersion, kind } = object;
	const models = await import(`kubernetes-models/${apiVersion}/${kind}`);
	new models[kind](object).validate();
}
