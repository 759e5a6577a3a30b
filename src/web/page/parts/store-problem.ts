import { html, nothing, type Html } from "../../parts/html.ts";
import { mark } from "./marks.ts";

/** Renders a line below the trace of every page while something is wrong with the store; nothing when all is well. */
export function renderStoreProblem(problem: string | null): Html {
  if (problem === null) return nothing;
  return html`<p class="fleetline">${mark("fail")} ${problem.charAt(0).toUpperCase()}${problem.slice(1)}.</p>`;
}
