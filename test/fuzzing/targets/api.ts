import type { RawAnswer } from "../exchange.ts";
import { requestBytes, secrets, startFuzzedDaemon } from "../fuzzed-daemon.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { mutatedTree } from "../mutate.ts";
import { allowedStatuses, type PlainRequest } from "../plain-requests.ts";
import { textOf, treeOf, type Tree } from "../tree.ts";
import { apiSamples, platformSamples } from "./api-samples.ts";

const plainHeaders = { authorization: `Bearer ${secrets.token}`, "x-api-key": "example-key-ads" };

/** Requests to flatline's own API and its pages: answered as the contract says, and with nothing changed when refused. */
export const apiTarget: Target = { name: "api", tries: 250, open };

async function open(): Promise<OpenTarget> {
  const daemon = await startFuzzedDaemon();
  let accepted = 0;
  const samples = [...apiSamples(daemon), ...platformSamples].map((sample) =>
    treeOf({ headers: { authorization: plainHeaders.authorization }, ...sample }),
  );

  async function attempt(tree: Tree): Promise<readonly string[]> {
    const { bytes, plain } = requestOf(tree);
    const before = daemon.stateHash();
    const answer = await daemon.ask(bytes);
    const complaints = await daemon.complaintsOf(answer, bytes.toString());
    const { status } = answer;
    if (status < 400) accepted++;
    else if (await daemon.changes(before, bytes)) complaints.push(`refused with ${status}, and the store has changed`);
    const allowed = allowedStatuses(plain);
    // A head may be too long for any route.
    if (status !== 431 && status !== 414 && allowed?.includes(status) === false)
      complaints.push(`${status}, and a plain reader says ${allowed.join(" or ")}: ${answer.body.slice(0, 500)}`);
    if (status === 201) complaints.push(...(await complaintsOfListing(plain, answer)));
    return complaints;
  }

  /** What was made is listed as it was asked for. */
  async function complaintsOfListing({ path, body }: PlainRequest, answer: RawAnswer): Promise<string[]> {
    if (path !== "/api/v1/silences" && path !== "/api/v1/markers") return [];
    const headers = { authorization: `Bearer ${secrets.token}` };
    const query = path.endsWith("markers") ? "?from=1970-01-01T00:00:00Z&to=9999-01-01T00:00:00Z" : "";
    const listing = await daemon.ask(requestBytes({ path: `${path}${query}`, headers }));
    const listed = JSON.parse(listing.body) as readonly Readonly<Record<string, unknown>>[];
    const { id } = JSON.parse(answer.body) as { readonly id: string };
    const asked = JSON.parse(body) as Readonly<Record<"slug" | "comment" | "text", string | undefined>>;
    const found = listed.find((one) => one["id"] === id);
    if (found === undefined) return [`${id} was made and is not listed`];
    const { slug, comment, text } = asked;
    // A lone surrogate has no bytes in UTF-8: the store has U+FFFD for it.
    const isSame =
      (slug === undefined || found["slug"] === slug.toWellFormed()) &&
      (comment === undefined || found["comment"] === comment.toWellFormed()) &&
      (text === undefined || found["text"] === text.trim().toWellFormed());
    return isSame ? [] : [`${JSON.stringify(asked)} is listed as ${JSON.stringify(found)}`];
  }

  return untyped({
    inputs: mutatedTree(samples),
    attempt,
    show: (tree: Tree) => requestOf(tree).bytes.toString(),
    accepted: () => accepted,
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  });
}

/** The request that a tree describes: what is no list of segments or no object any more is written as it is. */
function requestOf(tree: Tree): { readonly bytes: Buffer; readonly plain: PlainRequest } {
  const part = (name: string): Tree | null =>
    tree.kind === "object" ? (tree.entries.findLast(({ key }) => key === name)?.value ?? null) : null;
  const segments = itemsOf(part("path")).map(plainText);
  const query = entriesOf(part("query"));
  const headers = entriesOf(part("headers")).map(([name, value]): [string, string] => [token(name), line(value)]);
  const content = part("body");
  const body = content === null ? "" : textOf(content);
  const method = token(plainText(part("method")));
  const path = segments.map((segment) => encodeURIComponent(segment)).join("/");
  const search = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
  const bytes = requestBytes({
    method,
    path: `/${path}${search === "" ? "" : `?${search}`}`,
    headers: { ...(content === null ? {} : { "content-type": "application/json" }), ...Object.fromEntries(headers) },
    body: Buffer.from(body),
  });
  const names: Readonly<Record<string, string>> = plainHeaders;
  const isPlain = headers.length === 1 && headers.every(([name, value]) => names[name] === value);
  return { bytes, plain: { method, path: `/${segments.join("/")}`, query, isPlain, body: body.toWellFormed() } };
}

/** A text without its quotes, anything else as it is written; half characters as what stands for them. */
function plainText(tree: Tree | null): string {
  if (tree === null) return "";
  const text = textOf(tree);
  return (text.startsWith('"') ? (JSON.parse(text) as string) : text).toWellFormed();
}

function itemsOf(tree: Tree | null): readonly Tree[] {
  if (tree === null) return [];
  return tree.kind === "list" ? tree.items : tree.kind === "object" ? tree.entries.map(({ value }) => value) : [tree];
}

function entriesOf(tree: Tree | null): readonly [string, string][] {
  if (tree?.kind !== "object") return tree === null ? [] : [["value", plainText(tree)]];
  return tree.entries.map(({ key, value }) => [key.toWellFormed(), plainText(value)]);
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
