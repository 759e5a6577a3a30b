import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";

import { z } from "zod";

import { cutText, blankUnseen } from "../base/outside-text.ts";
import { FlatlineError } from "../base/errors.ts";
import { sendRequest } from "../base/http.ts";
import type { HttpDispatcher } from "../base/http-dispatcher.ts";
import { parseJson } from "../base/json.ts";
import type { Secret } from "../base/secret.ts";
import type { Clock } from "../base/time.ts";
import { lookAnswers } from "../contract/second-opinion.ts";

interface VerifierService {
  readonly url: Secret;
  readonly timeoutMs: number;
  readonly sign: (message: { id: string; atMs: number; body: string }) => Readonly<Record<string, string>>;
}

/** A service, or a file with an answer for examples and tests. */
export type Verifier = VerifierService | { readonly file: string };

// Far more than the answers for 192 assets need.
const maxAnswerBytes = 1_024 * 1_024;
// One line on a page.
const longestDetail = 200;
const detailSchema = z.string().transform((text) => cutText(blankUnseen(text), longestDetail));
const wordSchema = z.enum(lookAnswers).catch("undecided");
const resultSchema = z.object({ asset: z.string(), answer: wordSchema, detail: detailSchema.nullable().default(null) });
const answerSchema = z.object({ results: z.array(resultSchema).max(10_000) });

export type VerifierAnswers = ReadonlyMap<string, z.infer<typeof resultSchema>>;

/**
 * Asks the verifier once; `id` identifies the question. Assets missing in the answer are missing here, and an unknown
 * word is undecided.
 * @throws FlatlineError api_*: no valid answer in time; the file system's error: the file cannot be read
 */
export async function askVerifier(
  verifier: Verifier,
  question: { readonly incidentId: string; readonly assets: readonly object[] },
  by: { readonly id: string; readonly dispatcher: HttpDispatcher; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<VerifierAnswers> {
  const text =
    "file" in verifier ? await readAnswer(verifier.file) : await post(verifier, JSON.stringify(question), by);
  const read = answerSchema.safeParse(parseJson(text));
  if (!read.success) throw new FlatlineError("api_invalid_response", "the verifier's answer has no list of results");
  return new Map(read.data.results.map((result) => [result.asset, result]));
}

async function readAnswer(file: string): Promise<string> {
  const bytes = await readFile(file);
  return (file.endsWith(".gz") ? gunzipSync(bytes, { maxOutputLength: maxAnswerBytes }) : bytes).toString();
}

/** Sends one POST, signed like a webhook (CONTRACT 7). */
async function post(verifier: VerifierService, body: string, by: Parameters<typeof askVerifier>[2]): Promise<string> {
  const { status, body: text } = await sendRequest(by.dispatcher, {
    method: "POST",
    url: verifier.url.reveal(),
    headers: { "content-type": "application/json", ...verifier.sign({ id: by.id, atMs: by.clock.nowMs(), body }) },
    body,
    signal: by.clock.timeout(verifier.timeoutMs, by.signal),
    maxBodyBytes: maxAnswerBytes,
  });
  if (status < 200 || status >= 300) throw new FlatlineError("api_server_error", `the verifier answered ${status}`);
  return text;
}
