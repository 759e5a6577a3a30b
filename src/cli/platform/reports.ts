import { FlatlineError } from "../../base/errors.ts";
import { formatCount, none } from "../../base/numbers.ts";
import { assetTypes } from "../../contract/asset-types.ts";
import { walkReportPages } from "../../contract/report-pages.ts";
import { parseReportsQuery } from "../../contract/report-schemas.ts";
import { proposalDecisions, reportSources, reportStatuses } from "../../contract/reports.ts";
import { choice, command, configFlag, flag, group, value } from "../command.ts";
import { loadFleetConfig } from "../command-config.ts";
import { createProgressLine } from "../context.ts";
import { renderTable } from "../table.ts";
import { askPlatform, type AskedPlatform } from "./access.ts";
import { describeAsset, viewReport, type ReportView } from "./report-view.ts";
import { flagNames } from "./review-flags.ts";

const upperCase = (text: string): string => text.toUpperCase();

const list = command({
  description: "list reports, newest first; one page, or all of them with --all",
  flags: {
    slug: value("<slug>", "organization; required if the key or the configuration has several"),
    all: flag("follow cursors to the last page"),
    limit: value("<n>", "reports on a page, 1–100 [as the service likes]"),
    cursor: value("<cursor>", "continue after a page"),
    startDate: value("<time>", "created then or later, as 2026-01-15T12:00:00.000Z"),
    endDate: value("<time>", "created then or earlier"),
    onlyRejected: choice("[bool]", "with a rejected proposal", ["true", "false"]),
    needsCustomerReview: choice("[bool]", "with a proposal in the customer review queue", ["true", "false"]),
    status: value("<status>", reportStatuses.join(", "), upperCase),
    decision: value("<decision>", `with a proposal of this decision: ${proposalDecisions.join(", ")}`, upperCase),
    assetType: value("<type>", "with an asset of this type, for example URL", upperCase),
    source: value("<source>", reportSources.join(", "), upperCase),
    reportedBy: value("<who>", "human or automation"),
    reviewedBy: value("<who>", "human or automation"),
    country: value("<code>", "two letters"),
    ...configFlag,
    json: flag("print the service's JSON, one report per line"),
  },
  help: `
The filters from --status on are extensions of flatline; when a service ignores one, stderr says so,
and it is applied to what the service sends. A value that the API does not have is refused.

Asset types:
${assetTypes.join(", ").replaceAll(/(.{1,98})(?: |$)/g, "  $1\n")}
Examples:
  flatline reports list --needs-customer-review --all
  flatline reports list --all --json --limit 100 | jq -r '.proposals[].asset.content'
`,
  run: async ({ context, flags }) => {
    const { config: file, all = false, json, ...asked } = flags;
    const parsed = parseReportsQuery(asked, flagNames);
    if (parsed.kind !== "query")
      throw new FlatlineError("usage", "these flags of the listing are wrong:", { issues: parsed.issues });
    const { query } = parsed;
    const { config } = await loadFleetConfig(file, context);
    const onIgnoredFilter = (name: string): void =>
      context.stderr.write(
        `flatline: the service seems to ignore the filter ${name}, an extension of flatline; it is applied here\n`,
      );
    const progress = createProgressLine(context);
    const { signal, stdout, stderr } = context;
    const listed: ReportView[] = [];
    let count = 0;
    let next: string | undefined;
    const read = async (api: AskedPlatform): Promise<void> => {
      const pages = all ? walkReportPages(api, query, { signal }) : [await api.listReports(query, { signal })];
      for await (const { reports, cursor } of pages) {
        if (json === true) stdout.write(reports.map((report) => `${JSON.stringify(report)}\n`).join(""));
        else listed.push(...reports.map(viewReport));
        count += reports.length;
        if (all) progress.show(`${formatCount(count)} reports`);
        next = cursor;
      }
    };
    await askPlatform(config, flags, context, query.slug, read, onIgnoredFilter).finally(progress.clear);
    if (json !== true) stdout.write(renderTable(listed, columns, { empty: "no reports", context }));
    if (!all && next !== undefined) stderr.write(`there are more: --all lists them, --cursor ${next} the next page\n`);
    return undefined;
  },
  say: () => "",
});

const columns: Readonly<Record<string, (report: ReportView) => string>> = {
  ID: ({ id }) => id ?? none,
  CREATED: ({ createdAt }) => createdAt ?? none,
  STATUS: ({ status }) => status ?? none,
  SOURCE: ({ source }) => source ?? none,
  PROPOSALS: ({ proposals }) =>
    proposals
      .map(({ id, decision = "", needsCustomerReview }) =>
        `${id} ${needsCustomerReview === true ? "queued" : decision}`.trim(),
      )
      .join(", "),
  ASSET: ({ proposals: [first, ...more] }) =>
    first === undefined ? "" : `${describeAsset(first)}${more.length === 0 ? "" : ` +${more.length}`}`,
  TITLE: ({ title }) => title ?? "",
};

export const reports = group("reports of an organization, of the configured source", { list });
