import { inspect } from "node:util";

import { beforeEach, describe, expect, it } from "vitest";

import { useConfigFolder } from "../../test/support/config-folder.ts";
import type { Config } from "./config.ts";
import { renderConfig } from "./render.ts";

const url = "postgres://flatline:hu%2Fsh@db.example.com:5433/monitoring?sslmode=verify-full";

const { write, load: loadText } = useConfigFolder();
beforeEach(() => write("store-url", `${url}\n`));

function load(storage: string): Promise<Config> {
  return loadText(`source: { type: embedded }\norganizations: [acme]\nstorage: ${storage}\n`, { STORE_URL: url });
}

describe("storage.url", () => {
  it.each([
    { rule: "itself", storage: `{ url: "${url}" }` },
    { rule: "from the environment", storage: '{ url: "${STORE_URL}" }' },
    { rule: "from a file", storage: '{ url: "${file:store-url}" }' },
  ])("is taken $rule, with ten connections", async ({ storage }) => {
    const config = await load(storage);

    expect(config.storage.url?.reveal()).toBe(url);
    expect(config.storage.poolSize).toBe(10);
  });

  it("is null without one, and the file is the store", async () => {
    expect((await load("{ retention: 30d }")).storage).toMatchObject({ url: null, path: "./data/flatline.db" });
  });

  it("is shown by no rendering, and neither is the file that is not used", async () => {
    const config = await load('{ url: "${file:store-url}", poolSize: 4 }');

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
