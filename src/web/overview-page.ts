import { createHash } from "node:crypto";

import { compareSeverity, type Severity } from "../contract/severity.ts";
import type { CheckView } from "./check-view.ts";

// A browser's table of more rows helps nobody; the rest is in the API.
const maxRows = 500;

const style = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
.fail { color: #a40000; font-weight: bold; }
.warn, .unknown { color: #7a4b00; font-weight: bold; }
`;

/** The page's own Content-Security-Policy: nothing but its one style sheet. */
export const overviewPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The page at `/`: links, and the severity of each check of each organization, the worst first. */
export function renderOverview(checks: readonly CheckView[], version: string): string {
  const sorted = [...checks].sort((left, right) => rankOf(right, left) || compareText(left.slug, right.slug));
  const rows = sorted.slice(0, maxRows).map(renderRow);
  const rest = sorted.length - rows.length;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>flatline</title>
<style>${style}</style>
</head>
<body>
<h1>flatline</h1>
<nav><ul>
<li><a href="/metrics">Metrics</a></li>
<li><a href="/api/v1/checks">Checks as JSON</a></li>
<li><a href="/-/healthy">Health</a></li>
<li><a href="/-/ready">Readiness</a></li>
</ul></nav>
<h2>Organizations</h2>
<table>
<thead><tr><th scope="col">Organization</th><th scope="col">Check</th><th scope="col">Severity</th><th scope="col">Since</th><th scope="col">Last run</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>
${rest > 0 ? `<p>and ${rest} more in <a href="/api/v1/checks">the API</a></p>` : ""}
<p>flatline ${escapeHtml(version)}</p>
</body>
</html>
`;
}

/** Text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}

function renderRow({ check, slug, severity, severitySince, lastRunAt, alert }: CheckView): string {
  const href = `/api/v1/checks/${encodeURIComponent(check)}/${encodeURIComponent(slug.toWellFormed())}`;
  const word = severity ?? "not run yet";
  const kind = severity ?? "pending";
  const alertText = alert === null ? "" : ` (alert ${alert.state}${alert.silenced ? ", silenced" : ""})`;
  const cells = [
    `<a href="${escapeHtml(href)}">${escapeHtml(slug)}</a>`,
    escapeHtml(check),
    `<span class="${escapeHtml(kind)}">${escapeHtml(word)}</span>${escapeHtml(alertText)}`,
    escapeHtml(severitySince ?? ""),
    escapeHtml(lastRunAt ?? ""),
  ];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

function rankOf(left: CheckView, right: CheckView): number {
  return compareSeverity((left.severity ?? "ok") as Severity, (right.severity ?? "ok") as Severity);
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
