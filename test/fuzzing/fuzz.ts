import { readFileSync, writeFileSync } from "node:fs";

import * as fc from "fast-check";

import { createSystemClock } from "../../src/base/time.ts";
import { createChance } from "../simulation/chance.ts";

/** An input of flatline: how to draw one, and what is wrong with the way in which it was answered. */
export interface Target {
  readonly name: string;
  /** Tries of the ordinary test run; the long form takes many times as many. */
  readonly tries: number;
  open(): Promise<OpenTarget>;
}

export interface OpenTarget extends AsyncDisposable {
  /** Returns one sentence for each broken promise, made by `random` alone. */
  readonly inputs: fc.Arbitrary<unknown>;
  attempt(input: unknown): Promise<readonly string[]>;
  /** The input as a person reads it, and can try it again. */
  show(input: unknown): string;
  /** What was accepted so far: a target that refuses everything checks nothing. */
  accepted(): number;
}

/** A target whose inputs have a type. */
export interface TypedTarget<Input> extends AsyncDisposable {
  readonly inputs: fc.Arbitrary<Input>;
  attempt(input: Input): Promise<readonly string[]>;
  show(input: Input): string;
  accepted(): number;
}

export function untyped<Input>(target: TypedTarget<Input>): OpenTarget {
  return {
    inputs: target.inputs,
    attempt: (input) => target.attempt(input as Input),
    show: (input) => target.show(input as Input),
    accepted: () => target.accepted(),
    [Symbol.asyncDispose]: () => target[Symbol.asyncDispose](),
  };
}

export interface Outcome {
  readonly target: string;
  readonly seed: number;
  readonly tries: number;
  readonly accepted: number;
  readonly slowestMs: number;
  /** What the most expensive try took, garbage included. */
  readonly peakBytes: number;
  readonly failure: { readonly complaints: readonly string[]; readonly input: string } | null;
}

const longestMs = 2_000;
// The daemon itself takes some 100 MB of 300; what reads its TypeScript here takes more than that, and is no part of it.
const mostBytes = 200 * 1_024 * 1_024;
// On a machine that is busy with other things an answer is late; one that is late each time has a reason of its own.
const attemptsBeforeBad = 3;
// What is found is made smaller for so long; a large input that is slow each time would take hours.
const shrinkingMs = 30_000;
const longestShown = 4_000;
const clock = createSystemClock();
const isLinux = process.platform === "linux";

/** Tries a target with inputs that the seed decides, until one of them is answered badly; that one is made as small as it gets. */
export async function fuzz(
  target: Target,
  {
    seed,
    tries,
    onInput,
  }: { readonly seed: number; readonly tries: number; readonly onInput?: (shown: string) => void },
): Promise<Outcome> {
  await using open = await target.open();
  let slowestMs = 0;
  let mostPeakBytes = 0;
  let complaints: readonly string[] = [];
  let foundAtMs = Infinity;

  async function attempt(input: unknown): Promise<boolean> {
    // Ends the run with the smallest one so far.
    if (clock.monotonicMs() - foundAtMs > shrinkingMs) throw new fc.PreconditionFailure(true);
    const isGood = await isAnsweredWell(input);
    if (!isGood && foundAtMs === Infinity) foundAtMs = clock.monotonicMs();
    return isGood;
  }

  async function isAnsweredWell(input: unknown): Promise<boolean> {
    onInput?.(open.show(input));
    let tookMs = Infinity;
    let peakBytes = 0;
    for (let time = 0; time < attemptsBeforeBad && (tookMs > longestMs || peakBytes > mostBytes); time++) {
      // Garbage of tries before is none of this one's.
      if (time > 0) globalThis.gc?.();
      const memory = watchMemory();
      const startedMs = clock.monotonicMs();
      const found = await open
        .attempt(input)
        .catch((error: unknown) => [`throws ${error instanceof Error ? error.stack : "no error"}`]);
      tookMs = clock.monotonicMs() - startedMs;
      peakBytes = memory.peakBytes();
      if (found.length > 0) {
        complaints = found;
        return false;
      }
    }
    slowestMs = Math.max(slowestMs, tookMs);
    mostPeakBytes = Math.max(mostPeakBytes, peakBytes);
    if (tookMs > longestMs) complaints = [`took ${Math.round(tookMs)} ms, ${attemptsBeforeBad} times in a row`];
    else if (peakBytes > mostBytes) complaints = [`took ${peakBytes} bytes of memory`];
    else return true;
    return false;
  }

  const run = await fc.check(fc.asyncProperty(open.inputs, attempt), {
    seed: createChance(seed).of(target.name).between(0, 0x7fff_ffff),
    numRuns: tries,
  });
  const input = run.counterexample?.[0];
  const failure = run.failed ? { complaints, input: cut(open.show(input)) } : null;
  return {
    target: target.name,
    seed,
    tries: run.numRuns,
    accepted: open.accepted(),
    slowestMs: Math.round(slowestMs),
    peakBytes: mostPeakBytes,
    failure,
  };
}

/** By how much the process has grown since, at its peak; where the kernel is not Linux nobody knows. */
function watchMemory(): { peakBytes(): number } {
  if (!isLinux) return { peakBytes: () => 0 };
  // proc_pid_clear_refs(5): the peak begins anew.
  writeFileSync("/proc/self/clear_refs", "5");
  const before = process.memoryUsage.rss();
  return {
    peakBytes: () => {
      const [, kilobytes = "0"] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
      return Math.max(0, Number(kilobytes) * 1_024 - before);
    },
  };
}

/** What is repeated often once, and how often. */
function cut(text: string): string {
  const short = text.replaceAll(/(.{1,8}?)\1{30,}/gs, (run, part: string) => `${part}(×${run.length / part.length})`);
  return short.length <= longestShown ? short : `${short.slice(0, longestShown)}… (${short.length} characters)`;
}
