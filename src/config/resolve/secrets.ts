import { FlatlineError } from "../../base/errors.ts";
import { checkPostgresUrl } from "../../base/postgres-url.ts";
import { Secret } from "../../base/secret.ts";
import { kindOf, partsOf, tokensOf, type WrittenConfig } from "../check/written.ts";
import { known, refused } from "../document/accepted.ts";
import type { ConfigDocument } from "../document/document.ts";
import { formatPath, type Problem, type YamlPath } from "../document/problems.ts";
import { checkHttpUrl } from "../../base/schema/values.ts";
import {
  checkHeaders,
  checkKey,
  checkSigningSecret,
  requiredUrl,
  type SecretRule,
} from "../../base/schema/secret-rules.ts";
import type { SourceConfig } from "../config.ts";

/** What was found for the secrets. */
export interface SecretBook {
  readonly problems: readonly Problem[];
  /** Whether the value at `path` is a secret, or one of several. */
  isSecret(path: YamlPath): boolean;
  /** The secret `key` of the object at `path`; empty when there is none. */
  of(path: YamlPath, key: string): readonly Secret[];
  /** The secret `key` of the object at `path`, which has been required. */
  one(path: YamlPath, key: string): Secret;
  /** Header names and values of the receiver or discovery source at `path`. */
  headersOf(path: YamlPath): Readonly<Record<string, Secret>>;
}

interface SecretSlot extends SecretRule {
  /** Path of the object that has it. */
  readonly path: YamlPath;
  readonly holder: Holder;
}

type Holder = Readonly<Record<string, unknown>>;

const leastTokenBytes = 16;
/**
 * Collects every secret of the configuration and checks it (CONTRACT 4). Messages never show a value. `isExposed`: others than
 * this machine can try tokens.
 */
export function readSecrets(
  config: WrittenConfig,
  document: ConfigDocument,
  { isExposed }: { readonly isExposed: boolean },
): SecretBook {
  const reader = new SecretReader(document);
  for (const slot of slotsOf(config)) reader.readSlot(slot);
  const tokenPaths: readonly YamlPath[] = [["server"], ...tokensOf(config).map(({ path }) => path)];
  reader.refuseEqual(tokenPaths, "token");
  if (isExposed) reader.refuseGuessable(tokenPaths, "token");
  for (const { path, value } of partsOf(config.receivers, ["receivers"]))
    if (kindOf(value)?.hasHeaders) reader.readHeaders(path, (value as Holder)["headers"]);
  for (const { path, value } of partsOf(config.discover, ["discover"])) reader.readHeaders(path, value.headers);
  const of: SecretBook["of"] = (path, key) => reader.found.get(formatPath([...path, key])) ?? [];
  return {
    problems: reader.problems,
    isSecret: (path) => reader.places.has(formatPath(path)),
    of,
    one: (path, key) => {
      const [secret] = of(path, key);
      if (secret !== undefined) return secret;
      throw new FlatlineError(
        "internal",
        `${formatPath([...path, key])} is missing in a configuration that was accepted`,
      );
    },
    headersOf: (path) => reader.headers.get(formatPath(path)) ?? {},
  };
}

function slotsOf(config: WrittenConfig): SecretSlot[] {
  const slots = (path: YamlPath, holder: unknown, rules: readonly SecretRule[]): SecretSlot[] =>
    isObject(holder) ? rules.map((rule) => ({ ...rule, path, holder })) : [];
  const source = known(config.source);
  const opinion = known(config.secondOpinion);
  return [
    ...slots(["source"], source, sourceSecrets[typeof source?.type === "string" ? source.type : "remote"]),
    ...partsOf(config.organizations, ["organizations"]).flatMap(({ path, value }) =>
      slots(path, value, [{ key: "apiKey", check: checkKey }]),
    ),
    ...partsOf(config.discover, ["discover"]).flatMap(({ path, value }) =>
      slots(path, value, [{ key: "url", check: checkHttpUrl }]),
    ),
    ...slots(["server"], config.server, [{ key: "token", check: checkKey, mayBeEmpty: true }]),
    ...tokensOf(config).flatMap(({ path, value }) =>
      slots(path, value, [{ key: "token", check: checkKey, isRequired: true }]),
    ),
    ...slots(["server"], config.server, [{ key: "linkSecret", check: checkSigningSecret }]),
    ...slots(["storage"], config.storage, [{ key: "url", check: checkPostgresUrl }]),
    ...slots(["heartbeat"], config.heartbeat, [requiredUrl]),
    ...slots(["secondOpinion", "verifier"], opinion?.verifier, [
      { key: "url", check: checkHttpUrl },
      { key: "secret", check: checkSigningSecret },
    ]),
    ...partsOf(config.receivers, ["receivers"]).flatMap(({ path, value }) =>
      slots(path, value, kindOf(value)?.secrets ?? []),
    ),
  ];
}

class SecretReader {
  readonly problems: Problem[] = [];
  readonly found = new Map<string, readonly Secret[]>();
  readonly headers = new Map<string, Readonly<Record<string, Secret>>>();
  /** Paths of all that is a secret. */
  readonly places = new Set<string>();
  readonly #document: ConfigDocument;

  constructor(document: ConfigDocument) {
    this.#document = document;
  }

  readSlot({ path, holder, key, check, isRequired, mayBeEmpty }: SecretSlot): void {
    const valuePath = [...path, key];
    if (!Object.hasOwn(holder, key)) {
      if (isRequired === true) this.#report(valuePath, "is required");
      return;
    }
    const secrets: Secret[] = [];
    for (const entry of elements(valuePath, holder[key])) {
      this.places.add(formatPath(entry.path));
      // A key without a value is as an empty one. What is no text is reported by the schema, or as a reference.
      const value = entry.value ?? "";
      if (typeof value !== "string" || (value === "" && mayBeEmpty === true)) continue;
      const problem = value === "" ? "must not be empty" : check(value);
      if (problem === null) secrets.push(new Secret(value));
      else this.#report(entry.path, problem);
    }
    this.found.set(formatPath(valuePath), secrets);
  }

  /** Reports each secret `key` that an earlier one of these objects has too. */
  refuseEqual(paths: readonly YamlPath[], key: string): void {
    const seen: Secret[] = [];
    for (const path of paths) {
      const secret = this.found.get(formatPath([...path, key]))?.[0];
      if (secret === undefined) continue;
      if (seen.some((other) => other.equals(secret.reveal())))
        this.#report([...path, key], "is the same as an earlier one: they could not be distinguished");
      seen.push(secret);
    }
  }

  /** Reports each secret `key` of these objects that could be found by trying. */
  refuseGuessable(paths: readonly YamlPath[], key: string): void {
    for (const path of paths) {
      const secret = this.found.get(formatPath([...path, key]))?.[0];
      if (secret === undefined || Buffer.byteLength(secret.reveal()) >= leastTokenBytes) continue;
      this.#report(
        [...path, key],
        `must have at least ${leastTokenBytes} bytes where server.listen is not this machine's alone (127.0.0.1): openssl rand -hex 16 makes one`,
      );
    }
  }

  readHeaders(path: YamlPath, written: unknown): void {
    const headers: Record<string, Secret> = {};
    for (const [name, value] of isObject(written) ? Object.entries(written) : []) {
      const place = [...path, "headers", name];
      this.places.add(formatPath(place));
      if (typeof value !== "string") continue;
      const problem = checkHeaders(name, value);
      if (problem !== null) this.#report(place, problem);
      else headers[name.toLowerCase()] = new Secret(value);
    }
    this.headers.set(formatPath(path), headers);
  }

  #report(path: YamlPath, message: string, part: "value" | "key" = "value"): void {
    this.problems.push(this.#document.problemAt(path, message, part));
  }
}

interface Element {
  readonly path: YamlPath;
  readonly value: unknown;
}

function elements(path: YamlPath, value: unknown): Element[] {
  if (!Array.isArray(value)) return value === refused ? [] : [{ path, value }];
  return value.map((item: unknown, index) => ({ path: [...path, index], value: item }));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The secrets of a source of each type. */
const sourceSecrets: Readonly<Record<SourceConfig["type"], readonly SecretRule[]>> = {
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
