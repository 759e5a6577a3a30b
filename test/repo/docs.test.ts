import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { readText } from "./project-files.ts";

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
});
