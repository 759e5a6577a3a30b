import { crc32 } from "node:zlib";

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

const signatureBytes = 8;

/** Returns one animated PNG (APNG 1.0) of pictures of one size and kind, each shown for so many milliseconds, over and over. */
export function animate(frames: readonly { readonly png: Buffer; readonly shownMs: number }[]): Buffer {
  const [first] = frames;
  if (first === undefined) throw new Error("there is no picture");
  const header = chunksOf(first.png).find(({ type }) => type === "IHDR")?.data ?? Buffer.alloc(0);
  const control = Buffer.alloc(8);
  control.writeUInt32BE(frames.length, 0);
  let sequence = 0;
  const body = frames.flatMap(({ png, shownMs }, index) => {
    const pixels = Buffer.concat(chunksOf(png).flatMap(({ type, data }) => (type === "IDAT" ? [data] : [])));
    const frame = Buffer.alloc(26);
    frame.writeUInt32BE(sequence++, 0);
    // Width and height as the header has them, at the left upper corner.
    header.copy(frame, 4, 0, 8);
    frame.writeUInt16BE(shownMs, 20);
    frame.writeUInt16BE(1_000, 22);
    const shown = chunk("fcTL", frame);
    if (index === 0) return [shown, chunk("IDAT", pixels)];
    const number = Buffer.alloc(4);
    number.writeUInt32BE(sequence++, 0);
    return [shown, chunk("fdAT", Buffer.concat([number, pixels]))];
  });
  const end = chunk("IEND", Buffer.alloc(0));
  const signature = first.png.subarray(0, signatureBytes);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("acTL", control), ...body, end]);
}

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = signatureBytes; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, check]);
}
