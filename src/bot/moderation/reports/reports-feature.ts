// Wires reports into the feature `moderation`: the commands of members, the buttons of staff, tools and background work.

import { combineFeatures, type FeatureOptions } from "../../commands/feature.ts";
import type { Cases } from "../cases/cases.ts";
import { createEntryButtons } from "./entry-buttons.ts";
import { createReportTools } from "./report-tools.ts";
import { Reporting } from "./reporting.ts";
import { Reports } from "./reports.ts";

export function createReportsFeature({ config, connection, store, log, callAs }: FeatureOptions, cases: Cases) {
	const channelId = config.toml.moderation?.reports;
	if (channelId === undefined) return undefined;
	const reports = new Reports({ channelId, connection, store, log, callAs });
	const reporting = new Reporting({ channelId, connection, reports });
	return combineFeatures([
		reports,
		{
			tools: createReportTools({ channelId, reports, cases }),
			components: [reporting.form, createEntryButtons({ reports, callAs })],
			menus: reporting.menus,
		},
	]);
}
