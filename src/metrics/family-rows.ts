import type { ExpositionFormat } from "./exposition.ts";

/**
 * The lines of one metric family for many targets, as bytes that are ready to be sent. A change costs a copy within one small
 * block when it happens, so that a scrape has nothing to do but to concatenate.
 */
export interface FamilyRows {
  /** Replaces all lines of a target in this family; "" removes them. Targets are numbers from 0, without large gaps. */
  write(target: number, lines: string): void;
  /** Replaces the end of a target's lines by as many characters of ASCII: what is before them stays. */
  writeTail(target: number, tail: string): void;
  /** What was written last. */
  read(target: number): string;
  /** The lines of all targets in order. The bytes are those that the next write changes: they are copied in the same turn. */
  blocks(): readonly Buffer[];
  /** Another object after each change: what was computed of the bytes in a format (their compression) is kept under it. */
  revision(format: ExpositionFormat): object;
}

interface Block {
  bytes: Buffer;
  /** Where the lines of each of its targets end in `bytes`. */
  readonly ends: Uint32Array;
}

// Of 64, 128, 256 and 512: a line that becomes longer moves 10 KB on average, and 10,000 targets are 79 blocks to join.
const targetsPerBlock = 128;
const spareFactor = 1.25;
// UTF-16 to UTF-8: one code unit becomes at most three bytes.
const mostBytesPerUnit = 3;

/** An empty family. */
export function createFamilyRows(): FamilyRows {
  const blocks: Block[] = [];
  let revisions: Partial<Record<ExpositionFormat, object>> = {};
  let encoded = Buffer.alloc(1_024);

  function encode(lines: string): number {
    if (encoded.length < lines.length * mostBytesPerUnit) encoded = Buffer.alloc(lines.length * mostBytesPerUnit);
    return encoded.write(lines);
  }

  function blockOf(target: number): Block {
    const index = Math.floor(target / targetsPerBlock);
    while (blocks.length <= index) blocks.push({ bytes: Buffer.alloc(0), ends: new Uint32Array(targetsPerBlock) });
    return blocks[index] ?? { bytes: Buffer.alloc(0), ends: new Uint32Array(targetsPerBlock) };
  }

  return {
    write: (target, lines) => {
      const block = blockOf(target);
      const { startByte, endByte } = rowSpan(block, target);
      const byteLength = encode(lines);
      const isSameLength = byteLength === endByte - startByte;
      if (isSameLength && encoded.compare(block.bytes, startByte, endByte, 0, byteLength) === 0) return;
      if (!isSameLength) resizeRow(block, target, byteLength);
      encoded.copy(block.bytes, startByte, 0, byteLength);
      revisions = {};
    },
    writeTail: (target, tail) => {
      const block = blockOf(target);
      block.bytes.write(tail, rowSpan(block, target).endByte - tail.length, "latin1");
      revisions = {};
    },
    read: (target) => {
      const block = blockOf(target);
      const { startByte, endByte } = rowSpan(block, target);
      return block.bytes.toString("utf8", startByte, endByte);
    },
    blocks: () => blocks.map((block) => block.bytes.subarray(0, usedBytes(block))),
    revision: (format) => (revisions[format] ??= {}),
  };
}

function rowSpan({ ends }: Block, target: number): { startByte: number; endByte: number } {
  const slot = target % targetsPerBlock;
  return { startByte: slot === 0 ? 0 : (ends[slot - 1] ?? 0), endByte: ends[slot] ?? 0 };
}

function usedBytes({ ends }: Block): number {
  return ends.at(-1) ?? 0;
}

/** Moves what follows the lines of a target, so that there is room for `byteLength` bytes. */
function resizeRow(block: Block, target: number, byteLength: number): void {
  const { startByte, endByte } = rowSpan(block, target);
  const usedBefore = usedBytes(block);
  const grownBy = byteLength - (endByte - startByte);
  if (usedBefore + grownBy > block.bytes.length) {
    // Not of Node's pool: a block lives long and would keep the whole piece of the pool.
    const larger = Buffer.allocUnsafeSlow(Math.ceil((usedBefore + grownBy) * spareFactor));
    block.bytes.copy(larger, 0, 0, usedBefore);
    block.bytes = larger;
  }
  block.bytes.copyWithin(endByte + grownBy, endByte, usedBefore);
  for (let slot = target % targetsPerBlock; slot < targetsPerBlock; slot++) {
    block.ends[slot] = (block.ends[slot] ?? 0) + grownBy;
  }
}
