import { z } from "zod";
import { FlatlineError } from "../../base/errors.ts";
import { endedSchema } from "../daemon-answers.ts";
import type { DaemonClient } from "../daemon-client.ts";

const said = { by: z.string().nullable().optional(), comment: z.string().nullable().optional() };
const resultSchema = z.looseObject({
  severity: z.string(),
  observed: z.record(z.string(), z.unknown()),
  findings: z.array(z.looseObject({ kind: z.string(), ref: z.string().nullable(), message: z.string() })),
  suggestedAction: z.string().nullable().optional(),
});
const alertSchema = z.looseObject({
  id: z.string(),
  check: z.string(),
  slug: z.string(),
  kind: z.string(),
  state: z.string(),
  severity: z.string(),
  startsAt: z.string(),
  notifiedAt: z.string().nullable().optional(),
  endsAt: z.string().nullable().optional(),
  onsetAt: z.string().nullable().optional(),
  marker: z.looseObject({ text: z.string(), at: z.string() }).nullable().optional(),
  silenced: z.boolean().optional(),
  peak: z.looseObject({ severity: z.string(), currentCount: z.number().nullable(), at: z.string() }),
  reason: z.string(),
  labels: z.record(z.string(), z.string()),
  acknowledgement: z.looseObject({ by: z.string().nullable(), comment: z.string().nullable() }).optional(),
  comments: z
    .array(
      z.looseObject({ at: z.string(), actor: z.string(), note: said.by, text: z.string(), act: z.string().nullable() }),
    )
    .optional(),
  judgement: z
    .looseObject({ verdict: z.string(), ...said })
    .nullable()
    .optional(),
});
const detailSchema = alertSchema.extend({
  result: resultSchema.nullable().optional(),
  resultAt: z.string().nullable().optional(),
});

const checkSchema = endedSchema.extend({ result: resultSchema.nullable() });

const assetsSchema = z.looseObject({ count: z.number(), knownCount: z.number() });

/** An alert with the result that speaks for it, and how many assets died in it. */
export interface ShownAlert {
  readonly alert: z.infer<typeof alertSchema>;
  /** While it lives its check's last one; of an ended alert that of its worst run. null: there is none, or none is kept. */
  readonly result: z.infer<typeof resultSchema> | null;
  /** When the result was found, of an alert that has ended. */
  readonly resultAt: string | null;
  /** What of its deaths was found alive again by now, of an alert that ended lately. null: unknown. */
  readonly undone: { readonly count: number; readonly known: number; readonly revisedCause: string | null } | null;
  /** null: it has none, or the token may not read them. */
  readonly assets: z.infer<typeof assetsSchema> | null;
}

/** Reads an alert that lives or has ended. @throws not_found */
export async function readShownAlert(daemon: Pick<DaemonClient, "read">, id: string): Promise<ShownAlert> {
  const path = `/api/v1/alerts/${encodeURIComponent(id)}`;
  const { result, resultAt, ...alert } = await daemon.read(path, detailSchema);
  const isOver = alert.endsAt !== null && alert.endsAt !== undefined;
  const checkPath = `/api/v1/checks/${encodeURIComponent(alert.check)}/${encodeURIComponent(alert.slug)}`;
  const check = await daemon.read(checkPath, checkSchema).catch(ifMissing);
  const { revivedCount, judgedCount, revisedCause } = check?.endedAlerts.find((one) => one.id === alert.id) ?? {};
  const assets = await daemon.read(`${path}/assets?limit=1`, assetsSchema).catch(ifMissing);
  return {
    alert,
    result: isOver ? (result ?? null) : (check?.result ?? null),
    resultAt: resultAt ?? null,
    undone:
      typeof revivedCount === "number" && typeof judgedCount === "number"
        ? { count: revivedCount, known: judgedCount, revisedCause: revisedCause ?? null }
        : null,
    assets: assets === null ? null : { count: assets.count, knownCount: assets.knownCount },
  };
}

/** What another kind of alert, or another check, has not. */
function ifMissing(error: unknown): null {
  if (error instanceof FlatlineError && error.code === "not_found") return null;
  throw error;
}
