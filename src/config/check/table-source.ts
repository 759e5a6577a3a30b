import { splitParameters, typedParameters } from "../../base/named-parameters.ts";
import type { ConfigDocument } from "../document/document.ts";
import type { Problem, YamlPath } from "../document/problems.ts";
import { suggest } from "../../base/suggestions.ts";
import { problemAt, valueAt } from "./validation.ts";

interface OrganizationPlace {
  readonly document: ConfigDocument;
  readonly path: YamlPath;
  readonly value: unknown;
}

const parameterNames = ["slugs", "from", "to"] as const;

/** A source that reads a table: a mapping or a query, never both, and what neither can give. */
export function checkTableSource(main: ConfigDocument, organizations: readonly OrganizationPlace[]): Problem[] {
  const type = valueAt(main.value, ["source", "type"]);
  if (type !== "postgres" && type !== "clickhouse") return [];
  return [...checkEvents(main, type), ...checkNeeds(main, type, organizations)];
}

function checkEvents(main: ConfigDocument, type: "postgres" | "clickhouse"): Problem[] {
  const source = (key: string): unknown => valueAt(main.value, ["source", key]);
  const problem = (key: string, message: string, part: "value" | "key" = "value"): Problem =>
    problemAt(main, ["source", ...key.split(".")], message, part);
  const hasTable = source("table") !== undefined;
  const query = source("query");
  if (query !== undefined) {
    const foreign = ["table", "columns", "deadStatuses"].filter((key) => source(key) !== undefined);
    return [
      ...foreign.map((key) => problem(key, "does not go with query: the query itself says what is counted", "key")),
      ...(typeof query === "string" ? checkQuery(query, type).map((message) => problem("query", message)) : []),
    ];
  }
  if (!hasTable) return [problem("table", "is required, with columns; or query, for a query of your own")];
  const columns = source("columns");
  if (columns === undefined)
    return [problem("columns", "is required with table: which column holds slug, at and the rest")];
  const isOrphan = source("deadStatuses") !== undefined && valueAt(columns, ["status"]) === undefined;
  return isOrphan
    ? [problem("deadStatuses", "goes with columns.status only: without it every row is a death", "key")]
    : [];
}

function checkQuery(query: string, type: "postgres" | "clickhouse"): string[] {
  if (query.trim() === "") return ["must not be empty"];
  const isPostgres = type === "postgres";
  const shown = (name: string): string => (isPostgres ? `:${name}` : `{${name}:…}`);
  const names = new Set(isPostgres ? splitParameters(query).names : typedParameters(query).map(({ name }) => name));
  const known: readonly string[] = parameterNames;
  const missing = known.filter((name) => !names.has(name));
  const unknown = [...names].filter((name) => !known.includes(name));
  return [
    ...(missing.length === 0
      ? []
      : [`must use ${missing.map(shown).join(", ")}: without it each check would read the whole table`]),
    ...unknown.map((name) => `has no parameter ${shown(name)}: there are slugs, from and to${suggest(name, known)}`),
  ];
}

function checkNeeds(main: ConfigDocument, type: string, organizations: readonly OrganizationPlace[]): Problem[] {
  const isQuery = valueAt(main.value, ["source", "query"]) !== undefined;
  const defaults = { document: main, path: ["defaults"], value: valueAt(main.value, ["defaults"]) };
  return [defaults, ...organizations].flatMap(({ document, path, value }) => {
    const problems: Problem[] = [];
    if (valueAt(value, ["reviewQueue", "enabled"]) === true) {
      const message = `needs the platform's reports: with source.type ${type} there are none, so this check cannot run`;
      problems.push(problemAt(document, [...path, "reviewQueue", "enabled"], message));
    }
    const coverage = valueAt(value, ["alert", "minBaselineCoverage"]);
    if (isQuery && typeof coverage === "number" && coverage > 0) {
      const message = "needs source.table: a query of your own does not tell when an organization's first event was";
      problems.push(problemAt(document, [...path, "alert", "minBaselineCoverage"], message));
    }
    return problems;
  });
}
