import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";

import { z } from "zod";

import { FlatlineError } from "../base/errors.ts";
import { sendRequest } from "../base/http.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import type { Clock } from "../base/time.ts";
import { parseJson } from "../base/json.ts";
import { lookAnswers, type LookAnswer } from "../contract/second-opinion.ts";
import type { VerifierSettings } from "./settings.ts";

/** What a verifier says of each asset, by its name. */
type VerifierAnswers = ReadonlyMap<string, LookAnswer>;

/** What a verifier is asked with. */
export interface VerifierQuestion {
  readonly incidentId: string;
  /** A UUID of this question. */
  readonly id: string;
  readonly assets: readonly { readonly asset: string; readonly assetType: string | null }[];
}

// Far more than an answer for each of 192 assets takes.
const maxAnswerBytes = 1_024 * 1_024;
const answerSchema = z.object({
  results: z
    .array(
      z.object({ asset: z.string(), answer: z.enum(lookAnswers).catch("undecided"), detail: z.string().optional() }),
    )
    .max(10_000),
});

/**
 * Asks the operator's verifier once: one POST, signed as receivers' webhooks are (CONTRACT 7). Returns what it says of each asset by
 * its name; of one that it does not name, or in an unknown word, it says nothing.
 * @throws api_* when there is no answer of that form in time
 */
export async function askVerifier(
  { url, timeoutMs, sign }: VerifierSettings,
  { incidentId, id, assets }: VerifierQuestion,
  {
    dispatcher,
    clock,
    signal,
  }: { readonly dispatcher: HttpDispatcher; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<VerifierAnswers> {
  const body = JSON.stringify({ incidentId, assets });
  const { status, body: text } = await sendRequest(dispatcher, {
    method: "POST",
    url: url.reveal(),
    headers: { "content-type": "application/json", ...sign({ id, atMs: clock.nowMs(), body }) },
    body,
    signal: clock.timeout(timeoutMs, signal),
    maxBodyBytes: maxAnswerBytes,
  });
  if (status < 200 || status >= 300) throw new FlatlineError("api_server_error", `the verifier answered ${status}`);
  const answers = answersIn(text);
  if (answers === null) throw new FlatlineError("api_invalid_response", "the verifier's answer has no list of results");
  return answers;
}

/** Reads a verifier's answer that was recorded. @throws invalid_data for a file that is none */
export async function readRecorded(file: string): Promise<VerifierAnswers> {
  const bytes = await readFile(file);
  const text = file.endsWith(".gz") ? gunzipSync(bytes, { maxOutputLength: maxAnswerBytes }) : bytes;
  const answers = answersIn(text.toString());
  if (answers === null) throw new FlatlineError("invalid_data", `${file} has no list of results of a verifier`);
  return answers;
}

function answersIn(text: string): VerifierAnswers | null {
  const read = answerSchema.safeParse(parseJson(text));
  return read.success ? new Map(read.data.results.map(({ asset, answer }) => [asset, answer])) : null;
}
