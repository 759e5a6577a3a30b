// Writes what the program determines: flatline.schema.json, docs/openapi.json, and the marked parts of docs/*.md.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { format, resolveConfig } from "prettier";

import { reasonMeanings } from "../src/alerting/decide/reasons.ts";
import { createJsonSchema, renderJsonSchema } from "../src/config/schema/json-schema.ts";
import { openApiDocument } from "../src/service/api/openapi.ts";
import { runCli } from "../test/support/program/cli-run.ts";
import { commandPaths } from "../test/support/program/command-paths.ts";
import { renderReference } from "./docs/configuration-reference.ts";
import { renderMetrics } from "./docs/metrics.ts";
import { renderRoutes } from "./docs/routes.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const marks = /(<!-- generated: begin -->)[^]*?(<!-- generated: end -->)/;

/** What stands between the marks of each page that has them. */
async function renderParts(scratch: string): Promise<Readonly<Record<string, string>>> {
  return {
    commands: await renderCommands(scratch),
    configuration: renderReference(createJsonSchema()),
    http: await renderRoutes(scratch),
    metrics: renderMetrics(),
    notifications: Object.entries(reasonMeanings)
      .map(([reason, meaning]) => `- \`${reason}\`: ${meaning}`)
      .join("\n"),
  };
}

// The page says before the reference what these are.
const shared =
  /^ {2}(?:-[Vh], .*|-c, .* configuration file|--url .*|--token-file .*|--by .*who acts .*)\n(?: {4,}.*\n)*/gm;

/** The help of every command, in the order of `--help`, without the options that most commands have. */
async function renderCommands(cwd: string): Promise<string> {
  const helpOf = async (path: readonly string[]): Promise<string> =>
    (await runCli([...path, "--help"], { cwd })).stdout;
  const blocks = (await commandPaths(helpOf)).map(async (path) => {
    const shown = (await helpOf(path))
      .replaceAll(shared, "")
      .replaceAll(/^Options:\n\n/gm, "")
      .trimEnd();
    return `${path.length === 0 ? "" : `### flatline ${path.join(" ")}\n\n`}\`\`\`text\n${shown}\n\`\`\``;
  });
  return (await Promise.all(blocks)).join("\n\n");
}

const scratch = mkdtempSync(join(tmpdir(), "flatline-docs-"));
try {
  for (const [name, part] of Object.entries(await renderParts(scratch))) {
    const path = join(root, `docs/${name}.md`);
    const page = readFileSync(path, "utf8");
    if (!marks.test(page))
      throw new Error(`${path} needs the marks <!-- generated: begin --> and <!-- generated: end -->`);
    const fresh = page.replace(marks, (_, begin, end) => `${begin}\n\n${part}\n\n${end}`);
    writeFileSync(path, await format(fresh, { ...(await resolveConfig(path)), parser: "markdown" }));
  }
  writeFileSync(join(root, "flatline.schema.json"), renderJsonSchema());
  writeFileSync(join(root, "docs/openapi.json"), `${JSON.stringify(openApiDocument(), null, 2)}\n`);
} finally {
  rmSync(scratch, { recursive: true });
}
