import { isMap, isNode, isScalar, LineCounter, parseDocument, type Document } from "yaml";
import { FlatlineError } from "../base/errors.ts";
import { wordFixtureIssue } from "./fixture-issue.ts";
import { fixtureSchema, type Fixture } from "./fixture-schema.ts";

/** A fixture's text under the name that messages give it. */
export interface FixtureText {
  readonly name: string;
  readonly text: string;
}

type Path = readonly PropertyKey[];

/** A fixture that is well-formed in itself, and where in its text everything stands. */
export interface FixtureFile {
  readonly name: string;
  readonly fixture: Fixture;
  /** One problem as `FILE:LINE:COL: path: message`. */
  readonly problemAt: (path: Path, message: string) => string;
}

// A syntax tree takes some hundred times the text: longer files are JSON, and their problems are named by path alone.
const longestYaml = 16 * 1_024 * 1_024;
const longestText = 256 * 1_024 * 1_024;
const mostAliases = 10_000;
const namedProblems = 20;

/**
 * Reads a fixture, YAML 1.2 or JSON, and checks it in itself: shape, and no id twice.
 * @throws invalid_data with every problem, too_large
 */
export function readFixture({ name, text }: FixtureText): FixtureFile {
  if (text.length > longestText) throw tooLarge(name, longestText);
  const json = parseJson(text);
  if (json === undefined && text.length > longestYaml) throw tooLarge(name, longestYaml);
  const locate = createLocator(text);
  const problemAt = (path: Path, message: string, part: "value" | "key" = "value"): string =>
    `${name}${locate(path, part)}: ${path.length === 0 ? "" : `${formatPath(path)}: `}${message}`;
  const value = json === undefined ? parseYaml(name, text) : json.value;
  // An empty file is an empty fixture.
  const parsed = fixtureSchema.safeParse(value ?? {}, { error: wordFixtureIssue });
  if (!parsed.success) {
    const problems = parsed.error.issues.flatMap((issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => problemAt([...issue.path, key], "unknown key", "key"))
        : [problemAt(issue.path, issue.message)],
    );
    throw invalidFixture(problems);
  }
  const file = { name, fixture: parsed.data, problemAt };
  const repeated = findRepeated(file);
  if (repeated.length > 0) throw invalidFixture(repeated);
  return file;
}

/** The refusal of an import, with the first problems in `issues`. */
export function invalidFixture(problems: readonly string[]): FlatlineError {
  const more = problems.length - namedProblems;
  const issues = [...problems.slice(0, namedProblems), ...(more > 0 ? [`and ${more} more`] : [])];
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return new FlatlineError("invalid_data", `nothing was imported: the fixture has ${count}`, { issues });
}

/** Ids and names that one file states twice: which of the two holds would be a guess. */
function findRepeated({ fixture, problemAt }: FixtureFile): string[] {
  const problems: string[] = [];
  const check = (what: string, entries: Iterable<readonly [Path, string | number]>): void => {
    const seen = new Set<string | number>();
    for (const [path, key] of entries) {
      if (seen.has(key)) problems.push(problemAt(path, `the ${what} ${key} is already stated above`));
      seen.add(key);
    }
  };
  const { organizations, keys, assets, legitimacyRules, reports } = fixture;
  check(
    "organization",
    organizations.map(({ slug }, index) => [["organizations", index, "slug"], slug]),
  );
  for (const [index, { brands }] of organizations.entries())
    check(
      "brand",
      brands.map(({ id }, brand) => [["organizations", index, "brands", brand, "id"], id]),
    );
  const keyTexts = keys.map(({ key }) => key);
  for (const [index, key] of keyTexts.entries())
    if (keyTexts.indexOf(key) < index)
      problems.push(problemAt(["keys", index, "key"], "the key is already stated above"));
  check(
    "asset",
    assets.map(({ id }, index) => [["assets", index, "id"], id]),
  );
  check(
    "asset",
    assets.map(({ type, content }, index) => [["assets", index, "content"], `${type} ${content}`]),
  );
  check(
    "legitimacy rule",
    legitimacyRules.map((rule, index) => [
      ["legitimacyRules", index, "name"],
      rule.organization === undefined || rule.organization === null
        ? rule.name
        : `${rule.name} of ${rule.organization}`,
    ]),
  );
  check(
    "report",
    reports.map(({ id }, index) => [["reports", index, "id"], id]),
  );
  check(
    "proposal",
    reports.flatMap(({ proposals }, index) =>
      proposals.map(({ id }, proposal) => [["reports", index, "proposals", proposal, "id"], id] as const),
    ),
  );
  for (const [index, { scans }] of reports.entries())
    check(
      "scan",
      scans.map(({ id }, scan) => [["reports", index, "scans", scan, "id"], id]),
    );
  return problems;
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  // Only a fixture's own form: what else is JSON is YAML too, and told of with its line there.
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function parseYaml(name: string, text: string): unknown {
  const lines = new LineCounter();
  try {
    const document = openDocument(text, lines);
    const problems = [...document.errors, ...document.warnings].map((error) => {
      const { line, col } = lines.linePos(error.pos[0]);
      const message = error.code === "MULTIPLE_DOCS" ? "the file must hold one document" : error.message;
      return `${name}:${line}:${col}: ${message}`;
    });
    if (problems.length > 0) throw invalidFixture(problems);
    return document.toJS({ maxAliasCount: mostAliases }) as unknown;
  } catch (error) {
    if (error instanceof FlatlineError) throw error;
    // Aliases that are unresolved or too many, and nesting that no stack holds, are thrown by the library.
    throw invalidFixture([`${name}: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

function openDocument(text: string, lines: LineCounter): Document.Parsed {
  return parseDocument(text, { version: "1.2", schema: "core", lineCounter: lines, prettyErrors: false });
}

/** Finds `:LINE:COL` of the value at a path or of its key, or of what is around it; "" for a text that is too long to look. */
function createLocator(text: string): (path: Path, part: "value" | "key") => string {
  let tree: { readonly document: Document.Parsed; readonly lines: LineCounter } | null = null;
  return (path, part) => {
    if (text.length > longestYaml) return "";
    if (tree === null) {
      const lines = new LineCounter();
      tree = { document: openDocument(text, lines), lines };
    }
    for (let length = path.length; length >= 0; length--) {
      const step = path.slice(0, length);
      const node: unknown = (part === "key" ? keyAt(tree.document, step) : null) ?? tree.document.getIn(step, true);
      const offset = isNode(node) ? node.range?.[0] : undefined;
      if (offset === undefined) continue;
      const { line, col } = tree.lines.linePos(offset);
      return `:${line}:${col}`;
    }
    return ":1:1";
  };
}

/** The key that names what is at the path; undefined for items of lists and what is not there. */
function keyAt(document: Document.Parsed, path: Path): unknown {
  const parent: unknown = document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  return parent.items.find(({ key }) => isScalar(key) && String(key.value) === path.at(-1))?.key;
}

function formatPath(path: Path): string {
  return path.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : `${text}${text === "" ? "" : "."}${String(step)}`),
    "",
  );
}

function tooLarge(name: string, most: number): FlatlineError {
  return new FlatlineError(
    "too_large",
    `${name} is longer than ${most / 1_048_576} MiB; split it, or state it as JSON`,
  );
}
