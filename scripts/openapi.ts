// Writes docs/openapi.json, the description of API v2 as flatline serves it: node scripts/openapi.ts
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { openApiDocument } from "../src/service/api/openapi.ts";

export const openApiFile = fileURLToPath(new URL("../docs/openapi.json", import.meta.url));

/** What the file says when it is fresh. */
export function renderOpenApi(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(openApiFile, renderOpenApi());
