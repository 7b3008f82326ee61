// Tools with which callers follow their own requests for approval.

import * as v from "valibot";
import { ToolError } from "../../lib/tool-error.ts";
import type { Store } from "../store/store.ts";
import { approvalRows } from "../store/tables/approvals.ts";
import { expected } from "../tool/arguments/arguments.ts";
import type { BotTool } from "../tool/context.ts";
import { readTool } from "../tool/define.ts";
import { idOf } from "./needs-approval.ts";
import { describeRequest, requestLine } from "./request-text.ts";

const shownRequests = 20;

/** `get_approval` and `list_approvals`. Callers see only the approvals of their own calls. */
export function createApprovalTools({ sql }: Pick<Store, "sql">): BotTool[] {
	const approval_id = v.pipe(
		v.string(),
		v.regex(/^[0-9a-f]{12}$/, expected("the approval_id of a call")),
		v.description("From the call's result."),
	);
	return [
		readTool({
			name: "get_approval",
			toolset: "core",
			offered: "always",
			title: "Get an approval",
			description: "Whether people approved a call that needs it, and its result.",
			person: { managesBot: false },
			input: { approval_id },
			async run({ approval_id }, { principal }) {
				const [row] = await approvalRows.all(sql, { id: approval_id, principal_id: idOf(principal) });
				if (row) return describeRequest(row);
				throw new ToolError(
					`There is no request for approval ${approval_id}. A request is kept for a day after its end; list_approvals shows yours.`,
				);
			},
		}),
		readTool({
			name: "list_approvals",
			toolset: "core",
			offered: "always",
			title: "List approvals",
			description: "Your latest calls that people must approve, newest first.",
			person: { managesBot: false },
			input: {},
			async run(_, { principal }) {
				const all = await approvalRows.all(sql, { principal_id: idOf(principal) }, "created_at DESC, id");
				const rows = all.slice(0, shownRequests);
				if (rows.length === 0) return "No call of yours needed approval.";
				return [`${rows.length} request(s) for approval, newest first, times in UTC:`, ...rows.map(requestLine)];
			},
		}),
	];
}
