import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIP } from "node:net";

/** What a name's server answers: addresses; a status; a further name, with its addresses. */
export type DnsAnswer =
  readonly string[] | "NXDOMAIN" | "SERVFAIL" | { readonly cname: string; readonly addresses: readonly string[] };

export interface DnsServer extends AsyncDisposable {
  readonly address: string;
  /** Names that were asked for, once for each question. */
  readonly asked: string[];
}

const types = { a: 1, cname: 5, aaaa: 28 } as const;

/** Starts a DNS server on the loopback interface; `answer` is asked anew for each question. */
export async function startDnsServer(answer: (name: string) => DnsAnswer): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (query, { port, address }) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    const found = answer(name);
    const { cname, addresses } =
      typeof found === "string"
        ? { cname: null, addresses: [] }
        : "cname" in found
          ? found
          : { cname: null, addresses: found };
    const records = [
      ...(cname === null ? [] : [record(types.cname, nameOf(cname))]),
      ...addresses
        .filter((one) => (isIP(one) === 4 ? types.a : types.aaaa) === type)
        .map((one) =>
          Buffer.concat([cname === null ? Buffer.from([0xc0, 12]) : nameOf(cname), recordBody(type, bytesOf(one))]),
        ),
    ];
    const code = found === "NXDOMAIN" ? 3 : found === "SERVFAIL" ? 2 : 0;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    [Symbol.asyncDispose]: async () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

function questionOf(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function record(type: number, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0xc0, 12]), recordBody(type, data)]);
}

function recordBody(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([head, data]);
}

function nameOf(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  // The URL parser writes an address with all that `::` stands for as numbers, but for the zeros.
  const [left = "", right] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const groups = (half: string): string[] => half.split(":").filter((group) => group !== "");
  const tail = groups(right ?? "");
  const all = [...groups(left), ...Array.from({ length: 8 - groups(left).length - tail.length }, () => "0"), ...tail];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}
