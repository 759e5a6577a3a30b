import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Every route of `/api/v1` as a daemon describes it, with who may ask it, what it reads and what it answers. */
export async function renderRoutes(scratch: string): Promise<string> {
  const { paths } = await askForDescription(scratch);
  const known = new Map<string, string>();
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      lineOf(`${method.toUpperCase()} /api/v1${path}`, operation, known),
    ),
  );
  return lines.join("\n");
}

function lineOf(route: string, operation: Operation, known: Map<string, string>): string {
  const { summary, description, parameters, requestBody, responses } = operation;
  const access = /(?:Access: |Needs `)(\w+)/.exec(description)?.[1] ?? "";
  const query = parameters.flatMap((one) => (one.in === "query" ? `\`${one.name}\`` : []));
  const [status = ""] = Object.keys(responses);
  const shape = shapeOf(responses[status]?.content);
  const earlier = known.get(shape);
  if (shape.length > 60) known.set(shape, earlier ?? route);
  const parts = [
    query.length === 0 ? "" : `Query: ${query.join(", ")}.`,
    requestBody === undefined ? "" : `Body: \`${shapeOf(requestBody.content)}\`.`,
    `Answer: ${status}${shape === "" ? "" : earlier === undefined ? ` \`${shape}\`` : ` as of \`${earlier}\``}.`,
  ];
  return `- \`${route}\` (${access}): ${[`${summary}.`, ...parts].filter((part) => part !== "").join(" ")}`;
}

function shapeOf(content: Content = {}): string {
  return Object.values(content)
    .map(({ schema }) => namesOf(schema))
    .join("");
}

/** The names of an object's fields, with a question mark where one may be absent. */
function namesOf({ type = "", properties, required = [], items, anyOf, oneOf }: Schema): string {
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return [...new Set(choices.map(namesOf))].join(" or ");
  if (items !== undefined) return `[${namesOf(items)}]`;
  if (properties === undefined) return type === "object" ? "{…}" : type;
  return `{${Object.keys(properties)
    .map((name) => (required.includes(name) ? name : `${name}?`))
    .join(", ")}}`;
}

async function askForDescription(scratch: string): Promise<Description> {
  const file = join(scratch, "flatline.yaml");
  const storage = `storage: { path: "${join(scratch, "flatline.db")}" }`;
  writeFileSync(
    file,
    `source: { type: embedded }\norganizations: [acme]\nserver: { listen: "127.0.0.1:0" }\n${storage}\n`,
  );
  const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  const daemon = spawn(process.execPath, [main, "run", "-c", file], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(daemon, "exit");
  try {
    let said = "";
    for await (const text of daemon.stderr) {
      said += String(text);
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(said) ?? [];
      if (address === undefined) continue;
      const answer = await fetch(`${address}/api/v1/openapi.json`);
      return (await answer.json()) as Description;
    }
    throw new Error(`flatline did not start: ${said}`);
  } finally {
    daemon.kill("SIGKILL");
    await ended;
  }
}
