import { readFileSync } from "node:fs";

// What scripts/build.js made: as seen from dist/program, and from the sources, which take what was built last.
const folders = ["../web/assets/", "../../../dist/web/assets/"].map((path) => new URL(path, import.meta.url));

/** The names of the style and the script of all pages: each has a part that changes with what it says. */
export interface SiteAssets {
  readonly style: string;
  readonly script: string;
}

let known: SiteAssets | null = null;

/** Returns them, read once. */
export function siteAssets(): SiteAssets {
  known ??= readManifest();
  return known;
}

function readManifest(): SiteAssets {
  for (const folder of folders) {
    try {
      return JSON.parse(readFileSync(new URL("site.json", folder), "utf8")) as SiteAssets;
    } catch {
      continue;
    }
  }
  return { style: "site.css", script: "site.js" };
}
