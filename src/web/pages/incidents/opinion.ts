import { breakAddress } from "../../../base/broken-address.ts";
import { formatCount, none } from "../../../base/numbers.ts";
import {
  lookAnswers,
  lookRoles,
  lookRoleWords,
  opinionWords,
  type LookAnswer,
} from "../../../contract/second-opinion.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { IncidentDetail } from "../../read/incidents.ts";
import { mark, type MarkShape } from "../marks.ts";
import { renderSection, renderTable, type Column } from "../table.ts";

// Answers are marks in ink: full what answers, half what stands before a page, a dash where nothing is clear, empty what is gone.
const shapes: Readonly<Record<LookAnswer, MarkShape>> = {
  answers: "dot",
  challenge: "half",
  undecided: "dash",
  parked: "ring",
  gone: "ring",
};

const columns: readonly Column<IncidentDetail["answers"][number]>[] = [
  ["Answer", "marked nowrap", ({ answer }) => html`${mark(shapes[answer], "ink")}${answer}`],
  ["Asked as", "second", ({ role }) => lookRoleWords[role]],
  ["Type", "", ({ assetType }) => assetType ?? none],
  ["Address", "address", ({ asset }) => breakAddress(asset)],
  ["Detail", "answer second", ({ detail }) => detail ?? ""],
];

/** Renders what the verifier said of each asset: the sample, then the controls; addresses broken, never a link. */
export function renderOpinion({ summary, answers }: IncidentDetail): Html {
  const { secondOpinion: opinion } = summary;
  if (answers.length === 0) return nothing;
  const shown = answers.toSorted(
    (left, right) =>
      lookRoles.indexOf(left.role) - lookRoles.indexOf(right.role) ||
      lookAnswers.indexOf(left.answer) - lookAnswers.indexOf(right.answer),
  );
  const asked = answers.filter(({ role }) => role === "sample").length;
  const beside = opinion === null ? nothing : html`<p>${opinionWords(opinion)}</p>`;
  return renderSection(`What each of the ${formatCount(asked)} said`, renderTable(columns, shown), {
    beside,
    id: "said",
  });
}
