import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach } from "vitest";

import type { Config } from "../../src/config/config.ts";
import type { Environment } from "../../src/config/document/interpolation.ts";
import { loadConfig } from "../../src/config/load.ts";

/** A folder for the files of a configuration, a new one for each test. */
export interface ConfigFolder {
  readonly folder: () => string;
  readonly write: (file: string, text: string) => Promise<void>;
  /** Writes flatline.yaml and loads it. */
  readonly load: (text: string, env?: Environment) => Promise<Config>;
  /** Returns what is wrong with such a flatline.yaml, a line each. */
  readonly problemsOf: (text: string, env?: Environment) => Promise<string[]>;
}

/** Makes the folder before each test of the file and removes it after. */
export function useConfigFolder(): ConfigFolder {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "flatline-config-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function write(file: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  async function load(text: string, env: Environment = {}): Promise<Config> {
    await write("flatline.yaml", text);
    return loadConfig({ path: "flatline.yaml", cwd: folder, env });
  }
  async function problemsOf(text: string, env: Environment = {}): Promise<string[]> {
    const error: unknown = await load(text, env).catch((error: unknown) => error);
    if (!(error instanceof Error)) throw new Error("the configuration is right");
    return error.message.split("\n").slice(1);
  }
  return { folder: () => folder, write, load, problemsOf };
}

export function organizationOf(config: Config, slug: string): Config["organizations"][number] {
  const found = config.organizations.find((candidate) => candidate.slug === slug);
  if (found === undefined) throw new Error(`no organization ${slug}`);
  return found;
}
