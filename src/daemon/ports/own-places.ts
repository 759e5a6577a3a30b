import type { OrganizationConfig } from "../../config/config.ts";

/** Answers whether a place is in the text of an organization: from its line on, up to where the next one begins. */
export function ownPlaces(
  organizations: readonly OrganizationConfig[],
): (organization: OrganizationConfig, place: string) => boolean {
  const begins = new Map<string, number[]>();
  for (const { setAt } of organizations) {
    const [file, line] = splitPlace(setAt[""] ?? "");
    const lines = begins.get(file);
    if (lines === undefined) begins.set(file, [line]);
    else lines.push(line);
  }
  const nextOf = new Map<string, number>();
  for (const [file, lines] of begins) {
    const sorted = [...new Set(lines)].toSorted((left, right) => left - right);
    for (const [index, line] of sorted.entries()) {
      const next = sorted[index + 1];
      if (next !== undefined) nextOf.set(`${file}:${line}`, next);
    }
  }
  return ({ setAt }, place) => {
    const [file, line] = splitPlace(place);
    const [ownFile, ownLine] = splitPlace(setAt[""] ?? "");
    if (file !== ownFile || line < ownLine) return false;
    const next = nextOf.get(`${file}:${ownLine}`);
    return next === undefined || line < next;
  };
}

function splitPlace(place: string): readonly [file: string, line: number] {
  const colon = place.lastIndexOf(":");
  return [place.slice(0, colon), Number(place.slice(colon + 1))];
}
