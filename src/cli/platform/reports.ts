import { formatCount, none } from "../../base/numbers.ts";
import { Option, type Command } from "commander";
import { askPlatform, type AskedPlatform } from "./access.ts";
import { FlatlineError } from "../../base/errors.ts";
import { assetTypes } from "../../contract/asset-types.ts";
import { walkReportPages } from "../../contract/report-pages.ts";
import { proposalDecisions, reportSources, reportStatuses, type ReportsQuery } from "../../contract/reports.ts";
import { parseReportsQuery } from "../../contract/report-schemas.ts";
import { loadFleetConfig } from "../command-config.ts";
import { createProgressLine, type AskFlags, type CliContext, type RegisterCommand } from "../context.ts";
import { flagNames } from "./review-flags.ts";
import { describeAsset, viewReport, type ReportView } from "./report-view.ts";
import { renderTable } from "../table.ts";

type QueryFlags = Partial<Record<keyof ReportsQuery, string>>;

interface ListFlags extends QueryFlags, Pick<AskFlags, "config" | "json"> {
  readonly all?: boolean;
}

/** `flatline reports list` */
export const registerReports: RegisterCommand = (program: Command, context: CliContext): void => {
  const reports = program.command("reports").description("reports of an organization, of the configured source");
  const upperCase = (text: string): string => text.toUpperCase();
  reports
    .command("list")
    .description("list reports, newest first; one page, or all of them with --all")
    .option("--slug <slug>", "organization; required if the key or the configuration has several")
    .option("--all", "follow cursors to the last page")
    .option("--limit <n>", "reports on a page, 1–100 [as the service likes]")
    .option("--cursor <cursor>", "continue after a page")
    .option("--start-date <time>", "created then or later, as 2026-01-15T12:00:00.000Z")
    .option("--end-date <time>", "created then or earlier")
    .addOption(flagOption("--only-rejected [bool]", "with a rejected proposal"))
    .addOption(flagOption("--needs-customer-review [bool]", "with a proposal in the customer review queue"))
    .option("--status <status>", reportStatuses.join(", "), upperCase)
    .option("--decision <decision>", `with a proposal of this decision: ${proposalDecisions.join(", ")}`, upperCase)
    .option("--asset-type <type>", "with an asset of this type, for example URL", upperCase)
    .option("--source <source>", reportSources.join(", "), upperCase)
    .option("--reported-by <who>", "human or automation")
    .option("--reviewed-by <who>", "human or automation")
    .option("--country <code>", "two letters")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print the service's JSON, one report per line")
    .addHelpText("after", help)
    .action(async (flags: ListFlags) => {
      const query = readQuery(flags);
      const { config } = await loadFleetConfig(flags.config, context);
      const onIgnoredFilter = (name: string): void =>
        context.stderr.write(
          `flatline: the service seems to ignore the filter ${name}, an extension of flatline; it is applied here\n`,
        );
      const work = (api: AskedPlatform): Promise<void> => list(api, query, flags, context);
      await askPlatform(config, flags, context, query.slug, work, onIgnoredFilter);
    });
};

const help = `
The filters from --status on are extensions of flatline; when a service ignores one, stderr says so, and it is applied
to what the service sends. A value that the API does not have is refused.

Asset types:
${assetTypes.join(", ").replaceAll(/(.{1,116})(?: |$)/g, "  $1\n")}
Examples:
  flatline reports list --needs-customer-review --all
  flatline reports list --all --json --limit 100 | jq -r '.proposals[].asset.content'
`;

async function list(api: AskedPlatform, query: ReportsQuery, flags: ListFlags, context: CliContext): Promise<void> {
  const progress = createProgressLine(context);
  let count = 0;
  const listed: ReportView[] = [];
  let cursor: string | undefined;
  try {
    const { signal } = context;
    const pages =
      flags.all === true ? walkReportPages(api, query, { signal }) : [await api.listReports(query, { signal })];
    for await (const page of pages) {
      if (flags.json === true)
        context.stdout.write(page.reports.map((report) => `${JSON.stringify(report)}\n`).join(""));
      else listed.push(...page.reports.map(viewReport));
      count += page.reports.length;
      if (flags.all === true) progress.show(`${formatCount(count)} reports`);
      cursor = page.cursor;
    }
  } finally {
    progress.clear();
  }
  if (flags.json !== true) context.stdout.write(renderTable(listed, columns, { empty: "no reports", context }));
  if (flags.all !== true && cursor !== undefined)
    context.stderr.write(`there are more: --all lists them, --cursor ${cursor} the next page\n`);
}

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

/** Returns the query of the flags. @throws usage with one issue per flag */
function readQuery(flags: ListFlags): ReportsQuery {
  const { config: _config, json: _json, all: _all, ...asked } = flags;
  const parsed = parseReportsQuery(asked, flagNames);
  if (parsed.kind === "query") return parsed.query;
  throw new FlatlineError("usage", "these flags of the listing are wrong:", { issues: parsed.issues });
}

function flagOption(flags: string, description: string): Option {
  return new Option(flags, description).choices(["true", "false"]).preset("true");
}
