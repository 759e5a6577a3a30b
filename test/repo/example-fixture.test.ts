import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";
import { parse } from "yaml";

import { importFixtures } from "../../src/service/fixture/fixture.ts";
import { engineNamed } from "../support/store/engines.ts";
import { createVirtualClock } from "../support/virtual-clock.ts";

const text = readFileSync(new URL("../../examples/fixture.yaml", import.meta.url), "utf8");
const config = parse(readFileSync(new URL("../../config.example.yaml", import.meta.url), "utf8")) as {
  readonly organizations: readonly string[];
  readonly server: { readonly listen: string };
};

describe("examples/fixture.yaml", () => {
  it("is about organizations of the example's configuration, which listens on this machine only", async () => {
    const clock = createVirtualClock({ startMs: Date.UTC(2026, 10, 20) });
    const { store, close } = await engineNamed("SQLite").openTemporary(clock);
    await importFixtures({ store, clock, files: [{ name: "examples/fixture.yaml", text }] });
    const slugs = await store.platform.organizations.slugs();
    await close();

    expect(slugs).toHaveLength(2);
    expect(config.organizations).toEqual(expect.arrayContaining([...slugs]));
    expect(config.server.listen).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it("names only hosts that nobody can own", () => {
    const hosts = [...text.matchAll(/(?:https?:\/\/|@)([\w.-]+\.[a-z]+)/g)].map((match) => match[1] ?? "");

    expect(hosts.length).toBeGreaterThan(25);
    expect(hosts.filter((host) => !host.endsWith(".example"))).toEqual([]);
  });
});
