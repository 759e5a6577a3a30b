import { requestBytes, secrets, startFuzzedDaemon } from "../fuzzed-daemon.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { mutatedTree } from "../mutate.ts";
import { textOf, treeOf, type Tree } from "../tree.ts";
import { apiSamples, platformSamples } from "./api-samples.ts";

/** Requests to flatline's own API and its pages: answered as the contract says, and with nothing changed when refused. */
export const apiTarget: Target = { name: "api", tries: 250, open };

async function open(): Promise<OpenTarget> {
  const daemon = await startFuzzedDaemon();
  let accepted = 0;
  const samples = [...apiSamples(daemon), ...platformSamples].map((sample) =>
    treeOf({ headers: { authorization: `Bearer ${secrets.token}` }, ...sample }),
  );

  async function attempt(tree: Tree): Promise<readonly string[]> {
    const request = bytesOf(tree);
    const before = daemon.stateHash();
    const answer = await daemon.ask(request);
    const complaints = await daemon.complaintsOf(answer, request.toString());
    if (answer.status < 400) accepted++;
    // A refused body may have been sent on to a check that ran; nothing of it is kept.
    else if (daemon.stateHash() !== before) complaints.push(`refused with ${answer.status}, and the store has changed`);
    return complaints;
  }

  return untyped({
    inputs: mutatedTree(samples),
    attempt,
    show: (tree: Tree) => bytesOf(tree).toString(),
    accepted: () => accepted,
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  });
}

/** The request that a tree describes: what is no list of segments or no object any more is written as it is. */
function bytesOf(tree: Tree): Buffer {
  const part = (name: string): Tree | null =>
    tree.kind === "object" ? (tree.entries.findLast(({ key }) => key === name)?.value ?? null) : null;
  const segments = itemsOf(part("path")).map((item) => encodeURIComponent(plain(item)));
  const query = entriesOf(part("query")).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const headers = entriesOf(part("headers")).map(([name, value]): [string, string] => [token(name), line(value)]);
  const body = part("body");
  const path = `/${segments.join("/")}${query.length === 0 ? "" : `?${query.join("&")}`}`;
  return requestBytes({
    method: token(plain(part("method"))),
    path,
    headers: {
      ...(body === null ? {} : { "content-type": "application/json" }),
      ...Object.fromEntries(headers),
    },
    body: Buffer.from(body === null ? "" : textOf(body)),
  });
}

/** A text without its quotes, anything else as it is written; half characters as what stands for them. */
function plain(tree: Tree | null): string {
  if (tree === null) return "";
  const text = textOf(tree);
  return (text.startsWith('"') ? (JSON.parse(text) as string) : text).toWellFormed();
}

function itemsOf(tree: Tree | null): readonly Tree[] {
  if (tree === null) return [];
  return tree.kind === "list" ? tree.items : tree.kind === "object" ? tree.entries.map(({ value }) => value) : [tree];
}

function entriesOf(tree: Tree | null): readonly [string, string][] {
  if (tree?.kind !== "object") return tree === null ? [] : [["value", plain(tree)]];
  return tree.entries.map(({ key, value }) => [key.toWellFormed(), plain(value)]);
}

/** Other bytes in a head are another target's. */
function token(text: string): string {
  return text.replaceAll(/[^\w-]/g, "").slice(0, 200) || "X";
}

function line(text: string): string {
  return Buffer.from(text)
    .toString("latin1")
    .replaceAll(/[^\x20-\x7e\x80-\xff]/g, "")
    .slice(0, 4_000);
}
