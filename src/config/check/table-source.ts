import { splitParameters, typedParameters } from "../../base/named-parameters.ts";
import { suggest } from "../../base/suggestions.ts";
import { known, refused } from "../document/accepted.ts";
import { settingsOf, type Finding, type WrittenConfig, type WrittenSource } from "./written.ts";

type TableSource = Extract<WrittenSource, { readonly type?: "postgres" | "clickhouse" | typeof refused }>;

const parameterNames = ["slugs", "from", "to"] as const;

/** Checks a source that reads a table: a mapping or a query, never both, and what neither can give. */
export function checkTableSource(config: WrittenConfig): Finding[] {
  const source = known(config.source);
  if (source?.type !== "postgres" && source?.type !== "clickhouse") return [];
  const findings = source.query === undefined ? checkMapping(source) : checkQuery(source);
  const atSource = findings.map((finding) => ({ ...finding, path: ["source", ...finding.path] }));
  return [...atSource, ...checkFirstEvents(config, source)];
}

function checkMapping({ table, columns, deadStatuses }: TableSource): Finding[] {
  if (table === undefined)
    return [{ path: ["table"], message: "is required, with columns; or query, for a query of your own" }];
  if (columns === undefined)
    return [{ path: ["columns"], message: "is required with table: which column holds slug, at and the rest" }];
  if (deadStatuses === undefined || columns === refused || columns.status !== undefined) return [];
  const message = "goes with columns.status only: without it every row is a death";
  return [{ path: ["deadStatuses"], message, part: "key" }];
}

function checkQuery(source: TableSource): Finding[] {
  const foreign = (["table", "columns", "deadStatuses"] as const).filter((key) => source[key] !== undefined);
  const message = "does not go with query: the query itself says what is counted";
  const query = known(source.query);
  return [
    ...foreign.map((key): Finding => ({ path: [key], message, part: "key" })),
    ...(query === undefined ? [] : queryProblems(query, source.type === "postgres")).map((problem) => ({
      path: ["query"],
      message: problem,
    })),
  ];
}

function queryProblems(query: string, isPostgres: boolean): string[] {
  if (query.trim() === "") return ["must not be empty"];
  const shown = (name: string): string => (isPostgres ? `:${name}` : `{${name}:…}`);
  const names = new Set(isPostgres ? splitParameters(query).names : typedParameters(query).map(({ name }) => name));
  const expected: readonly string[] = parameterNames;
  const missing = expected.filter((name) => !names.has(name));
  const unknown = [...names].filter((name) => !expected.includes(name));
  return [
    ...(missing.length === 0
      ? []
      : [`must use ${missing.map(shown).join(", ")}: without it each check would read the whole table`]),
    ...unknown.map((name) => `has no parameter ${shown(name)}: there are slugs, from and to${suggest(name, expected)}`),
  ];
}

function checkFirstEvents(config: WrittenConfig, { query }: TableSource): Finding[] {
  if (query === undefined) return [];
  const message = "needs source.table: a query of your own does not return when an organization's first event was";
  return settingsOf(config).flatMap(({ path, value }) =>
    (known(known(value.alert)?.minBaselineCoverage) ?? 0) > 0
      ? [{ path: [...path, "alert", "minBaselineCoverage"], message }]
      : [],
  );
}
