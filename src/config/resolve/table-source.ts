import type { TableSource } from "../../contract/table-source.ts";
import { Secret } from "../../base/secret.ts";
import type { TableSourceConfig } from "../config.ts";
import { parseDuration } from "../../base/durations.ts";
import type { RootInput } from "../schema/schema.ts";
import { sourceKinds } from "../schema/source-kinds.ts";
import type { SecretBook } from "./secrets.ts";

type TableSourceInput = Extract<RootInput["source"], { readonly type: "postgres" | "clickhouse" }>;

/** Returns a source that reads a table of the user's own, as it is effective; checked before. */
export function resolveTableSource(source: TableSourceInput, secrets: SecretBook): TableSourceConfig {
  const url = secrets.of(["source"], "url")[0] ?? new Secret("");
  const shared = {
    ...sourceKinds[source.type],
    url,
    events: resolveEvents(source),
    timeUnit: source.timeUnit,
    timeoutMs: parseDuration(source.timeout) ?? 0,
    applicationName: source.applicationName,
    concurrency: source.concurrency,
    observedKeys: source.observedKeys,
  } as const;
  if (source.type === "postgres") return { type: "postgres", ...shared };
  return {
    type: "clickhouse",
    ...shared,
    username: source.username,
    password: secrets.of(["source"], "password")[0] ?? null,
    database: source.database,
  };
}

function resolveEvents({ query, table, columns, deadStatuses }: TableSourceInput): TableSource["events"] {
  if (query !== undefined) return { kind: "query", query };
  const { slug = "", at = "", assetType = null, status = null, count = null } = columns ?? {};
  return {
    kind: "table",
    table: table ?? "",
    columns: { slug, at, assetType, status, count },
    deadStatuses: deadStatuses ?? ["DETECTED_AS_DEAD"],
  };
}
