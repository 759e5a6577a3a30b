import { checkPostgresUrl } from "../../base/postgres-url.ts";
import type { SourceConfig } from "../config.ts";
import { checkHttpUrl } from "../../base/schema/values.ts";
import { checkKey, type SecretRule } from "../../base/schema/secret-rules.ts";

/** The secrets of a source of each type. */
export const sourceSecrets: Readonly<Record<SourceConfig["type"], readonly SecretRule[]>> = {
  remote: [{ key: "apiKey", check: checkKey }],
  embedded: [],
  postgres: [{ key: "url", check: checkPostgresUrl, isRequired: true }],
  clickhouse: [
    { key: "url", check: checkClickhouseUrl, isRequired: true },
    { key: "password", check: () => null, mayBeEmpty: true },
  ],
};

function checkClickhouseUrl(value: string): string | null {
  const problem = checkHttpUrl(value);
  if (problem !== null) return problem;
  const url = new URL(value);
  if (url.username !== "" || url.password !== "")
    return "must not hold a user or password: they are username and password";
  if (url.search !== "" || url.hash !== "") return "must not hold a query or a fragment";
  return url.pathname === "/" ? null : "must not hold a path: the database is database";
}
