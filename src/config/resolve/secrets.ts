import { dirname, resolve } from "node:path";

import { checkPostgresUrl } from "../../base/postgres-url.ts";
import { Secret } from "../../base/secret.ts";
import { unresolved, type ConfigDocument } from "../document/document.ts";
import { readRegularFile } from "../document/files.ts";
import { formatPath, type Problem, type YamlPath } from "../document/problems.ts";
import { checkHeaders, checkKey, checkSigningSecret, parseHeaderLines } from "./secret-rules.ts";
import { checkHttpUrl } from "../schema/values.ts";
import { tableSourceSlots } from "./table-source-secrets.ts";
import { problemAt, valueAt } from "../check/validation.ts";

/** What was found for the secrets of all files. */
export interface SecretBook {
  readonly problems: readonly Problem[];
  /** Absolute paths of the files that were read. */
  readonly files: readonly string[];
  /** The secret `key` of the object at `path`; empty when there is none. */
  of(document: ConfigDocument, path: YamlPath, key: string): readonly Secret[];
  /** Header names and values of the receiver at `path`. */
  headersOf(document: ConfigDocument, path: YamlPath): Readonly<Record<string, Secret>>;
}

interface SecretSlot {
  readonly document: ConfigDocument;
  /** Of the object that has it. */
  readonly path: YamlPath;
  readonly key: string;
  readonly isRequired: boolean;
  /** An empty one is as if it were absent. */
  readonly mayBeEmpty: boolean;
  readonly check: (value: string) => string | null;
}

// A key, a URL or a PEM file; not a device that never ends.
const maxSecretBytes = 65_536;

/**
 * Collects every secret of the configuration, inline (`x`) or from the file that its twin (`xFile`) names, and checks what it
 * holds (CONTRACT 4). Messages never show a value.
 */
export async function readSecrets(main: ConfigDocument, included: readonly ConfigDocument[]): Promise<SecretBook> {
  const reader = new SecretReader();
  for (const slot of slotsOf(main, included)) await reader.readSlot(slot);
  for (const path of receiverPaths(main, "webhook")) await reader.readHeaders(main, path);
  return {
    problems: reader.problems,
    files: [...reader.files.keys()],
    of: (document, path, key) => reader.found.get(slotName(document, [...path, key])) ?? [],
    headersOf: (document, path) => reader.headers.get(slotName(document, path)) ?? {},
  };
}

function slotsOf(main: ConfigDocument, included: readonly ConfigDocument[]): SecretSlot[] {
  const slot = (
    path: YamlPath,
    key: string,
    check: SecretSlot["check"],
    more: Partial<SecretSlot> = {},
  ): SecretSlot => ({
    document: main,
    path,
    key,
    check,
    isRequired: false,
    mayBeEmpty: false,
    ...more,
  });
  const url = (path: YamlPath, isRequired = true): SecretSlot => slot(path, "url", checkHttpUrl, { isRequired });
  const organizations = [main, ...included].flatMap((document) =>
    listPaths(document, "organizations").map((path) => slot(path, "apiKey", checkKey, { document })),
  );
  const urlReceivers = ["webhook", "slack", "discord", "msteams", "alertmanager"] as const;
  return [
    slot(["source"], "apiKey", checkKey),
    ...tableSourceSlots(valueAt(main.value, ["source", "type"])).map(({ key, check, isRequired, mayBeEmpty }) =>
      slot(["source"], key, check, { isRequired, mayBeEmpty }),
    ),
    ...organizations,
    slot(["server"], "token", checkKey, { mayBeEmpty: true }),
    slot(["storage"], "url", checkPostgresUrl),
    ...(isObject(valueAt(main.value, ["heartbeat"])) ? [url(["heartbeat"])] : []),
    ...urlReceivers.flatMap((type) => receiverPaths(main, type).map((path) => url(path))),
    ...receiverPaths(main, "pagerduty").flatMap((path) => [
      slot(path, "routingKey", checkKey, { isRequired: true }),
      url(path, false),
    ]),
    ...receiverPaths(main, "email").map((path) => slot(path, "url", checkMailUrl, { isRequired: true })),
    ...receiverPaths(main, "webhook").map((path) => slot(path, "secret", checkSigningSecret)),
  ];
}

function checkMailUrl(value: string): string | null {
  const problem = checkHttpUrl(value, ["smtp:", "smtps:"]);
  if (problem !== null) return problem;
  const { protocol, searchParams } = new URL(value);
  const tls = searchParams.get("tls");
  if (tls === null) return null;
  if (tls !== "no") return 'has ?tls= with a value other than "no"';
  return protocol === "smtps:" ? "is smtps://, which is always encrypted: ?tls=no goes with smtp:// only" : null;
}

function receiverPaths(main: ConfigDocument, type: string): YamlPath[] {
  return listPaths(main, "receivers").filter((path) => valueAt(main.value, [...path, "type"]) === type);
}

function listPaths(document: ConfigDocument, key: string): YamlPath[] {
  const list = valueAt(document.value, [key]);
  return Array.isArray(list) ? list.map((_item, index) => [key, index]) : [];
}

class SecretReader {
  readonly problems: Problem[] = [];
  readonly found = new Map<string, readonly Secret[]>();
  readonly headers = new Map<string, Readonly<Record<string, Secret>>>();
  readonly files = new Map<string, string | FileFailure>();

  async readSlot(slot: SecretSlot): Promise<void> {
    const { document, path, key } = slot;
    const holder = valueAt(document.value, path);
    if (!isObject(holder)) return;
    const isInline = Object.hasOwn(holder, key);
    const isFile = Object.hasOwn(holder, `${key}File`);
    if (isInline && isFile) {
      this.#report(document, [...path, `${key}File`], `${key} and ${key}File do not go together`, "key");
      return;
    }
    if (!isInline && !isFile) {
      if (slot.isRequired) this.#report(document, [...path, key], `${key} or ${key}File is required`);
      return;
    }
    const valuePath = [...path, isInline ? key : `${key}File`];
    const entries = elements(document, valuePath);
    const secrets: Secret[] = [];
    for (const entry of entries) {
      const value = await this.#readEntry(document, entry, isFile);
      if (value === null || (value === "" && slot.mayBeEmpty)) continue;
      const problem = value === "" ? "must not be empty" : slot.check(value);
      if (problem === null) secrets.push(new Secret(value));
      else this.#report(document, entry.path, isFile ? `what the file holds ${problem}` : problem);
    }
    this.found.set(slotName(document, [...path, key]), secrets);
  }

  async readHeaders(document: ConfigDocument, path: YamlPath): Promise<void> {
    const inline = valueAt(document.value, [...path, "headers"]);
    const file = valueAt(document.value, [...path, "headersFile"]);
    if (inline !== undefined && file !== undefined) {
      this.#report(document, [...path, "headersFile"], "headers and headersFile do not go together", "key");
      return;
    }
    const entries: { name: string; value: string; path: YamlPath }[] = [];
    if (isObject(inline)) {
      for (const [name, value] of Object.entries(inline)) {
        if (typeof value === "string") entries.push({ name, value, path: [...path, "headers", name] });
      }
    } else if (typeof file === "string") {
      const filePath = [...path, "headersFile"];
      const text = await this.#readEntry(document, { path: filePath, value: file }, true);
      if (text === null) return;
      const lines = parseHeaderLines(text);
      if (lines === null) this.#report(document, filePath, "the file must hold one `Name: value` a line");
      for (const line of lines ?? []) entries.push({ ...line, path: filePath });
    }
    const headers: Record<string, Secret> = {};
    for (const { name, value, path } of entries) {
      const problem = checkHeaders(name, value);
      if (problem !== null) this.#report(document, path, problem);
      else headers[name.toLowerCase()] = new Secret(value);
    }
    this.headers.set(slotName(document, path), headers);
  }

  async #readEntry(document: ConfigDocument, entry: Element, isFile: boolean): Promise<string | null> {
    // What is no text is told of by the schema, or as a reference that could not be replaced.
    if (entry.value === undefined) return "";
    if (typeof entry.value !== "string") return null;
    if (!isFile || entry.value.trim() === "") return isFile ? null : entry.value;
    const absolutePath = resolve(dirname(document.absolutePath), entry.value);
    const content = this.files.get(absolutePath) ?? (await readSecretFile(absolutePath));
    this.files.set(absolutePath, content);
    if (typeof content === "string" && content !== "") return content;
    const reason = typeof content === "string" ? "is empty" : content.reason;
    this.#report(document, entry.path, `the file ${absolutePath} ${reason}`);
    return null;
  }

  #report(document: ConfigDocument, path: YamlPath, message: string, part: "value" | "key" = "value"): void {
    this.problems.push(problemAt(document, path, message, part));
  }
}

/** A secret in a file is read again at each reload: what can be read once only would be missing then. */
async function readSecretFile(absolutePath: string): Promise<string | FileFailure> {
  const content = await readRegularFile(absolutePath, maxSecretBytes);
  if (content.kind === "unreadable") return content;
  return content.bytes
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .replace(/[\r\n]+$/, "");
}

interface FileFailure {
  readonly reason: string;
}

interface Element {
  readonly path: YamlPath;
  readonly value: unknown;
}

function elements(document: ConfigDocument, path: YamlPath): Element[] {
  const value = valueAt(document.value, path);
  if (!Array.isArray(value)) return value === unresolved ? [] : [{ path, value }];
  return value.map((item: unknown, index) => ({ path: [...path, index], value: item }));
}

function slotName(document: ConfigDocument, path: YamlPath): string {
  return `${document.absolutePath}\0${formatPath(path)}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
