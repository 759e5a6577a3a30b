import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { afterEach, describe, expect, it } from "vitest";

import { debianTool } from "../../support/debian-tool.ts";
import { freePort } from "../../support/free-port.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { eventually } from "../../support/program/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const script = debianTool("script", "bsdutils");

let folder: ProgramFolder | null = null;

afterEach(() => folder?.[Symbol.asyncDispose]());

const configuration = (port: number): string => `
source: { type: embedded, preload: [{ events: ${root}examples/events.csv.gz, rebase: true }] }
organizations: [ads-hosts, adware-hosts, risk-hosts, tracker-hosts]
alerting: { groupWait: 0s }
receivers: [{ name: console, type: log }]
server: { listen: "127.0.0.1:${port}" }
storage: { path: flatline.db }
`;

interface Screen {
  /** Lines as a terminal of 100 columns got them. */
  lines(): string[];
  type(keys: string): void;
  /** Closes the terminal under the program. */
  close(): void;
  /** The exit code. */
  ended: Promise<number | null>;
}

/** `flatline run` on a terminal of its own (util-linux' script). */
async function runOnTerminal(args = "", env: Readonly<Record<string, string>> = {}): Promise<Screen> {
  folder = await makeProgramFolder(configuration(await freePort()));
  const command = `stty cols 100; exec '${process.execPath}' '${root}bin/flatline.js' run ${args}`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd: folder.path,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", ...env },
  });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  return {
    lines: () => shown.split("\r\n").slice(0, -1),
    type: (keys) => void child.stdin.write(keys),
    close: () => void child.kill("SIGKILL"),
    ended: new Promise((resolve) => child.on("close", resolve)),
  };
}

const escape = "\u001b";
const untilRound = (screen: Screen) =>
  eventually(() =>
    ["FAIL +ads-hosts", "WARN +adware-hosts"].every((row) => new RegExp(row).test(screen.lines().join("\n"))),
  );

describe.skipIf(script.isMissing)(`flatline run on a terminal${script.note}`, () => {
  it("stops when the terminal is closed", async () => {
    const screen = await runOnTerminal("", { NO_COLOR: "1" });
    await untilRound(screen);
    const [, url = ""] = /(http:\S+)/.exec(screen.lines()[0] ?? "") ?? [];
    expect(await fetch(`${url}/-/healthy`)).toMatchObject({ status: 200 });

    screen.close();

    await eventually(() =>
      fetch(`${url}/-/healthy`).then(
        () => false,
        () => true,
      ),
    );
  });

  it("writes for people: where it is and how to stop it first, then a line for each change", async () => {
    const screen = await runOnTerminal("", { NO_COLOR: "1" });

    await untilRound(screen);
    await eventually(() => screen.lines().some((line) => line.includes("console: firing")));
    screen.type("\u0003");
    expect(await screen.ended).toBe(0);
    const lines = screen.lines();
    expect(lines[0]).toMatch(/^flatline \d\S+ {2}http:\/\/127\.0\.0\.1:\d+ {2}4 organizations {2}Ctrl-C stops$/);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^\d\d:\d\d:\d\d FAIL +ads-hosts +5,119 deaths, 11\.1 expected \(459×\)$/),
        expect.stringMatching(/^\d\d:\d\d:\d\d WARN +adware-hosts +96 deaths, 30\.4 expected \(3\.2×\)$/),
        expect.stringMatching(/^\d\d:\d\d:\d\d FAIL +ads-hosts +console: firing, 5,119 deaths/),
      ]),
    );
    expect(lines.filter((line) => /tracker-hosts|[{}]/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    expect(lines.at(-1)).toMatch(/ stopped$/);
    expect(lines.join("\n")).not.toContain(escape);
  });
});
