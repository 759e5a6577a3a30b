import { checkPostgresUrl } from "../../base/postgres-url.ts";
import { checkHttpUrl } from "../schema/values.ts";

interface TableSecretSlot {
  readonly key: string;
  readonly check: (value: string) => string | null;
  readonly isRequired: boolean;
  readonly mayBeEmpty: boolean;
}

/** The secrets of a source of this type that reads a table; none for any other. */
export function tableSourceSlots(type: unknown): readonly TableSecretSlot[] {
  if (type === "postgres") return [{ key: "url", check: checkPostgresUrl, isRequired: true, mayBeEmpty: false }];
  if (type !== "clickhouse") return [];
  return [
    { key: "url", check: checkClickhouseUrl, isRequired: true, mayBeEmpty: false },
    { key: "password", check: () => null, isRequired: false, mayBeEmpty: true },
  ];
}

function checkClickhouseUrl(value: string): string | null {
  const problem = checkHttpUrl(value);
  if (problem !== null) return problem;
  const url = new URL(value);
  if (url.username !== "" || url.password !== "")
    return "must not hold a user or password: they are username and password";
  if (url.search !== "" || url.hash !== "") return "must not hold a query or a fragment";
  return url.pathname === "/" ? null : "must not hold a path: the database is database";
}
