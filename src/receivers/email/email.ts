import { hostname as machineName } from "node:os";
import { PassThrough } from "node:stream";

import type { SMTPError } from "nodemailer/lib/smtp-connection/index.js";
import { z } from "zod";

import { FlatlineError, systemCodeOf } from "../../base/errors.ts";
import { describeNetworkError } from "../../base/http.ts";
import { isLoopbackHost } from "../../base/url.ts";
import { secret } from "../../base/schema/secret-rules.ts";
import { checkHttpUrl } from "../../base/schema/values.ts";
import type { Secret } from "../../base/secret.ts";
import type { Notification } from "../../alerting/notify/notification.ts";
import type { DeliveryOutcome, Receiver } from "../../alerting/deliver/receiver.ts";
import { actLinks, linkSecrets } from "../chat-receiver.ts";
import { addressSecrets, failureOutcome, shown } from "../delivery.ts";
import { fitMessage, listLines, severityMarks } from "../fit.ts";
import type { Delivering, OptionsOf, ReceiverDeps, ReceiverKind } from "../kind.ts";
import { messageOf, type Wording } from "../../words/message.ts";

// Limits connecting and the greeting, beside the receiver's own deadline.
const longestWaitMs = 60_000;
// RFC 5321, 4.5.3.2.6: a server may take as long to answer a mail; a shorter timeout sends it twice.
const answerMs = 600_000;

const mailAddress = z
  .string()
  .refine(
    (text) => /^[^\p{Cc}]*[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text),
    'must be an address such as "ops@example.com" or "Ops <ops@example.com>"',
  )
  // Editors use patterns without the flag that \p needs.
  .meta({ pattern: String.raw`^.*[^\s@]+@[^\s@]+$` });

const shape = {
  url: secret(checkMailUrl).describe(
    "The server, with user and password: `smtps://user:password@mail.example.com`, or `smtp://`, " +
      "which is encrypted by STARTTLS or not sent, unless the host is this machine or the URL ends in `?tls=no`. " +
      "A secret.",
  ),
  from: mailAddress.describe("Who it is from."),
  to: z
    .array(mailAddress)
    .min(1)
    .max(100)
    .describe("The recipients. Each of them gets a mail of its own, which is retried, and given up, alone."),
  hello: z
    .string()
    .regex(/^(?:[\w.-]{1,253}|\[[\w:.]+\])$/, 'must be a host name such as "flatline.example.com"')
    .optional()
    .describe(
      "The name by which it greets the server (EHLO). When absent this machine's where it has a dot, " +
        "else the domain of `from`: some relays refuse who has none.",
    ),
};

export const emailKind = {
  summary: "Mail over SMTP.",
  shape,
  hasLinks: true,
  recipients: recipientsOf,
  create: createEmailReceiver,
} as const satisfies ReceiverKind;

function checkMailUrl(value: string): string | null {
  const problem = checkHttpUrl(value, ["smtp:", "smtps:"]);
  if (problem !== null) return problem;
  const { protocol, searchParams } = new URL(value);
  // Refuses options of the mail library: some switch encryption off.
  const stranger = [...searchParams.keys()].find((key) => key !== "tls");
  if (stranger !== undefined) return `has ?${stranger}=, and ?tls=no is the only option that it may have`;
  const tls = searchParams.get("tls");
  if (tls === null) return null;
  if (tls !== "no") return 'has ?tls= with a value other than "no"';
  return protocol === "smtps:" ? "is smtps://, which is always encrypted: ?tls=no goes with smtp:// only" : null;
}

/** A container's name has no dot, and some relays refuse a name without a domain (RFC 5321, 4.1.1.1). */
function ownName(from: string): string {
  const own = machineName();
  const domain = URL.parse(`http://${from.replace(/^.*@/, "").replace(/>\s*$/, "")}`)?.hostname ?? "";
  return own.includes(".") || domain === "" ? own : domain;
}

type EmailOptions = OptionsOf<"email", typeof shape>;

function recipientsOf({ to }: EmailOptions): string[] {
  return [...new Set(to)];
}

/** Sends mail over SMTP, one recipient per delivery. */
export function createEmailReceiver(options: EmailOptions, deps: Pick<ReceiverDeps, "signLink"> = {}): Delivering {
  const { from, url, hello } = options;
  const recipients = recipientsOf(options);
  const address = url.reveal();
  return {
    recipients,
    answerMs,
    deliver: async (notification, context) => {
      const acts = actLinks(notification, deps.signLink, context.nowMs);
      const secrets = [...addressSecrets(url), ...linkSecrets(acts)];
      // Loaded on first use: most configurations send no mail.
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({
        ...serverOf(new URL(address)),
        name: hello ?? ownName(from),
        connectionTimeout: longestWaitMs,
        greetingTimeout: longestWaitMs,
        socketTimeout: longestWaitMs + answerMs,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      let isSent = false;
      // The end of the stream: the whole mail and its final dot are being sent.
      transport.use("stream", (mail, done) => {
        mail.message.transform(() => new PassThrough().once("end", () => (isSent = true)));
        done();
      });
      try {
        // A mail names all recipients but goes to one: a server could refuse one of several for all, or for none.
        const people = { from, to: recipients, envelope: { from, to: notification.recipient ?? [] } };
        const date = new Date(context.nowMs);
        const headers = { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" };
        const sent = transport.sendMail({ ...mailOf(notification, { acts }), ...people, date, headers });
        const info = await orAborted(sent, context, () => isSent);
        return { kind: "accepted", detail: shown(info.response, secrets) };
      } catch (error) {
        return smtpOutcome(error, secrets);
      } finally {
        transport.close();
      }
    },
  };
}

/** Reads only these parts of the URL: the mail library would also take its own options from it. */
function serverOf({ protocol, hostname, port, username, password, searchParams }: URL) {
  const host = URL.parse(`http://${decodeURIComponent(hostname)}`)?.hostname ?? hostname;
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const secure = protocol === "smtps:";
  const ignoreTLS = searchParams.get("tls") === "no";
  return {
    host: host.replace(/^\[(.*)\]$/, "$1"),
    ...(port === "" ? {} : { port: Number(port) }),
    ...(username === "" && password === "" ? {} : { auth }),
    secure,
    ignoreTLS,
    // A machine in between could remove an optional STARTTLS and read all.
    requireTLS: !secure && !ignoreTLS && !isLoopbackHost(hostname),
  };
}

const notEncrypted =
  "the mail server offers no encryption that works (STARTTLS): " +
  "begin the url with smtps, or end it with ?tls=no where none is wanted";

/** 4xx of SMTP and network errors are retried, 5xx are not. */
function smtpOutcome(error: unknown, secrets: readonly Secret[]): DeliveryOutcome {
  const { responseCode, command, response } = error as Partial<SMTPError>;
  // nodemailer's message speaks of all recipients, but there is one.
  const isRefused = command === "RCPT TO" && response !== undefined;
  const message = isRefused ? `the server refused the recipient: ${response}` : describeNetworkError(error);
  // A missing STARTTLS is retried even after a 5xx: a repair may bring it back, or an attacker may go away.
  const isPlain = error instanceof Error && systemCodeOf(error) === "ETLS";
  const code = !isPlain && (responseCode ?? 0) >= 500 ? "api_bad_request" : "api_network";
  const said = isPlain ? `${notEncrypted}: ${message}` : message;
  return failureOutcome(new FlatlineError(code, said, { cause: error }), secrets);
}

/** Returns subject, text and thread; mails of one incident are one thread. nodemailer encodes headers. */
export function mailOf(notification: Notification, wording?: Wording) {
  const { incident, alerts } = notification;
  const thread = incident?.id ?? alerts[0]?.id;
  return fitMessage(messageOf(notification, wording), ({ severity, title, text, links, facts, lists }) => {
    // Mail programs show the subject, then the beginning of the text.
    const paragraphs = [
      text,
      links.map(({ label, url }) => `${label}: ${url}`).join("\n"),
      facts.map((fact) => `${fact.label}: ${fact.text}`).join("\n"),
      ...lists.map((list) => listLines(list, "-")),
    ];
    return {
      subject: `${severityMarks[severity]} ${title}`,
      text: `${paragraphs.filter((paragraph) => paragraph !== "").join("\n\n")}\n`,
      messageId: messageId(notification.id),
      references: thread === undefined ? [] : [messageId(thread)],
    };
  });
}

/** The same for retries, so that a mailbox recognizes a mail that it has. */
function messageId(id: string): string {
  return `<${id.replaceAll(/[^\w.-]/g, "-")}@flatline.invalid>`;
}

/** Waits until the timeout, or until `answerSignal` aborts if the whole mail was sent. Both end with the attempt. */
function orAborted<Result>(
  work: Promise<Result>,
  { signal, answerSignal = signal }: Pick<Parameters<Receiver["deliver"]>[1], "signal" | "answerSignal">,
  isSent: () => boolean,
): Promise<Result> {
  const aborted = new Promise<never>((_resolve, reject) => {
    const stop = (): void => {
      // A stop of flatline aborts both signals.
      if (isSent() && !answerSignal.aborted) return;
      reject(new FlatlineError("api_timeout", "no complete answer in time", { cause: signal.reason }));
    };
    if (signal.aborted) stop();
    for (const one of [signal, answerSignal]) one.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, aborted]);
}
