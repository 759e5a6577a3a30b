// Joins dist and what it imports into a few minified files in dist/program, which bin/flatline.js starts: a third of the time
// and two thirds of the memory of several hundred files (docs/performance.md). What is exported stays as tsc made it.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import https from "node:https";
import { isBuiltin } from "node:module";
import { basename, join } from "node:path";

/** Writes dist/program; `root` ends with a slash. */
export async function bundle(root) {
  const { rolldown } = await import("rolldown");
  const workers = globSync("dist/**/*-worker.js", { cwd: root, exclude: ["dist/program/**"] });
  const entries = ["dist/cli/main.js", ...workers].map((path) => [basename(path, ".js"), join(root, path)]);
  const build = await rolldown({
    input: Object.fromEntries(entries),
    platform: "node",
    plugins: [ownModules, unused],
    onLog: (level, log, report) => {
      // What libraries do at their import is theirs.
      if (level === "warn" && log.id?.startsWith(join(root, "dist/")) !== true) return;
      report(level, log);
    },
  });
  const { output } = await build.write({
    dir: join(root, "dist/program"),
    format: "esm",
    minify: true,
    // One file instead of one for each.
    codeSplitting: { groups: [{ name: "own-modules", test: /^\0node:/ }] },
    chunkFileNames: ({ name }) => `${name.replaceAll(".", "-")}-[hash].js`,
  });
  await build.close();
  for (const { type, fileName, code } of output)
    if (type === "chunk") writeFileSync(join(root, "dist/program", fileName), asciiOnly(code));
  const packages = new Set(output.flatMap((chunk) => (chunk.moduleIds ?? []).flatMap(packageFolder)));
  const licences = [...packages].map(licence).toSorted((left, right) => left.localeCompare(right, "en"));
  writeFileSync(join(root, "dist/program/THIRD-PARTY-LICENSES.txt"), licences.join("\n"));
}

/**
 * An ES module's `import … from "node:http"` reads all exports at once, getters too, and what they load: Node's own undici for
 * http, webcrypto for crypto, reports and the like for process; some 40 ms of a start. As CommonJS modules only what is used is
 * read.
 */
const ownModules = {
  name: "own-modules",
  // What rolldown itself puts in asks for node:module first.
  resolveId: (id) => (isBuiltin(id) && !/^(?:node:)?module$/.test(id) ? `\0node:${id.replace(/^node:/, "")}` : null),
  load: (id) => (id.startsWith("\0node:") ? builtin(id.slice(1)) : null),
};

function builtin(id) {
  // undici and Fastify load it for the names of its constants; nothing here speaks HTTP/2 (base/http.ts, allowH2).
  if (id === "node:http2") return "module.exports = { constants: {} };";
  // With TLS behind it, which a daemon without https: addresses never needs.
  if (id === "node:https") {
    const getters = Object.keys(https).map((name) => `get ${name}() { return load().${name}; }`);
    return `const load = () => process.getBuiltinModule("${id}"); module.exports = { ${getters.join(", ")} };`;
  }
  return `module.exports = process.getBuiltinModule("${id}");`;
}

/** What libraries read at their import, and never use as they are used here: two fifths of all code. */
const unused = {
  name: "unused-parts",
  load: (id) => Object.entries(replacements).find(([path]) => id.endsWith(`/node_modules/${path}`))?.[1] ?? null,
};

const withoutSchemas = `module.exports = () => () => { throw new TypeError("no route has a schema: zod reads what comes in"); };`;
const withoutStreams = `module.exports = {};`;
const replacements = {
  // base/http.ts takes these three; fetch, WebSocket, caches and mocks are for others.
  "undici/index.js": `
    const Dispatcher = require("./lib/dispatcher/dispatcher");
    // A proxy's tunnel is one of these.
    Object.assign(Dispatcher.prototype, require("./lib/api"));
    module.exports = {
      Dispatcher,
      Agent: require("./lib/dispatcher/agent"),
      EnvHttpProxyAgent: require("./lib/dispatcher/env-http-proxy-agent"),
    };`,
  // An experiment that is asked for by a variable of the environment.
  "undici/lib/dispatcher/parser-h1.js": "module.exports = { getMiloEnabled: () => false };",
  "undici/lib/dispatcher/client-h2.js": `module.exports = () => { throw new TypeError("nothing here speaks HTTP/2"); };`,
  // For bodies that are neither text nor bytes.
  "undici/lib/web/fetch/body.js": withoutStreams,
  "undici/lib/web/fetch/formdata.js": withoutStreams,
  "@fastify/ajv-compiler/index.js": withoutSchemas,
  "@fastify/fast-json-stringify-compiler/index.js": withoutSchemas,
  // For requests that are made up in tests, and for plugins that say which Fastify they want.
  "light-my-request/index.js": "module.exports = {};",
  "semver/index.js": "module.exports = {};",
};

/**
 * The same code with other characters written as escapes: one of them in a file, and V8 keeps the whole text in two bytes a
 * character, 3 MB of an idle daemon. Between quotes, in regular expressions and in names an escape means the same.
 */
function asciiOnly(code) {
  // Only there it would not: what is raw is taken as it is written.
  const raw = /\.raw`[^`]*[^\0-\x7f][^`]*`/.exec(code);
  if (raw !== null) throw new Error(`a raw template with a character beyond ASCII: ${raw[0]}`);
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function packageFolder(id) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [];
}

/** Their licences want to be where their code is. */
function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const [file] = globSync("{LICEN[CS]E,licen[cs]e}*", { cwd: folder });
  const text =
    file === undefined || !existsSync(join(folder, file))
      ? `License: ${license}\n`
      : readFileSync(join(folder, file), "utf8");
  return `${name} ${version}\n\n${text}\n${"-".repeat(80)}\n`;
}
