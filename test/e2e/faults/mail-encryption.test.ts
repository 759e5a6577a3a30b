import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { startSmtpSink, type SmtpSink } from "../../support/far-side/smtp-sink.ts";
import { makeProgramFolder, type ProgramFolder } from "../../support/program/program-folder.ts";
import { runProgram } from "../../support/program/program.ts";

// Made by openssl for 0.0.0.0, which Linux takes for this machine and which is no loopback address by name.
const certificate = fileURLToPath(new URL("../../fixtures/tls/cert.pem", import.meta.url));
const tls = {
  key: readFileSync(new URL("../../fixtures/tls/key.pem", import.meta.url), "utf8"),
  cert: readFileSync(certificate, "utf8"),
};

let sink: SmtpSink;
let folder: ProgramFolder;

beforeEach(async () => {
  sink = await startSmtpSink("250 queued", { tls });
  const { port } = new URL(sink.url);
  folder = await makeProgramFolder(`
source: { type: embedded }
organizations: [acme]
receivers:
  - { name: mail, type: email, url: "smtp://ops:pass-word-1@0.0.0.0:${port}", from: flatline@example.com, to: [ops@example.com] }
`);
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
  await sink.close();
});

describe("mail to a server that offers STARTTLS", () => {
  it("is encrypted before the password and the mail are sent", async () => {
    const { exitCode, stderr } = await runProgram(["notify", "test", "mail"], {
      cwd: folder.path,
      env: { NODE_EXTRA_CA_CERTS: certificate },
    });

    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(sink.mails).toMatchObject([{ from: "flatline@example.com", to: ["ops@example.com"] }]);
    expect(sink.encryptedCommands.map((line) => line.split(" ")[0])).toEqual(
      expect.arrayContaining(["EHLO", "AUTH", "MAIL", "RCPT", "DATA"]),
    );
    const plain = sink.commands.slice(0, sink.commands.length - sink.encryptedCommands.length);
    expect(plain.map((line) => line.split(" ")[0])).toEqual(["EHLO", "STARTTLS"]);
  });

  it("is not sent when the certificate is not trusted", async () => {
    const { exitCode, stdout } = await runProgram(["notify", "test", "mail"], { cwd: folder.path });

    expect(exitCode).not.toBe(0);
    expect(stdout).toMatch(/certificate/);
    expect(sink.mails).toEqual([]);
    expect(sink.commands.some((line) => line.startsWith("AUTH"))).toBe(false);
  });
});
