import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { makeDaemonFolder, type DaemonFolder } from "../../support/program/daemon.ts";
import { eventually, runProgram } from "../../support/program/program.ts";
import { startSmtpSink, type SmtpSink } from "../../support/far-side/smtp-sink.ts";

const token = "token-of-the-tests";
const headers = { authorization: `Bearer ${token}` };
const good = "good@example.com";
const gone = "gone@example.com";
const grey = "grey@example.com";

let folder: DaemonFolder;
let sink: SmtpSink;

/** One mailbox that is there, one that is not, and one behind a server that takes a mail at the second attempt only. */
function answer(address: string, attempt: number): string {
  if (address === gone) return "550 5.1.1 no such mailbox";
  return address === grey && attempt === 0 ? "450 4.2.0 greylisted" : "250 ok";
}

beforeEach(async () => {
  sink = await startSmtpSink("250 queued", { recipient: answer });
  folder = await makeDaemonFolder();
  await folder.configure(`
source: { type: embedded }
defaults: { schedule: "@yearly" }
organizations: [acme]
alerting: { groupWait: 0s, groupInterval: 0s, fleet: false }
receivers:
  - { name: mail, type: email, url: "${sink.url}", from: flatline@example.com, to: [${good}, "Gone <${gone}>", ${grey}] }
server: { listen: "127.0.0.1:0", token: ${token} }
storage: { path: flatline.db }
`);
});
afterEach(async () => {
  await folder.close();
  await sink.close();
});

describe("mail to three recipients, of whom one is refused and one has to wait", () => {
  /** Starts a daemon and brings an alert to fire; answers where it listens. */
  async function fire(): Promise<string> {
    const url = (await folder.start()).address()?.url ?? "";
    await folder.addDeaths("acme", { lastHour: 90, perDay: 3 });
    await fetch(`${url}/api/v1/checks/dead-asset-spike/acme/run`, { method: "POST", headers });
    return url;
  }

  it("is a delivery for each: one is done, one is retried alone, one is a dead letter", async () => {
    const url = await fire();

    const left = await eventually(async () => {
      const answered = await fetch(`${url}/api/v1/outbox`, { headers });
      const entries = (await answered.json()) as { readonly state: string }[];
      return sink.mails.length === 2 && entries.length === 1 && entries[0]?.state === "dead" ? entries : null;
    });
    const page = await (await fetch(`${url}/receivers`, { headers })).text();
    const metrics = await (await fetch(`${url}/metrics`)).text();

    expect(sink.mails.map(({ to }) => to)).toEqual([[good], [grey]]);
    expect(Object.fromEntries(sink.attempts)).toEqual({ [good]: 1, [gone]: 1, [grey]: 2 });
    expect(left).toMatchObject([
      {
        receiver: "mail",
        recipient: `Gone <${gone}>`,
        attempts: 1,
        lastError: "the server refused the recipient: 550 5.1.1 no such mailbox",
      },
    ]);
    expect(page).toContain(`mail to Gone &#60;${gone}&#62;`);
    expect(metrics).toContain('flatline_notifications_total{receiver="mail",outcome="delivered"} 2');
    expect(metrics).toContain('flatline_notifications_total{receiver="mail",outcome="retried"} 1');
    expect(metrics).toContain('flatline_notifications_total{receiver="mail",outcome="dead_lettered"} 1');
  });

  it("is tried and reported for each by notify test, which fails", async () => {
    const run = await runProgram(["notify", "test", "mail"], { cwd: folder.path });

    expect(run).toMatchObject({ exitCode: 1, stderr: "" });
    expect(run.stdout.split("\n")).toEqual([
      `mail to ${good}: accepted, 250 queued`,
      expect.stringMatching(
        /^mail to Gone <gone@example\.com>: not accepted, the server refused the recipient: 550 5\.1\.1 no such mailbox$/,
      ),
      expect.stringMatching(/^mail to grey@example\.com: not accepted, .*450 4\.2\.0 greylisted$/),
      "",
    ]);
    expect(sink.mails.map(({ to }) => to)).toEqual([[good]]);
  });
});
