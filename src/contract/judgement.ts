/** What people may say of an alert: the checker was wrong, its assets did die, or it was known beforehand. */
export const judgementVerdicts = ["checker", "real", "expected"] as const;
export type JudgementVerdict = (typeof judgementVerdicts)[number];
