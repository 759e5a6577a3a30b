/** What a look at one asset found (CONTRACT 16): the first two show life, `parked` and `gone` show death, the last nothing. */
export const lookAnswers = ["answers", "challenge", "parked", "gone", "undecided"] as const;
export type LookAnswer = (typeof lookAnswers)[number];

/** Why an asset was looked at: of the incident's dead, or as a control that is known to be alive or long dead. */
export const lookRoles = ["sample", "alive", "dead"] as const;
export type LookRole = (typeof lookRoles)[number];

/** `refuted`: most of the incident's dead are alive; `confirmed`: most are dead. */
export const opinionVerdicts = ["refuted", "confirmed", "undecided"] as const;
export type OpinionVerdict = (typeof opinionVerdicts)[number];

/** Returns whether an answer shows that an asset is alive. */
export function showsLife(answer: LookAnswer): boolean {
  return answer === "answers" || answer === "challenge";
}

/** Returns whether an answer shows that an asset is dead. */
export function showsDeath(answer: LookAnswer): boolean {
  return answer === "gone" || answer === "parked";
}
