// Wires reports into the feature `moderation`: the commands of members, the buttons of staff, tools and background work.

import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import type { Cases } from "../cases/cases.ts";
import { createEntryButtons } from "./entry-buttons.ts";
import type { EntryWorkerOptions } from "./entry-worker.ts";
import { createReportTools } from "./report-tools.ts";
import { Reporting } from "./reporting.ts";
import { Reports } from "./reports.ts";

export type ReportsTiming = Pick<EntryWorkerOptions, "now" | "backOffMs" | "updateIntervalMs">;

/** Creates the reports of the feature `moderation`. Returns undefined if there is no channel for them. */
export function createReportsFeature(
	{ config, connection, store, log, callAs }: FeatureOptions,
	cases: Cases,
	timing: ReportsTiming = {},
) {
	const channelId = config.toml.moderation?.reports;
	if (channelId === undefined) return undefined;
	const reports = new Reports({ channelId, connection, store, log, callAs, ...timing });
	const reporting = new Reporting({ channelId, connection, reports });
	return {
		tools: createReportTools({ channelId, reports, cases }),
		components: [reporting.form, createEntryButtons({ reports, callAs })],
		menus: reporting.menus,
		attach: (client) => reports.attach(client),
		start: () => reports.start(),
		close: () => reports.close(),
	} satisfies Feature;
}
