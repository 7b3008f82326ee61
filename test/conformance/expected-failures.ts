// What the official suite asks for and we do not do, each with the reason. An entry that passes after all fails the run.

export type Target = "bot" | "gateway";
export type Suite = "0.1" | "2025-11-25" | "2026-07-28";

interface Expected {
	reason: string;
	/** Scenarios, or single checks as "scenario:check". */
	entries: readonly string[];
	/** Only these, where it is not all. */
	targets?: readonly Target[];
	suites?: readonly Suite[];
}

const sessions = ["0.1", "2025-11-25"] as const;
const stateless = ["2026-07-28"] as const;

const expected: readonly Expected[] = [
	{
		reason: "we have none of the resources that the suite reads",
		entries: ["resources-read-text", "resources-read-binary", "resources-templates-read"],
	},
	{
		reason: "nobody can subscribe to our resources",
		entries: ["resources-subscribe", "resources-unsubscribe"],
		suites: sessions,
	},
	{
		reason: "our logs are for the operator, not for the client",
		entries: ["logging-set-level", "tools-call-with-logging"],
		suites: sessions,
	},
	{
		reason: "our tools ask nothing of the client's model, and of its user only in the stateless revision",
		entries: [
			"tools-call-sampling",
			"tools-call-elicitation",
			"elicitation-sep1034-defaults",
			"elicitation-sep1330-enums",
		],
		suites: sessions,
	},
	{
		reason: "our tools need no capability of the client that could be missing",
		entries: [
			"server-stateless:sep-2575-server-rejects-undeclared-capability",
			"server-stateless:sep-2575-missing-capability-http-400",
		],
		suites: stateless,
	},
	{
		reason: "our tools ask for nothing but approval, once, with a form of its own",
		entries: [
			"input-required-result-basic-elicitation",
			"input-required-result-basic-sampling",
			"input-required-result-basic-list-roots",
			"input-required-result-request-state",
			"input-required-result-multiple-input-requests",
			"input-required-result-multi-round",
			"input-required-result-non-tool-request",
			"input-required-result-capability-check",
			"input-required-result-ignore-extra-params",
		],
		suites: stateless,
	},
	{
		reason: "tasks are an extension that we do not offer",
		entries: [
			"tasks-lifecycle",
			"tasks-capability-negotiation",
			"tasks-wire-fields",
			"tasks-request-state-removal",
			"tasks-mrtr-input",
			"tasks-request-headers",
			"tasks-dispatch-and-envelope",
			"tasks-required-task-error",
			"tasks-mrtr-composition",
		],
		suites: stateless,
	},
	{
		reason: "no tool of ours has a parameter that travels in a header",
		entries: ["http-custom-header-server-validation"],
		suites: stateless,
	},
	{
		reason: "an event id makes clients reconnect by GET, which we do not serve: answers are not resumable",
		entries: ["server-sse-polling:server-sse-priming-event", "server-sse-polling:server-sse-retry-field"],
		suites: ["2025-11-25"],
	},
	{ reason: "the gateway answers with exactly one frame", entries: ["tools-call-with-progress"], targets: ["gateway"] },
];

/** The baseline for one run, in the suite's own format. */
export function expectedFailures(target: Target, suite: Suite): string {
	const lines = expected
		.filter(({ targets = [target], suites = [suite] }) => targets.includes(target) && suites.includes(suite))
		.flatMap(({ reason, entries }) => [`  # ${reason}`, ...entries.map((entry) => `  - ${entry}`)]);
	return `server:\n${lines.join("\n")}\n`;
}
