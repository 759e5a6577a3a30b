import { createServer, type AddressInfo, type Socket } from "node:net";
import { TLSSocket } from "node:tls";

/** A mail as an SMTP server got it. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body. */
  readonly data: string;
}

/** As much of an SMTP server (RFC 5321, RFC 3207) on 127.0.0.1 as a client needs. */
export interface SmtpSink {
  readonly url: string;
  readonly mails: ReceivedMail[];
  /** Lines that it was sent outside of mails. */
  readonly commands: string[];
  /** Lines of them that came encrypted. */
  readonly encryptedCommands: string[];
  /** How often each address was named as a recipient, accepted or not. */
  readonly attempts: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export interface SmtpSinkOptions {
  /** Answers RCPT TO, the attempts of one address counted from 0 [`250 ok`]. */
  readonly recipient?: (address: string, attempt: number) => string;
  /** The whole mail is answered then [at once]. */
  readonly answerAfter?: Promise<unknown>;
  /** Offers STARTTLS, and accepts every password once the connection is encrypted [no]. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** `reply` answers the whole mail, e.g. `250 queued`; null: never. */
export async function startSmtpSink(reply: string | null, options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const mails: ReceivedMail[] = [];
  const commands: string[] = [];
  const encryptedCommands: string[] = [];
  const sockets = new Set<Socket>();
  const attempts = new Map<string, number>();

  function answerRecipient(address: string): string {
    const attempt = attempts.get(address) ?? 0;
    attempts.set(address, attempt + 1);
    return options.recipient?.(address, attempt) ?? "250 ok";
  }

  function converse(socket: Socket): void {
    const isEncrypted = socket instanceof TLSSocket;
    socket.on("error", () => undefined);
    let pending = "";
    let from = "";
    let to: string[] = [];
    let isData = false;
    socket.on("data", function read(chunk: Buffer) {
      pending += chunk.toString();
      for (;;) {
        const end = isData ? pending.indexOf("\r\n.\r\n") : pending.indexOf("\r\n");
        if (end < 0) return;
        const text = pending.slice(0, end);
        pending = pending.slice(end + (isData ? 5 : 2));
        if (!isData) commands.push(text);
        if (!isData && isEncrypted) encryptedCommands.push(text);
        if (isData) {
          mails.push({ from, to, data: text });
          isData = false;
          to = [];
          if (reply !== null) void Promise.resolve(options.answerAfter).then(() => socket.write(`${reply}\r\n`));
        } else if (/^MAIL FROM/i.test(text)) {
          from = /<(.*?)>/.exec(text)?.[1] ?? "";
          socket.write("250 ok\r\n");
        } else if (/^RCPT TO/i.test(text)) {
          const address = /<(.*?)>/.exec(text)?.[1] ?? "";
          const answer = answerRecipient(address);
          if (answer.startsWith("2")) to.push(address);
          socket.write(`${answer}\r\n`);
        } else if (/^DATA/i.test(text)) {
          isData = true;
          socket.write("354 go on\r\n");
        } else if (/^AUTH/i.test(text)) {
          socket.write(isEncrypted ? "235 ok\r\n" : `535 no entry for ${text.split(" ").at(-1) ?? ""}\r\n`);
        } else if (/^STARTTLS/i.test(text) && options.tls !== undefined) {
          socket.off("data", read);
          socket.write("220 go on\r\n", () => converse(new TLSSocket(socket, { isServer: true, ...options.tls })));
          return;
        } else if (/^STARTTLS/i.test(text)) {
          socket.write("502 no TLS here\r\n");
        } else if (/^EHLO/i.test(text)) {
          const offered = options.tls !== undefined && !isEncrypted ? "250-STARTTLS\r\n" : "";
          socket.write(`250-sink\r\n${offered}250 AUTH PLAIN\r\n`);
        } else {
          socket.write(/^QUIT/i.test(text) ? "221 bye\r\n" : "250 ok\r\n");
        }
      }
    });
  }

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.write("220 sink\r\n");
    converse(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    commands,
    encryptedCommands,
    attempts,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
