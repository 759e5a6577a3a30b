import { gunzipSync, createGunzip } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { encodeParts, textPart, type ExpositionEncoding, type ExpositionPart } from "./exposition-body.ts";

async function bodyOf(parts: readonly ExpositionPart[], encoding: ExpositionEncoding): Promise<Buffer> {
  return Buffer.concat(await encodeParts(parts, encoding));
}

describe("the body of an exposition", () => {
  it("is, gzipped or not, the parts one after the other", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "grapheme", maxLength: 300 }), { maxLength: 8 }), async (texts) => {
        const parts = texts.map(textPart);

        const [plain, gzipped] = [await bodyOf(parts, "identity"), await bodyOf(parts, "gzip")];

        expect(plain.toString()).toBe(texts.join(""));
        expect(gunzipSync(gzipped).toString()).toBe(texts.join(""));
      }),
      { numRuns: 30 },
    );
  });

  it("is one gzip member, which every client reads to its end", async () => {
    const gunzip = createGunzip();
    let read = 0;
    gunzip.on("data", (chunk: Buffer) => (read += chunk.length));
    const body = await bodyOf([textPart("a 1\n".repeat(50_000)), textPart("b 2\n".repeat(50_000))], "gzip");

    gunzip.end(body);
    await new Promise((resolve) => gunzip.on("end", resolve));

    expect(read).toBe(400_000);
    expect(gunzip.bytesWritten).toBe(body.length);
    expect(body.length).toBeLessThan(10_000);
  });

  it("keeps the compression of a part as long as its bytes are the same", async () => {
    const bytes = Buffer.from("a 1\n");
    const part: ExpositionPart = { bytes, isKept: true };
    await bodyOf([part], "gzip");
    bytes.write("a 2\n");

    // The checksum is of the bytes as they are: a compression that was kept of others does not fit it.
    const kept = await bodyOf([part], "gzip");
    const fresh = await bodyOf([{ bytes: Buffer.from("a 2\n"), isKept: true }], "gzip");

    expect(() => gunzipSync(kept)).toThrow("incorrect data check");
    expect(gunzipSync(fresh).toString()).toBe("a 2\n");
  });
});
