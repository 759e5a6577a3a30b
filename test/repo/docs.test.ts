import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";
import { parse } from "yaml";

import { checkNames } from "../../src/contract/report.ts";
import { receiverTypes } from "../../src/receivers/receivers.ts";
import { readSourceFiles } from "./source-files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "dashboards/README.md",
  "deploy/README.md",
  "deploy/helm/flatline/README.md",
  ...readdirSync(join(root, "docs")).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
];

/** GitHub's anchors of a page's headings. */
function anchorsOf(path: string): string[] {
  const text = read(path).replaceAll(/```[^]*?```/g, "");
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Returns the rows of tables that have another number of cells than the row before. */
function unevenRows(text: string): string[] {
  const lines = text.replaceAll(/```[^]*?```|`[^`\n]*`|\\\|/g, "").split("\n");
  const cells = lines.map((line) => (line.startsWith("|") ? line.split("|").length : 0));
  return lines.filter((_, at) => cells[at] !== 0 && (cells[at - 1] ?? 0) !== 0 && cells[at] !== cells[at - 1]);
}

describe("the documentation", () => {
  it.each(pages)("%s has tables of even rows", (page) => {
    expect(unevenRows(read(page))).toEqual([]);
  });

  it("would have an uneven row in a table of two and three cells", () => {
    expect(unevenRows("| a | b |\n| - | - |\n| 1 | `|` |\n| 1 | 2 | 3 |")).toEqual(["| 1 | 2 | 3 |"]);
  });

  it("shows the path of a check with files that there are", () => {
    const [, steps = ""] = read("docs/architecture.md").split(/^## The path of one check$|^## Rooms$/m);
    const paths = [...steps.matchAll(/`([\w-]+\/[\w/-]*)`/g)].map(([, path = ""]) => path);

    expect(paths.length).toBeGreaterThan(10);
    expect(
      paths.filter((path) => !existsSync(join(root, "src", path)) && !existsSync(join(root, "src", `${path}.ts`))),
    ).toEqual([]);
  });

  it.each(pages)("%s links to what there is", (page) => {
    const text = read(page).replaceAll(/```[^]*?```|`[^`\n]*`/g, "");
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);

    const broken = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : relative(root, join(root, dirname(page), path));
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it("is all within reach of the README", () => {
    const readme = read("README.md");

    const unlinked = pages.filter((page) => page.startsWith("docs/") && !readme.includes(`](${page})`));
    expect(unlinked).toEqual([]);
    expect(readme).toMatch(/\]\(CONTRIBUTING\.md\)[^]*\]\(SECURITY\.md\)/);
  });

  it("mentions only files of the project that there are", () => {
    const mentioned = pages
      .filter((page) => page === "CONTRIBUTING.md")
      .flatMap((page) => read(page).match(/`(?:src|test|docs|dashboards)\/[\w./-]+`/g) ?? [])
      .map((path) => path.slice(1, -1));

    expect(mentioned.length).toBeGreaterThan(8);
    expect(mentioned.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe("the recipes of CONTRIBUTING.md", () => {
  const text = read("CONTRIBUTING.md");
  const recipe = (title: string): string => new RegExp(`## ${title}\n([^]*?)\n## `).exec(text)?.[1] ?? "";
  const sources = readSourceFiles("src").filter(({ path }) => !path.endsWith(".test.ts"));
  const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" })
    .split("\n")
    .filter((path) => /\.(?:json|md|ts|txt|ya?ml)$/.test(path));
  /** Returns the files that have all names, one after the other: another name makes them wrong. */
  const filesWithAll = (names: readonly string[]): string[] =>
    tracked.filter((path) =>
      read(path)
        .replaceAll(/[^\w-]+/g, " ")
        .includes(names.join(" ")),
    );

  it("Adding a receiver: has the only file outside of its folder that names msteams", () => {
    const naming = sources.filter(({ path, text: code }) => !path.includes("/msteams/") && /\bmsteams\b/.test(code));

    expect(naming.map(({ path }) => path)).toEqual(["src/receivers/receivers.ts"]);
    expect(recipe("Adding a receiver")).toContain("`src/receivers/receivers.ts`");
  });

  it("Adding a receiver: has the only files besides code and tests that name msteams", () => {
    const naming = tracked
      .filter((path) => !/^(?:src|test)\//.test(path) && /`msteams`|"msteams"|type: msteams/.test(read(path)))
      .filter((path) => path !== "CONTRIBUTING.md");

    expect(naming).toEqual([
      "deploy/helm/flatline/values.schema.json",
      "docs/configuration.md",
      "docs/contract.md",
      "flatline.schema.json",
    ]);
    for (const path of naming) expect(recipe("Adding a receiver")).toContain(`\`${path}\``);
  });

  it("Adding a receiver: changes no file that lists all types", () => {
    expect(filesWithAll(receiverTypes)).toEqual([]);
  });

  it.each(receiverTypes)("Adding a receiver: has goldens of %s", (type) => {
    const goldens = readdirSync(join(root, "src/receivers/goldens")).filter((name) => name.startsWith(`${type}.`));

    expect(goldens.length).toBeGreaterThan(20);
  });

  it("Adding a check: has the only files outside of its folder that name event-flow", () => {
    const naming = sources
      .filter(({ path, text: code }) => !path.includes("/event-flow/") && code.includes('"event-flow"'))
      .map(({ path }) => path);

    expect(naming).toEqual(["src/checks/checks.ts", "src/contract/report.ts", "src/receivers/sample-notifications.ts"]);
    for (const path of naming) expect(recipe("Adding a check")).toContain(`\`${path}\``);
  });

  it("Adding a check: has the only files that list all checks", () => {
    const lists = filesWithAll(checkNames);

    expect(lists).toEqual([
      "docs/configuration.md",
      "docs/contract.md",
      "docs/glossary.md",
      "flatline.schema.json",
      "src/contract/report.ts",
    ]);
    for (const path of lists) expect(recipe("Adding a check")).toContain(`\`${path}\``);
  });

  it("Adding a check: needs no change of the configuration", () => {
    const naming = sources.filter(
      ({ path, text: code }) => path.startsWith("src/config/") && /\b(reviewQueue|eventFlow)\b/.test(code),
    );

    expect(naming.map(({ path }) => path)).toEqual([]);
  });
});

describe("docs/troubleshooting.md", () => {
  const titles = [...read("docs/troubleshooting.md").matchAll(/^### `([^`]+)`$/gm)].map(([, title = ""]) => title);
  const source = `${readSourceFiles("src")
    .filter(({ path }) => !path.endsWith(".test.ts"))
    .map(({ text }) => text)
    .join("\n")}\n${read("bin/flatline.js")}`;
  /** What Node.js, or the service of a receiver says; there is no source of ours for it. */
  const foreign = new Set([
    "self-signed certificate in certificate chain",
    "HTTP 404: no_service",
    "HTTP 400: invalid_payload",
  ]);

  it("is by messages", () => {
    expect(titles.length).toBeGreaterThan(25);
  });

  it.each(titles.filter((title) => !foreign.has(title)))("explains a message that there is: %s", (title) => {
    const parts = title
      .split("…")
      .map((part) => part.trim())
      .filter((part) => part.length > 3);

    expect(parts.length).toBeGreaterThan(0);
    expect(parts.filter((part) => !source.includes(part))).toEqual([]);
  });
});

describe("CI", () => {
  const triesAgain = (text: string): boolean => /--retry\b|\bretry: [1-9{]/.test(text);

  it("tries no failed test again", () => {
    const tests = [...readSourceFiles("src"), ...readSourceFiles("test")].filter(({ path }) =>
      path.endsWith(".test.ts"),
    );
    const others = [".ci/run", "vitest.config.ts", "package.json"].map((path) => ({ path, text: read(path) }));
    const own = relative(root, fileURLToPath(import.meta.url));

    const trying = [...tests, ...others].filter(({ path, text }) => !path.endsWith(own) && triesAgain(text));
    expect(trying.map(({ path }) => path)).toEqual([]);
    expect(tests.length).toBeGreaterThan(100);
  });

  it.each(["npm test -- --retry=2", "{ timeout: 100, retry: 1 }"])("would be seen to: %s", (text) => {
    expect(triesAgain(text)).toBe(true);
  });
});

describe(".github", () => {
  it("has a workflow that runs .ci/run and nothing else", () => {
    const { jobs } = parse(read(".github/workflows/ci.yml")) as {
      readonly jobs: Readonly<Record<string, { readonly steps: readonly { readonly run?: string }[] }>>;
    };

    expect(Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))).toEqual([".ci/run"]);
  });

  it.each(["bug.yml", "idea.yml"])("has a form that GitHub accepts: %s", (name) => {
    const form = parse(read(`.github/ISSUE_TEMPLATE/${name}`)) as {
      readonly name: string;
      readonly description: string;
      readonly body: readonly { readonly type: string; readonly id?: string; readonly attributes: object }[];
    };
    const ids = form.body.flatMap(({ id }) => id ?? []);

    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    expect(new Set(ids).size).toBe(ids.length);
    expect(form.body.filter(({ type }) => !["markdown", "textarea", "input"].includes(type))).toEqual([]);
    expect(form.body.filter(({ type, attributes }) => type !== "markdown" && !("label" in attributes))).toEqual([]);
  });
});
