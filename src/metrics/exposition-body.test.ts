import { gunzipSync, createGunzip } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { encodeParts, textPart, type ExpositionPart } from "./exposition-body.ts";

describe("the body of an exposition", () => {
  it("is, gzipped or not, the parts one after the other", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "grapheme", maxLength: 300 }), { maxLength: 8 }), async (texts) => {
        const parts = texts.map(textPart);

        const [plain, gzipped] = [await encodeParts(parts, "identity"), await encodeParts(parts, "gzip")];

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
    const body = await encodeParts([textPart("a 1\n".repeat(50_000)), textPart("b 2\n".repeat(50_000))], "gzip");

    gunzip.end(body);
    await new Promise((resolve) => gunzip.on("end", resolve));

    expect(read).toBe(400_000);
    expect(gunzip.bytesWritten).toBe(body.length);
    expect(body.length).toBeLessThan(10_000);
  });

  it("compresses a part again when its revision is another, and only then", async () => {
    const revision = {};
    const part = (text: string, revision: object | null): ExpositionPart => ({
      chunks: [Buffer.from(text)],
      revision,
    });
    await encodeParts([part("a 1\n", revision)], "gzip");

    // The checksum is of the bytes as they are: a compression that was kept of others would not fit it.
    const kept = await encodeParts([part("a 1\n", revision)], "gzip");
    const stale = await encodeParts([part("a 2\n", revision)], "gzip");
    const fresh = await encodeParts([part("a 2\n", {})], "gzip");

    expect(gunzipSync(kept).toString()).toBe("a 1\n");
    expect(() => gunzipSync(stale)).toThrow("incorrect data check");
    expect(gunzipSync(fresh).toString()).toBe("a 2\n");
  });

  it.each(["identity", "gzip"] as const)("as %s is a copy: what changes meanwhile is not in it", async (encoding) => {
    const chunk = Buffer.from("a 1\n".repeat(100_000));

    const answer = encodeParts([{ chunks: [chunk], revision: {} }], encoding);
    chunk.fill("b 2\n");

    const body = await answer;
    expect((encoding === "gzip" ? gunzipSync(body) : body).toString()).toBe("a 1\n".repeat(100_000));
  });
});
