import { breakAddress } from "../../../base/broken-address.ts";
import { formatCount } from "../../../base/numbers.ts";
import {
  lookAnswers,
  lookRoles,
  opinionWords,
  type LookAnswer,
  type LookRole,
} from "../../../contract/second-opinion.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { IncidentPage } from "../../read/incident-page.ts";
import { mark, type MarkShape } from "../marks.ts";
import { renderSection, renderTable, type Column } from "../table.ts";

// Looks are marks in ink: full what answers, half what stands before a page, a dash where nothing is clear, empty what is gone.
const shapes: Readonly<Record<LookAnswer, MarkShape>> = {
  answers: "dot",
  challenge: "half",
  undecided: "dash",
  parked: "ring",
  gone: "ring",
};

const roleWords: Readonly<Record<LookRole, string>> = {
  sample: "dead asset",
  alive: "known to be alive",
  dead: "long dead",
};

const columns: readonly Column[] = [
  { name: "Answer" },
  { name: "Asked as" },
  { name: "Type", kind: "type" },
  { name: "Address" },
  { name: "Status", kind: "n" },
  { name: "Title" },
];

/** Renders what each asset said to flatline's own look: the sample, then the controls; addresses broken, never a link. */
export function renderOpinion({ summary, answers }: IncidentPage): Html {
  const { secondOpinion: opinion } = summary;
  if (answers.length === 0) return nothing;
  const shown = answers.toSorted(
    (left, right) =>
      lookRoles.indexOf(left.role) - lookRoles.indexOf(right.role) ||
      lookAnswers.indexOf(left.answer) - lookAnswers.indexOf(right.answer),
  );
  const rows = shown.map(
    ({ answer, role, assetType, asset, status, title }) =>
      html`<tr>
        <td>${mark(shapes[answer], "ink")} ${answer}</td>
        <td class="second">${roleWords[role]}</td>
        <td class="type">${assetType ?? "–"}</td>
        <td class="address">${breakAddress(asset)}</td>
        <td class="n">${status ?? "–"}</td>
        <td class="second">${title ?? ""}</td>
      </tr>`,
  );
  const asked = answers.filter(({ role }) => role === "sample").length;
  const beside = opinion === null ? nothing : html`<p>${opinionWords(opinion)}</p>`;
  return renderSection(`What each of the ${formatCount(asked)} said`, renderTable("said flow", columns, rows), {
    beside,
    id: "said",
  });
}
