import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { startLookWorld, type LookWorld } from "../../../test/support/look/look-world.ts";
import { createSystemClock } from "../../base/time.ts";
import { createProber } from "./prober.ts";

const sources = fileURLToPath(new URL("../../..", import.meta.url));
const nodePath = process.execPath;
const nodeVersion = process.versions.node;

function proberOf(world: LookWorld): AsyncDisposable & ReturnType<typeof createProber> {
  const prober = createProber({
    nodePath,
    nodeVersion,
    settings: world.settings,
    clock: createSystemClock(),
    onFailure: () => undefined,
  });
  return { ...prober, [Symbol.asyncDispose]: () => prober.stop() };
}

describe("the prober", () => {
  it("answers each request, in a process of its own", async () => {
    await using world = await startLookWorld({
      pages: { "a.example": "<title>A</title>", "b.example": "<title>B</title>" },
    });
    await using prober = proberOf(world);

    const results = await Promise.all(
      ["a.example", "b.example", "none.example"].map(async (host) =>
        prober.probe({ urls: [`http://${host}/`], isDnsOnly: false }),
      ),
    );

    expect(results.map(({ answer, title }) => [answer, title])).toStrictEqual([
      ["answers", "A"],
      ["answers", "B"],
      ["gone", null],
    ]);
  });

  it("is undecided of what it was asked when it ends, and starts again", async () => {
    const { promise: isAsked, resolve: note } = Promise.withResolvers<void>();
    await using world = await startLookWorld({ pages: { "slow.example": () => note(), "a.example": "ok" } });
    await using prober = proberOf(world);

    const asked = prober.probe({ urls: ["http://slow.example/"], isDnsOnly: false });
    await isAsked;
    await prober.stop();

    expect(await asked).toMatchObject({ answer: "undecided", reason: "prober" });
    expect(await prober.probe({ urls: ["http://a.example/"], isDnsOnly: false })).toMatchObject({ answer: "answers" });
  });

  it("is undecided where there is no Node.js to start", async () => {
    await using world = await startLookWorld();
    const prober = createProber({
      nodePath: "/none/node",
      nodeVersion,
      settings: world.settings,
      clock: createSystemClock(),
      onFailure: () => undefined,
    });

    expect(await prober.probe({ urls: ["http://a.example/"], isDnsOnly: false })).toMatchObject({
      answer: "undecided",
      reason: "prober",
    });
  });

  it("ends when a line to it is too long or no request, and when the daemon has gone", async () => {
    await using world = await startLookWorld();
    const program = fileURLToPath(new URL("prober-process.ts", import.meta.url));
    const codes = await Promise.all(
      ["x".repeat(40_000), '{"id":1}\n', ""].map(async (line) => {
        const child = spawn(nodePath, ["--permission", `--allow-fs-read=${sources}`, program], {
          env: {},
          stdio: ["pipe", "ignore", "ignore"],
        });
        child.stdin.on("error", () => undefined);
        child.stdin.end(`${JSON.stringify(world.settings)}\n${line}`);
        const [code] = await once(child, "exit");
        return code as number;
      }),
    );

    expect(codes).toStrictEqual([1, 1, 0]);
  });
});
