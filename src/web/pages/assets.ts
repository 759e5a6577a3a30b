import { readBuilt } from "../assets.ts";

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
  const manifest = readBuilt("assets/site.json");
  return manifest === null ? { style: "site.css", script: "site.js" } : (JSON.parse(manifest.toString()) as SiteAssets);
}
