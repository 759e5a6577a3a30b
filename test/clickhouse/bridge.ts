// ClickHouse's HTTP interface before the engine in this process, as far as its client needs it: the query in the body,
// or with its parameters as multipart/form-data; param_*, database and settings in the address; errors with their code
// in a header. Says its address on stdout; ends with its stdin.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";

interface Session {
  query(text: string, format?: string): string;
  queryAsync(text: string, options: { format: string }): Promise<{ text(): string }>;
  close(): void;
}
const { Session } = createRequire(import.meta.url)("chdb") as { Session: new () => Session };
const session = new Session();

const users: Readonly<Record<string, string>> = { default: "", reader: "it's a secret" };
// Of the interface itself, not of the engine.
const interfaceKeys = new Set(["database", "query_id", "wait_end_of_query", "default_format", "query", "role"]);
const statuses: Readonly<Record<number, number>> = { 60: 404, 81: 404, 497: 403, 516: 403, 159: 408 };

let last: Promise<unknown> = Promise.resolve();

const server = createServer((request, response) => {
  // One at a time: parameters belong to the session.
  last = last.then(() => answer(request, response)).catch((error: unknown) => fail(response, error));
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.stdin.resume().on("end", () => process.exit(0));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const address = new URL(request.url ?? "/", "http://localhost");
  const sent = await readBody(request, address.searchParams);
  refuseStrangers(request);
  const match = /\s*FORMAT\s+(\w+)\s*$/.exec(sent.query);
  const query = match === null ? sent.query : sent.query.slice(0, match.index);
  const format = match?.[1] ?? "TabSeparated";
  const settings = [...address.searchParams].filter(([key]) => !interfaceKeys.has(key) && !key.startsWith("param_"));
  session.query(`USE \`${address.searchParams.get("database") ?? "default"}\``);
  for (const [name, value] of sent.parameters) session.query(`SET ${name} = ${literal(value)}`);
  const suffix = settings.map(([name, value]) => `${name} = ${literal(value)}`).join(", ");
  const isSelect = /^\s*(?:select|with)\b/i.test(query);
  const result = await session.queryAsync(isSelect && suffix !== "" ? `${query}\nSETTINGS ${suffix}` : query, {
    format,
  });
  response.writeHead(200, { "x-clickhouse-format": format }).end(result.text());
}

async function readBody(request: IncomingMessage, search: URLSearchParams) {
  const init = { method: "POST", headers: headersOf(request), body: request, duplex: "half" } as unknown as RequestInit;
  const body = new Request("http://localhost", init);
  const parameters = [...search].filter(([key]) => key.startsWith("param_"));
  if (!(request.headers["content-type"] ?? "").startsWith("multipart/form-data"))
    return { query: (search.get("query") ?? "") + (await body.text()), parameters };
  const form = await body.formData();
  const texts = [...form].flatMap(([key, value]): [string, string][] =>
    typeof value === "string" ? [[key, value]] : [],
  );
  parameters.push(...texts.filter(([key]) => key.startsWith("param_")));
  return { query: new Map(texts).get("query") ?? "", parameters };
}

function headersOf(request: IncomingMessage): Headers {
  return new Headers({ "content-type": request.headers["content-type"] ?? "text/plain" });
}

function refuseStrangers(request: IncomingMessage): void {
  const basic = Buffer.from((request.headers.authorization ?? "").replace(/^Basic /, ""), "base64").toString();
  const [user = "", ...password] = basic === "" ? ["default", ""] : basic.split(":");
  if (users[user] === password.join(":")) return;
  throw new Error(`Code: 516. DB::Exception: ${user}: Authentication failed. (AUTHENTICATION_FAILED)`);
}

function literal(value: string): string {
  return `'${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function fail(response: ServerResponse, error: unknown): void {
  const message = (error instanceof Error ? error.message : String(error)).replace(/^Query failed: /, "");
  const code = Number(/Code: (\d+)/.exec(message)?.[1] ?? 1_002);
  response.writeHead(statuses[code] ?? 500, { "x-clickhouse-exception-code": String(code) }).end(message);
}
