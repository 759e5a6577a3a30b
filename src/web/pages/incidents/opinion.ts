import type { FastifyInstance, FastifyRequest } from "fastify";

import { breakAddress } from "../../../base/broken-address.ts";
import { FlatlineError } from "../../../base/errors.ts";
import { formatCount } from "../../../base/numbers.ts";
import {
  lookAnswers,
  lookRoles,
  lookRoleWords,
  opinionWords,
  type LookAnswer,
} from "../../../contract/second-opinion.ts";
import { authorOf, readerOf } from "../../access/identity.ts";
import { html, nothing, type Html } from "../../parts/html.ts";
import type { IncidentDetail, IncidentReading } from "../../read/incidents.ts";
import { renderDialog } from "../dialog.ts";
import { mark, type MarkShape } from "../marks.ts";
import { missingIncident, sentenceOf, type Site } from "../site.ts";
import { renderSection, renderTable, type Column } from "../table.ts";

// Answers are marks in ink: full what answers, half what stands before a page, a dash where nothing is clear, empty what is gone.
const shapes: Readonly<Record<LookAnswer, MarkShape>> = {
  answers: "dot",
  challenge: "half",
  undecided: "dash",
  parked: "ring",
  gone: "ring",
};

const columns: readonly Column[] = [
  { name: "Answer" },
  { name: "Asked as" },
  { name: "Type" },
  { name: "Address" },
  { name: "Detail" },
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
  const rows = shown.map(
    ({ answer, role, assetType, asset, detail }) =>
      html`<tr>
        <td class="marked nowrap">${mark(shapes[answer], "ink")}${answer}</td>
        <td class="second">${lookRoleWords[role]}</td>
        <td>${assetType ?? "–"}</td>
        <td class="address">${breakAddress(asset)}</td>
        <td class="answer second">${detail ?? ""}</td>
      </tr>`,
  );
  const asked = answers.filter(({ role }) => role === "sample").length;
  const beside = opinion === null ? nothing : html`<p>${opinionWords(opinion)}</p>`;
  return renderSection(`What each of the ${formatCount(asked)} said`, renderTable("", columns, rows), {
    beside,
    id: "said",
  });
}

/** `/incidents/N/look`: the dialog that asks for a look at its dead assets, and its form. */
export function addLookDialog(
  server: FastifyInstance,
  { site, incidents }: { readonly site: Site; readonly incidents: Pick<IncidentReading, "find" | "look"> },
): void {
  const dialogOf = (request: FastifyRequest, number: number, problem: string, status: number) => {
    const path = `/incidents/${number}`;
    const main = renderDialog({
      action: `${path}/look`,
      title: "Ask the verifier about its dead assets?",
      content: html`<p>
        The verifier is asked about some of them, drawn anew, and beside them about assets of which the answer is known.
      </p>`,
      problem,
      foot: `As ${readerOf(request) ?? ""}. The verifier looks at these pages; their owners may see it.`,
      verb: "Look",
      back: path,
    });
    return { isDialog: true, status, title: `Incident ${number} · flatline`, current: "incidents", main } as const;
  };

  site.addAct(server, "/incidents/:id/look", "operate", {
    ask: async ({ request, params: { id } }) => {
      const found = await incidents.find(id);
      return found === null ? missingIncident(id) : dialogOf(request, found.incident.number, "", 200);
    },
    perform: async ({ request, params: { id } }) => {
      const found = await incidents.find(id);
      if (found === null) return missingIncident(id);
      const { number } = found.incident;
      try {
        await incidents.look(found.incident, authorOf(request));
        return { did: "The verifier is asked.", path: `/incidents/${number}` };
      } catch (error) {
        if (!(error instanceof FlatlineError) || error.fault === "bug") throw error;
        return dialogOf(request, number, sentenceOf(error.message), error.httpStatus);
      }
    },
  });
}
