// Checks the alerts and the dashboard: whether their metrics exist, and whether each alert fires when it should. Where
// promtool is installed, Prometheus itself parses and evaluates the rules.

import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { YAML } from "bun";
import { addGauges, createMetrics, type Observed } from "../../src/bot/server/metrics.ts";
import {
	addGauges as addGatewayGauges,
	type CallOutcome,
	createMetrics as createGatewayMetrics,
	kinds,
	outcomeOf,
} from "../../src/gateway/calls/metrics.ts";
import { parseMetrics } from "../support/prometheus.ts";

const folder = join(import.meta.dir, "../../docker/monitoring");
const read = (file: string) => readFileSync(join(folder, file), "utf8");

interface Alert {
	alert: string;
	expr: string;
	for?: string;
	labels: { severity: string };
	annotations: { summary: string; action: string };
}

interface Panel {
	id: number;
	type: string;
	title: string;
	gridPos: { x: number; y: number; w: number; h: number };
	targets?: { expr: string }[];
}

const { groups } = YAML.parse(read("alerts.yaml")) as { groups: { rules: Alert[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);
const dashboard: { panels: Panel[] } = JSON.parse(read("dashboard.json"));
/** The expressions of the dashboard, with what Grafana puts in place of its variables. */
const panelExpressions = dashboard.panels.flatMap(({ targets = [] }) =>
	targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "2m").replaceAll("$bot", ".*")),
);

/** Series of one metric for which an alert fires (`bad`), and for which it does not (`good`), in promtool's notation. */
interface Case {
	series: string;
	bad: string;
	good: string;
	/** Further series in both cases. */
	beside?: Record<string, string>;
	/** Further series in the good case, if they differ. */
	besideGood?: Record<string, string>;
}

/** The values that a bot's gauges report. */
const observed = {
	connection: {
		state: { connected: true },
		shards: [],
		guilds: [],
		requests: { invalidCount: 0, rejectedCount: 0 },
		sockets: 1,
		sessionStarts: 1,
		droppedEvents: { counts: new Map() },
	},
	store: { state: "ready" },
	audit: { queued: 0, dropped: 0 },
	sessions: { size: 0 },
	server: { callsInFlight: 0 },
};

/** The names of all metrics: those of every gateway and bot, and those that features add. */
function metricNames(): Set<string> {
	const bot = createMetrics();
	addGauges(bot.registry, observed as unknown as Observed);
	const gateway = createGatewayMetrics();
	addGatewayGauges(gateway, { backends: [], toolsListBytes: () => 0, refreshAgeSeconds: () => 0 });
	const names = new Set(["up"]);
	for (const { registry } of [bot, gateway])
		for (const [name, { type }] of parseMetrics(registry.text()))
			names.add(type === "histogram" ? `${name}_bucket` : name);
	const root = join(folder, "../..");
	for (const path of new Bun.Glob("src/{ai,bot}/**/*.ts").scanSync(root)) {
		const source = readFileSync(join(root, path), "utf8");
		for (const [, name = ""] of source.matchAll(/"(guildhall_bot_\w+[a-z\d])"/g)) names.add(name);
	}
	return names;
}

/** The labels that the metrics have, where prometheus.yaml scrapes them. */
const labels = "bot instance job le outcome provider reason state tool".split(" ");

test("every metric of the alerts and the dashboard exists, and every label", () => {
	const names = metricNames();
	expect(names.size).toBeGreaterThan(40);
	for (const text of [...alerts.map(({ expr }) => expr), ...panelExpressions]) {
		const used = text.match(/\b(guildhall|process)_\w+|\bup\b/g) ?? [];
		expect(used.length).toBeGreaterThan(0);
		expect(used.filter((name) => !names.has(name))).toEqual([]);
		const grouped = [...text.matchAll(/\bby \(([^)]+)\)/g)];
		const named = grouped.flatMap(([, list = ""]) => list.split(", "));
		const matched = [...text.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)];
		const all = [...named, ...matched.map(([, name = ""]) => name)];
		expect(all.filter((name) => !labels.includes(name))).toEqual([]);
	}
});

test("the outcomes that count as failed are those of the gateway, which its README explains", async () => {
	const failed = alerts.find(({ alert }) => alert === "GuildhallCallsFail");
	const [, list = ""] = /outcome=~"([^"]+)"/.exec(failed?.expr ?? "") ?? [];
	const expected = new Set<CallOutcome>(Object.values(outcomeOf).filter((one) => kinds.get(one) === "bad"));
	expect(list.split("|").sort()).toEqual([...expected].sort());
	expect(panelExpressions.join("\n")).toContain(`outcome=~"${list}"`);
	const documented = await Bun.file(`${import.meta.dir}/../../src/gateway/README.md`).text();
	expect([...kinds.keys()].filter((outcome) => !documented.includes(`\`${outcome}\``))).toEqual([]);
});

test("every alert says what is wrong and what to do", () => {
	for (const { alert, labels, annotations } of alerts) {
		expect(alert).toMatch(/^Guildhall[A-Z]\w+$/);
		expect(["critical", "warning"]).toContain(labels.severity);
		expect(annotations.summary).toEndWith(".");
		expect(annotations.action).toMatch(/[.?]$/);
	}
	expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
});

test("the panels of the dashboard have their own ids and places", () => {
	const { panels } = dashboard;
	expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
	const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
		Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
	);
	expect(new Set(cells).size).toBe(cells.length);
	for (const { gridPos, title } of panels) {
		expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
		expect(title).not.toBe("");
	}
});

const promtool = Bun.which("promtool");
if (!promtool) console.warn("no check of alerts: promtool is not installed");

describe.skipIf(!promtool)("promtool", () => {
	/** Runs promtool in a directory with these files. */
	function run(files: Record<string, string>, ...args: string[]) {
		const cwd = mkdtempSync(join(tmpdir(), "guildhall-promtool-"));
		try {
			for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
			const { exitCode, stdout, stderr } = Bun.spawnSync([promtool ?? "", ...args], { cwd });
			return { code: exitCode, output: `${stdout}${stderr}` };
		} finally {
			rmSync(cwd, { recursive: true, force: true });
		}
	}

	test("accepts the scrape configuration and the alerts", () => {
		const files = {
			"alerts.yaml": read("alerts.yaml"),
			"prometheus.yaml": read("prometheus.yaml").replace("/etc/prometheus/guildhall-token", "/dev/null"),
		};
		const { code, output } = run(files, "check", "config", "prometheus.yaml");
		expect(output).toContain(`${alerts.length} rules found`);
		expect(code).toBe(0);
	});

	test("accepts every expression of the dashboard", () => {
		const rules = panelExpressions.map((expr, at) => ({ record: `guildhall:panel_${at}`, expr }));
		const text = JSON.stringify({ groups: [{ name: "panels", rules }] });
		const { code, output } = run({ "rules.yaml": text }, "check", "rules", "rules.yaml");
		expect(output).toContain(`${rules.length} rules found`);
		expect(code).toBe(0);
	});

	/** For each alert: series for which it fires (after `at`), and series for which it does not. */
	const cases: Record<string, Case> = {
		GuildhallProcessDown: { series: 'up{job="guildhall"}', bad: "0x120", good: "1x120" },
		GuildhallCrashLoop: { series: 'process_start_time_seconds{job="guildhall"}', bad: "0+60x120", good: "5x120" },
		GuildhallBotOffline: {
			series: 'guildhall_gateway_backend_up{bot="alpha",instance="a"}',
			bad: "0x120",
			good: "0x120",
			beside: { 'guildhall_gateway_backend_state{bot="alpha",instance="a",state="offline"}': "1x120" },
			besideGood: { 'guildhall_gateway_backend_state{bot="alpha",instance="a",state="stopped"}': "1x120" },
		},
		GuildhallDiscordDisconnected: {
			series: 'guildhall_bot_discord_connected{bot="alpha"}',
			bad: "0x120",
			good: "1x120",
		},
		GuildhallStoreUnavailable: { series: 'guildhall_bot_store_ready{bot="alpha"}', bad: "0x120", good: "1x120" },
		GuildhallDiscordPaused: {
			series: 'guildhall_bot_discord_pause_seconds{bot="alpha"}',
			bad: "300x120",
			good: "0x120",
		},
		GuildhallManyRefusedRequests: {
			series: 'guildhall_bot_discord_invalid_requests{bot="alpha"}',
			bad: "501x120",
			good: "500x120",
		},
		GuildhallManyLogins: { series: 'guildhall_bot_discord_logins_24h{bot="alpha"}', bad: "701x120", good: "700x120" },
		GuildhallOutcomeUnknown: {
			series: 'guildhall_gateway_outcome_unknown_total{bot="alpha"}',
			bad: "0+1x120",
			good: "7x120",
		},
		GuildhallCallsFail: {
			series: 'guildhall_gateway_calls_total{bot="alpha",outcome="offline"}',
			bad: "0+1x120",
			good: "3x120",
			beside: { 'guildhall_gateway_calls_total{bot="alpha",outcome="done"}': "0+15x120" },
		},
		GuildhallCallsSlow: {
			series: 'guildhall_gateway_call_seconds_bucket{bot="alpha",le="10"}',
			bad: "0+10x120",
			good: "0+1x120",
			beside: {
				'guildhall_gateway_call_seconds_bucket{bot="alpha",le="5"}': "0+1x120",
				'guildhall_gateway_call_seconds_bucket{bot="alpha",le="+Inf"}': "0+10x120",
			},
			besideGood: {
				'guildhall_gateway_call_seconds_bucket{bot="alpha",le="5"}': "0+1x120",
				'guildhall_gateway_call_seconds_bucket{bot="alpha",le="+Inf"}': "0+1x120",
			},
		},
		GuildhallAuditDropped: { series: 'guildhall_bot_audit_dropped_total{bot="alpha"}', bad: "0+1x120", good: "4x120" },
		GuildhallBackupsFail: { series: 'guildhall_bot_backups_failing{bot="alpha"}', bad: "2x200", good: "0x200" },
		GuildhallMassDeletion: { series: 'guildhall_bot_mass_deletions_total{bot="alpha"}', bad: "0+1x120", good: "1x120" },
		GuildhallAiFails: {
			series: 'guildhall_bot_ai_requests_total{bot="alpha",outcome="unreachable"}',
			bad: "0+3x120",
			good: "0+1x120",
			beside: { 'guildhall_bot_ai_requests_total{bot="alpha",outcome="answered"}': "0+2x120" },
		},
	};

	test("fires each alert when it should, and only then", () => {
		expect(Object.keys(cases).sort()).toEqual(alerts.map(({ alert }) => alert).sort());
		const given = (series: Record<string, string>) =>
			Object.entries(series).map(([name, values]) => ({ series: name, values }));
		const tests = Object.entries(cases).flatMap(([alertname, one]) => {
			const { series, bad, good, beside = {}, besideGood = beside } = one;
			const count = (fires: boolean) => ({
				expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"})`,
				eval_time: "100m",
				exp_samples: fires ? [{ labels: "{}", value: 1 }] : [],
			});
			return [
				{ interval: "1m", input_series: given({ [series]: bad, ...beside }), promql_expr_test: [count(true)] },
				{ interval: "1m", input_series: given({ [series]: good, ...besideGood }), promql_expr_test: [count(false)] },
			];
		});
		const files = {
			"alerts.yaml": read("alerts.yaml"),
			"test.yaml": JSON.stringify({ rule_files: ["alerts.yaml"], evaluation_interval: "5m", tests }),
		};
		const { code, output } = run(files, "test", "rules", "test.yaml");
		expect(output).toContain("SUCCESS");
		expect(code).toBe(0);
	});
});
