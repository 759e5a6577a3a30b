import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

import { describe, expect, it } from "vitest";

import { createBlock, createByteBudget, receiveBody } from "./request-body.ts";

function* piecesOf(text: string, pieceBytes: number): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < text.length; at += pieceBytes) yield new TextEncoder().encode(text.slice(at, at + pieceBytes));
}

describe("createBlock", () => {
  it.each([1, 7, 1_024, 5_000, 1_000_000])("joins pieces of %i bytes and keeps at most the first", (pieceBytes) => {
    const text = "0123456789".repeat(2_345);
    const block = createBlock(100_000);

    for (const piece of piecesOf(text, pieceBytes)) block.add(piece);

    const bytes = block.bytes();
    expect(bytes.toString("latin1")).toBe(text);
    expect(bytes.buffer.byteLength).toBeLessThanOrEqual(2 * text.length);
  });

  it("takes as much as it may, in no more memory than that", () => {
    const block = createBlock(3_000);

    for (const piece of piecesOf("x".repeat(3_000), 700)) block.add(piece);

    const bytes = block.bytes();
    expect([bytes.length, bytes.buffer.byteLength]).toEqual([3_000, 3_000]);
  });
});

const refusal = expect.objectContaining({ code: "unavailable" });

describe("createByteBudget", () => {
  it("lets all holders together have so much, and nobody a byte more", () => {
    const budget = createByteBudget(10);
    const [one, other] = [budget.open(), budget.open()];
    one.hold(6);
    other.hold(3);

    expect(() => other.hold(2)).toThrow(refusal);
    other.hold(1);
    one.release();

    other.hold(6);
    expect(() => one.hold(1)).toThrow(refusal);
  });

  it("keeps for others what a part of it may not have", () => {
    const budget = createByteBudget(10);
    const [large, small, rest] = [budget.part(8).open(), budget.part(3).open(), budget.open()];

    expect(() => large.hold(9)).toThrow(refusal);
    large.hold(8);
    expect(() => small.hold(3)).toThrow(refusal);
    rest.hold(2);
    large.release();

    expect(() => small.hold(4)).toThrow(refusal);
    small.hold(3);
  });
});

it("a body that breaks off is refused, and holds nothing any more", async () => {
  const budget = createByteBudget(10);
  const request = new IncomingMessage(new Socket());
  const reading = receiveBody(request, new ServerResponse(request), { mostBytes: 10, budget });

  request.push("12345");
  setImmediate(() => request.destroy());

  await expect(reading).rejects.toMatchObject({ code: "invalid_data", message: "the body broke off" });
  budget.open().hold(10);
});
