// A verifier for flatline's second opinion (README.md beside this file): PROXY=http://proxy:3128 SECRET=… node verifier.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { resolve4, resolve6 } from "node:dns/promises";
import { createServer, request } from "node:http";
import { connect } from "node:tls";

const { PROXY = "", SECRET = "", LISTEN = "127.0.0.1:9641", DNS = "" } = process.env;
const assetsAtOnce = 12;
const timeoutMs = 5_000;
const mostRedirects = 3;
const mostPageBytes = 65_536;
const mostQuestionBytes = 1_048_576;
const signedWithinSeconds = 300;

// Marks of pages that stand in for a page; a challenge counts only in a refusal, as any page may have a captcha somewhere.
const parked =
  /sedoparking\.com|parkingcrew\.net|bodis\.com|suspendedpage\.cgi|account suspended|suspected phishing site/i;
const challenge = /captcha|_cf_chl_opt|challenges\.cloudflare\.com|_incapsula_resource|px-captcha/i;

/** Returns { answer, detail } for one asset; "undecided" for all that proves nothing. */
async function lookAt(asset) {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    let url = new URL(/^https?:\/\//i.test(asset) ? asset : `https://${asset}/`);
    for (let redirects = 0; ; redirects++) {
      if (url.port !== "" || !/^https?:$/.test(url.protocol))
        return { answer: "undecided", detail: "not asked: port or scheme" };
      if (redirects === 0 && DNS !== "" && (await isMissing(url.hostname)))
        return { answer: "gone", detail: "no such name" };
      const page = await fetchPage(url, signal);
      const { location } = page.headers;
      if (page.status < 300 || page.status >= 400 || location === undefined) return judge(page);
      if (redirects === mostRedirects) return { answer: "undecided", detail: "too many redirects" };
      url = new URL(location, url);
    }
  } catch (error) {
    return { answer: "undecided", detail: signal.aborted ? "no answer in time" : error.message };
  }
}

function judge({ status, headers, body }) {
  const title = /<title[^>]{0,200}>([^<]{0,120})/i.exec(body)?.[1].trim() ?? "";
  const detail = `${status} ${title}`.trim();
  if (headers["cf-mitigated"] === "challenge") return { answer: "challenge", detail };
  if ([401, 403, 429, 503].includes(status) && challenge.test(body)) return { answer: "challenge", detail };
  if (parked.test(body)) return { answer: "parked", detail };
  if (status === 404 || status === 410) return { answer: "gone", detail };
  return { answer: status >= 200 && status < 300 ? "answers" : "undecided", detail };
}

/** Whether the resolver says that a name does not exist, for both kinds of addresses. */
async function isMissing(host) {
  const answers = await Promise.allSettled([resolve4(host), resolve6(host)]);
  return answers.every(({ status, reason }) => status === "rejected" && reason.code === "ENOTFOUND");
}

/** Asks for a page through the proxy, by CONNECT for both schemes. Certificates do not matter here, and no cookie is sent. */
async function fetchPage(url, signal) {
  const tunnel = await openTunnel(`${url.hostname}:${url.protocol === "https:" ? 443 : 80}`, signal);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const servername = /^[\d.]+$|:/.test(host) ? "" : host;
  const socket =
    url.protocol === "https:" ? connect({ socket: tunnel, servername, rejectUnauthorized: false }) : tunnel;
  const headers = { host: url.host, "user-agent": "Mozilla/5.0", accept: "text/html", connection: "close" };
  try {
    return await new Promise((resolve, reject) => {
      socket.once("error", reject);
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      request({ createConnection: () => socket, path: url.pathname + url.search, headers })
        .once("response", async (response) => {
          const chunks = [];
          let bytes = 0;
          try {
            for await (const chunk of response) {
              chunks.push(chunk);
              if ((bytes += chunk.length) >= mostPageBytes) break;
            }
          } catch {
            // What came until it broke off is what the page is judged by.
          }
          resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() });
        })
        .once("error", reject)
        .end();
    });
  } finally {
    tunnel.on("error", () => {}).destroy();
    socket.on("error", () => {}).destroy();
  }
}

function openTunnel(path, signal) {
  const proxy = new URL(PROXY);
  const user = Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`);
  const headers = proxy.username === "" ? {} : { "proxy-authorization": `Basic ${user.toString("base64")}` };
  return new Promise((resolve, reject) => {
    request({ host: proxy.hostname, port: proxy.port || 80, method: "CONNECT", path, headers, agent: false, signal })
      .once("connect", ({ statusCode }, socket) => {
        if (statusCode >= 200 && statusCode < 300) return resolve(socket);
        socket.destroy();
        reject(new Error(`the proxy answered ${statusCode}`));
      })
      .once("response", ({ statusCode }) => reject(new Error(`the proxy answered ${statusCode}`)))
      .once("error", reject)
      .end();
  });
}

const key = SECRET.startsWith("whsec_") ? Buffer.from(SECRET.slice(6), "base64") : Buffer.from(SECRET);

/** Standard Webhooks: HMAC-SHA256 of "id.timestamp.body"; a list of signatures while the secret is rotated. */
function isSigned(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signatures = "" } = headers;
  if (!(Math.abs(Date.now() / 1_000 - Number(at)) <= signedWithinSeconds)) return false;
  const wanted = createHmac("sha256", key).update(`${id}.${at}.`).update(body).digest();
  const given = signatures.split(" ").map((signature) => Buffer.from(signature.replace(/^v1,/, ""), "base64"));
  return given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
}

async function answer(incoming) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    if ((bytes += chunk.length) > mostQuestionBytes) return { status: 413 };
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (incoming.method !== "POST" || !isSigned(incoming.headers, body)) return { status: 401 };
  const left = JSON.parse(body.toString()).assets.map(({ asset }) => asset);
  const results = [];
  const work = async () => {
    for (let asset = left.pop(); asset !== undefined; asset = left.pop())
      results.push({ asset, ...(await lookAt(asset)) });
  };
  await Promise.all(Array.from({ length: assetsAtOnce }, work));
  return { status: 200, results };
}

if (!PROXY.startsWith("http://") || key.length < 16) {
  process.stderr.write("PROXY (http://HOST:PORT) and SECRET (16 bytes or more) are needed: see README.md\n");
  process.exit(64);
}
const server = createServer(async (incoming, response) => {
  const { status, results } = await answer(incoming).catch(() => ({ status: 400 }));
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ results }));
});
const [, host, port] = /^(.*):(\d+)$/.exec(LISTEN) ?? [];
server.listen(Number(port), host, () => process.stdout.write(`listening on port ${server.address().port}\n`));
