import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(`${root}/docs/http.md`, "utf8");

/** Routes of src/web as `METHOD /path`, with who may ask them, as the calls of addRoute and addPage name them. */
const routes = readdirSync(`${root}/src/web`, { recursive: true, encoding: "utf8" }).flatMap((name) => {
  if (!name.endsWith(".ts") || name.endsWith(".test.ts")) return [];
  const text = readFileSync(`${root}/src/web/${name}`, "utf8");
  const pages = [...text.matchAll(/\baddPage\(\s*\w+,\s*"(\/[^"]*)",\s*"(\w+)"/g)].map(
    ([, path = "", access = ""]) => ({
      route: `GET ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
      access,
    }),
  );
  const calls = text.matchAll(/\baddRoute\(\s*\w+,\s*"(\w+ \/[^"]*)",\s*\{\s*access: "(\w+)"/g);
  const others = [...calls].map(([, path = "", access = ""]) => ({
    route: path.replaceAll(/:(\w+)/g, "{$1}"),
    access,
  }));
  return [...pages, ...others];
});

describe("docs/http.md", () => {
  it("finds the routes that it is held to", () => {
    expect(routes.length).toBeGreaterThan(25);
  });

  it.each(routes)("has $route, for $access", ({ route, access }) => {
    const asked = page.split("\n").flatMap((line) => {
      const [, names = "", asks = ""] = /^- (.*?) \(([^)]*)\): /.exec(line) ?? [];
      return names.includes(`\`${route}\``) ? [asks] : [];
    });

    expect(asked).toEqual([access]);
  });
});
