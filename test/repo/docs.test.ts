import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { importTable } from "../../oxlint.config.ts";
import { readFiles, readText } from "./project-files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
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
const files = ["src", "test", "scripts", "bench"].flatMap((folder) => readFiles(folder));

/** GitHub's anchors of a page's headings. */
function anchorsOf(path: string): string[] {
  const text = readText(path).replaceAll(/```[^]*?```/g, "");
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Paths below src that a text names (`src/web/web.ts`, `store/tables`, `alerting/`) and that do not exist. */
function missingPaths(text: string): string[] {
  const named = new RegExp(`(?<![\\w./-])(?:src/)?(?:${Object.keys(importTable).join("|")})/[\\w./-]*`, "g");
  return [...text.matchAll(named)].flatMap(([match]) => {
    const name = match.replace(/[./]+$/, "");
    const path = join(root, name.startsWith("src/") ? name : `src/${name}`);
    return existsSync(path) || existsSync(`${path}.ts`) ? [] : [name];
  });
}

describe("the documentation", () => {
  it.each(pages)("%s links to files and headings that exist", (page) => {
    const text = readText(page).replaceAll(/```[^]*?```|`[^`\n]*`/g, "");
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

  it("is all within reach of its index, and that of the README", () => {
    const index = readText("docs/README.md");

    expect(readText("README.md")).toContain("](docs/README.md)");
    const others = pages.filter((page) => page.startsWith("docs/") && page !== "docs/README.md");
    expect(others.filter((page) => !index.includes(`](${page.slice("docs/".length)})`))).toEqual([]);
  });

  it.each(pages)("%s names files that exist", (page) => {
    const mentioned = [...readText(page).matchAll(/`((?:src|test|docs|dashboards)\/[\w./-]+)`/g)].map(
      ([, path = ""]) => path,
    );

    expect(missingPaths(readText(page))).toEqual([]);
    expect(mentioned.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe("comments", () => {
  const comments = files.map(({ path, text }) => ({
    path,
    text: text
      .split("\n")
      .flatMap((line) => /(?:^|\s)(?:\/\/|\/?\*)(.*)$/.exec(line)?.[1] ?? [])
      .join("\n"),
  }));

  it("name files that exist", () => {
    expect(missingPaths("See src/store/gone.ts.")).toHaveLength(1);
    expect(comments.flatMap(({ path, text }) => missingPaths(text).map((name) => `${path}: ${name}`))).toEqual([]);
  });

  it("cite promises that docs/reliability.md has", () => {
    const sections = new Set(
      [...readText("docs/reliability.md").matchAll(/^(\d+)\. \*\*/gm)].map(([, number]) => number),
    );
    const cited = comments.flatMap(({ path, text }) =>
      [...text.matchAll(/CONTRACT (\d+(?:(?:, | and | to )\d+)*)/g)].flatMap(([, list = ""]) =>
        list.split(/\D+/).map((section) => ({ path, section })),
      ),
    );

    expect(cited.length).toBeGreaterThan(50);
    expect(cited.filter(({ section }) => !sections.has(section))).toEqual([]);
  });
});

describe("the troubleshooting of docs/runbooks.md", () => {
  const titles = [...readText("docs/runbooks.md").matchAll(/\*\*`([^`]+)`\*\*/g)].map(([, title = ""]) => title);
  const source = [...readFiles("src", { tests: false }).map(({ text }) => text), readText("bin/flatline.js")].join(
    "\n",
  );
  // What Node.js, PostgreSQL or the service of a receiver says: no source of ours has it.
  const foreign = [
    "self-signed certificate in certificate chain",
    "password authentication failed",
    "HTTP 404: no_service",
    "HTTP 400: invalid_payload",
  ];

  it("explains messages that flatline prints", () => {
    const parts = titles
      .filter((title) => !foreign.includes(title))
      .flatMap((title) => title.split("…").map((part) => part.trim()))
      .filter((part) => part.length > 3);

    expect(parts.length).toBeGreaterThan(25);
    expect(parts.filter((part) => !source.includes(part))).toEqual([]);
  });
});
