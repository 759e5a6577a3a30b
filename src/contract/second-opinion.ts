/** A verifier's answers (CONTRACT 16): two show life, `parked` and `gone` show death, the last one nothing. */
export const lookAnswers = ["answers", "challenge", "parked", "gone", "undecided"] as const;
export type LookAnswer = (typeof lookAnswers)[number];

/** Why an asset is asked about: a `sample` of the incident's dead, or a control, known to be `alive` or long `dead`. */
export const lookRoles = ["sample", "alive", "dead"] as const;
export type LookRole = (typeof lookRoles)[number];

export const lookRoleWords: Readonly<Record<LookRole, string>> = {
  sample: "dead asset",
  alive: "known to be alive",
  dead: "long dead",
};

/** `refuted`: most of the incident's dead are alive; `confirmed`: most are dead. */
export const opinionVerdicts = ["refuted", "confirmed", "undecided"] as const;
export type OpinionVerdict = (typeof opinionVerdicts)[number];

export const opinionFailures = ["no_answer", "controls"] as const;

export const failureWords: Readonly<Record<(typeof opinionFailures)[number], string>> = {
  no_answer: "the verifier gave no answer",
  controls: "the verifier fails: it finds less than half alive of what is known to be",
};

export function showsLife(answer: LookAnswer): boolean {
  return answer === "answers" || answer === "challenge";
}

export function showsDeath(answer: LookAnswer): boolean {
  return answer === "gone" || answer === "parked";
}

export interface ControlCounts {
  readonly asked: number;
  readonly alive: number;
}

/** A second opinion without names of assets. */
export interface OpinionCounts {
  /** Dead assets that were asked about; of these, the next two showed life and death. */
  readonly asked: number;
  readonly alive: number;
  readonly gone: number;
  readonly verdict: OpinionVerdict;
  readonly controls: Readonly<Record<"alive" | "dead", ControlCounts>>;
  /** `controls`: the verifier takes most live assets for dead. Absent: it does not fail. */
  readonly failure?: (typeof opinionFailures)[number] | undefined;
  /** The answers are from a file. */
  readonly isRecorded?: boolean | undefined;
}

/** Returns a finding without a full stop: "14 of 20 still answer; of 20 known to be alive 19 do, of 20 long dead 1". */
export function opinionWords(opinion: OpinionCounts): string {
  const { isRecorded, failure } = opinion;
  if (failure === "no_answer") return failureWords.no_answer;
  const counted = failure === "controls" ? failureWords.controls : answerWords(opinion);
  const found = isRecorded === true ? `${counted} (by recorded answers)` : counted;
  const known = controlWords(opinion);
  return known === null ? found : `${found}; ${known}`;
}

/** Returns what the sample showed: "14 of 20 still answer". */
export function answerWords({ asked, alive, gone, verdict }: OpinionCounts): string {
  if (verdict === "refuted") return `${alive} of ${asked} still answer`;
  if (verdict === "confirmed") return `${gone} of ${asked} are gone`;
  return `of ${asked} looked at ${alive} still answer and ${gone} are gone, which decides nothing`;
}

/** Returns the answers for controls: "of 20 known to be alive 19 do, of 20 long dead 1"; null: there is none. */
export function controlWords({ verdict, controls }: OpinionCounts): string | null {
  const known = (["alive", "dead"] as const).flatMap((role) => {
    const { asked, alive } = controls[role];
    if (asked === 0) return [];
    const verb = verdict !== "refuted" ? " answer" : role === "alive" ? " do" : "";
    return [`of ${asked} ${lookRoleWords[role]} ${alive}${verb}`];
  });
  return known.length === 0 ? null : known.join(", ");
}
