import { z } from "zod";

/** The codes of API v2's error bodies, with their statuses (CONTRACT 9). */
export const apiErrorStatuses = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_SERVER_ERROR: 500,
} as const satisfies Record<string, number>;

export type ApiErrorCode = keyof typeof apiErrorStatuses;

/** The body of every error of API v2; `issues` has one entry per problem. */
export const errorBodySchema = z.object({
  message: z.string(),
  code: z.enum(Object.keys(apiErrorStatuses) as [ApiErrorCode, ...ApiErrorCode[]]),
  issues: z.array(z.object({ message: z.string() })).optional(),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;

const looseErrorSchema = z.looseObject({
  message: z.string(),
  issues: z
    .array(z.looseObject({ message: z.string() }))
    .optional()
    .catch(undefined),
});

/** Reads the error body of any service, which may be under `error`; null: it has no message. */
export function readErrorBody(body: unknown): { readonly message: string; readonly issues: readonly string[] } | null {
  const wrapped = z.looseObject({ error: looseErrorSchema }).safeParse(body);
  const plain = looseErrorSchema.safeParse(body);
  const found = plain.data ?? wrapped.data?.error;
  if (found === undefined) return null;
  return { message: found.message, issues: (found.issues ?? []).map((issue) => issue.message) };
}
