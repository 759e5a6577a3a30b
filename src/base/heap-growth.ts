import { setFlagsFromString } from "node:v8";

/**
 * Holds V8's heap near what is in use, while something large is read of which little is kept: V8 lets megabytes of garbage lie
 * until the heap is several times as large, and takes what dies with one answer for what lives long. Without it 100 answers of
 * 3 MB take 350 MB, with it 160 MB (measured 2026-11-22).
 */
export function holdHeap(): void {
  // The young generation stays as large as it is, the old one grows by a fifth between two collections.
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=20");
}

/** Lets the heap grow as ever: these are the values that V8 begins with. */
export function releaseHeap(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
  setFlagsFromString("--heap-growing-percent=0");
}
