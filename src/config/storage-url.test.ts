import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Config } from "./config.ts";
import { loadConfig } from "./load.ts";
import { renderConfig } from "./render.ts";

const url = "postgres://flatline:hu%2Fsh@db.example.com:5433/monitoring?sslmode=verify-full";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "flatline-storage-url-"));
  await writeFile(join(folder, "store-url"), `${url}\n`);
});
afterAll(() => rm(folder, { recursive: true }));

async function load(storage: string): Promise<Config> {
  await writeFile(
    join(folder, "flatline.yaml"),
    `source: { type: embedded }\norganizations: [acme]\nstorage: ${storage}\n`,
  );
  return loadConfig({ path: "flatline.yaml", cwd: folder, env: { STORE_URL: url } });
}

describe("storage.url", () => {
  it.each([
    { rule: "itself", storage: `{ url: "${url}" }` },
    { rule: "from the environment", storage: '{ url: "${STORE_URL}" }' },
    { rule: "from the file that urlFile names", storage: "{ urlFile: store-url }" },
  ])("is taken $rule, with ten connections", async ({ storage }) => {
    const config = await load(storage);

    expect(config.storage.url?.reveal()).toBe(url);
    expect(config.storage.poolSize).toBe(10);
  });

  it("is null without one, and the file is the store", async () => {
    expect((await load("{ retention: 30d }")).storage).toMatchObject({ url: null, path: "./data/flatline.db" });
  });

  it("is shown by no rendering, and neither is the file that is not used", async () => {
    const config = await load("{ urlFile: store-url, poolSize: 4 }");

    const shown = renderConfig(config);

    expect(shown).toContain('url: "***"\n  poolSize: 4\n');
    expect(shown).not.toContain("path: ");
    expect(`${shown} ${inspect(config, { depth: 9 })} ${JSON.stringify(config)}`).not.toMatch(/hu(%2F|\/)sh/);
  });

  it.each(["postgresql://flatline@db/flatline", "postgres:///flatline?host=/var/run/postgresql"])(
    "may be %s",
    async (other) => {
      expect((await load(`{ url: "${other}" }`)).storage.url?.reveal()).toBe(other);
    },
  );
});
