import { z } from "zod";

import type { IncidentAct } from "../alerting/acts/plan-act.ts";
import { parseDuration } from "../base/durations.ts";
import { judgementVerdicts } from "../contract/judgement.ts";
import { longestSlug } from "../contract/slug.ts";
import { commentSchema, instantSchema, nameSchema, nonBlank, reasonSchema } from "./input.ts";

// Acts on more organizations leave `slugs` out, which means all.
const mostSlugs = 20_000;

const common = {
  slugs: z.array(z.string().min(1).max(longestSlug)).min(1, "names no organization").max(mostSlugs).optional(),
  by: nameSchema.optional(),
};

/** Returns the act of a body or a form at an instant. */
type AskedAct = (nowMs: number) => {
  readonly act: IncidentAct;
  /** null: all members. */
  readonly slugs: readonly string[] | null;
  readonly by: string | undefined;
};

function asked<Body extends { readonly slugs?: string[] | undefined; readonly by?: string | undefined }>(
  body: z.ZodType<Body>,
  actOf: (body: Body, nowMs: number) => IncidentAct,
): z.ZodType<AskedAct> {
  return body.transform((said) => (nowMs) => ({ act: actOf(said, nowMs), slugs: said.slugs ?? null, by: said.by }));
}

const duration = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  context.addIssue('must be a duration, as "1h" or "30m"');
  return z.NEVER;
});

/** The schemas of the acts on an incident and on its alerts (CONTRACT 15), for the API and the forms. */
export const askedActs: Readonly<Record<IncidentAct["kind"], z.ZodType<AskedAct>>> = {
  acknowledge: asked(z.strictObject({ ...common, comment: commentSchema.optional() }), ({ comment }) => ({
    kind: "acknowledge",
    comment: nonBlank(comment),
  })),
  unacknowledge: asked(z.strictObject(common), () => ({ kind: "unacknowledge" })),
  judge: asked(
    z.strictObject({
      ...common,
      verdict: z.enum(judgementVerdicts, `must be one of ${judgementVerdicts.join(", ")}`),
      comment: commentSchema.optional(),
    }),
    ({ verdict, comment }) => ({ kind: "judge", verdict, comment: nonBlank(comment) }),
  ),
  withdraw: asked(z.strictObject(common), () => ({ kind: "withdraw" })),
  release: asked(z.strictObject({ ...common, comment: reasonSchema }), ({ comment }) => ({ kind: "release", comment })),
  silence: asked(
    z
      .strictObject({
        ...common,
        endsAt: instantSchema.optional(),
        duration: duration.optional(),
        comment: reasonSchema,
      })
      .refine((body) => (body.endsAt === undefined) !== (body.duration === undefined), {
        path: ["endsAt"],
        message: "give this or duration",
      }),
    ({ endsAt, duration: forMs = 0, comment }, nowMs) => ({
      kind: "silence",
      endsAtMs: endsAt ?? nowMs + forMs,
      comment,
    }),
  ),
  comment: asked(z.strictObject({ ...common, comment: reasonSchema }), ({ comment }) => ({ kind: "comment", comment })),
};

/** Returns the right of an act: those that may open a gate need `gate` (CONTRACT 13). */
export function rightOf(kind: IncidentAct["kind"]): "gate" | "operate" {
  return kind === "judge" || kind === "withdraw" || kind === "release" ? "gate" : "operate";
}
