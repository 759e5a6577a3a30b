import diagnostics from "node:diagnostics_channel";
import type { Socket } from "node:net";

import { describe, expect, it } from "vitest";

import { startLookWorld, type Page } from "../../../test/support/look/look-world.ts";
import { createSystemClock } from "../../base/time.ts";
import { isPublicAddress } from "../addresses.ts";
import { seededRandom } from "../sample.ts";
import { createLookAt } from "./look-at.ts";

// In ten thousand looks at hostile names and redirects, what counts is which connections are made.
const looks = 10_000;
const atOnce = 50;

describe("ten thousand hostile names and redirects", () => {
  it("lead to no connection but the proxy's, and there to no address that is refused", async () => {
    const random = seededRandom("refusals");
    const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
    const byte = (): number => Math.floor(random() * 256);
    const near = [
      "10.0.0.",
      "127.0.0.",
      "169.254.169.",
      "172.16.0.",
      "192.168.1.",
      "100.64.0.",
      "198.18.0.",
      "0.0.0.",
      "224.0.0.",
      "192.0.2.",
      "168.63.129.",
    ];
    const v4 = (): string =>
      one([
        () => `${one(near)}${one([16, 1, 254, byte()])}`,
        () => [byte(), byte(), byte(), byte()].join("."),
        () => "8.8.4.4",
      ])();
    const hex = (address: string): string =>
      address
        .split(".")
        .map((part) => Number(part).toString(16).padStart(2, "0"))
        .join("");
    const v6 = (): string => {
      const held = hex(v4());
      const groups = `${held.slice(0, 4)}:${held.slice(4)}`;
      return one([
        `::ffff:${groups}`,
        `::${groups}`,
        `64:ff9b::${groups}`,
        `2002:${groups}::1`,
        "::1",
        "fe80::1",
        "fd00::1",
        "2a00:1450::5",
        `2001:db8::${groups}`,
        `3fff::${groups}`,
      ]);
    };
    const literal = (): string => {
      const address = v4();
      const parts = address.split(".").map(Number);
      const number = Number.parseInt(hex(address), 16);
      return one([
        address,
        `[${v6()}]`,
        `[::ffff:${address}]`,
        String(number),
        `0x${number.toString(16)}`,
        parts.map((part) => `0${part.toString(8)}`).join("."),
        parts.map((part) => `0x${part.toString(16)}`).join("."),
        `${parts[0]}.${number & 0xff_ffff}`,
        address.replaceAll(".", "。"),
        `${address}.`,
      ]);
    };
    let count = 0;
    const host = (): string =>
      one([
        () => `n${count++}.example`,
        () => `n${count++}.example`,
        literal,
        () => "localhost",
        () => "platform.example",
      ])();
    const place = (): string =>
      `${one(["http:", "https:", "http:", "ftp:", "HTTP:", ""])}${one(["//", "//", "//", "/\\", "\\\\", "///"])}${one(["", "", "", "u@", "a:b@", "8.8.8.8@"])}${host()}${one(["", "", "", ":80", ":443", ":22", ":0"])}/${one(["", "a", "..//", "?#@"])}`;
    const page: Page = (_, response) =>
      random() < 0.7
        ? response
            .writeHead(one([301, 302, 303, 307, 308]), { location: Buffer.from(place()).toString("latin1") })
            .end()
        : response.end("ok");
    const answer = (): readonly string[] =>
      Array.from({ length: one([1, 1, 1, 2, 3]) }, () => one([v4, v4, v6, () => "8.8.4.4"])());
    const names = new Proxy({}, { get: () => answer });
    await using world = await startLookWorld({
      names,
      pages: () => page,
      hosts: ["platform.example"],
      timeoutMs: 2_000,
    });
    const proxyPort = Number(new URL(world.settings.http?.proxy ?? "").port);
    const connected: string[] = [];
    const note = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket };
      socket.once("connect", () => connected.push(`${socket.remoteAddress}:${socket.remotePort}`));
    };
    diagnostics.subscribe("net.client.socket", note);
    const look = createLookAt(world.settings, createSystemClock());

    const worker = async (): Promise<string[]> => {
      const answers: string[] = [];
      while (answers.length < looks / atOnce) {
        const url = place();
        answers.push(
          (await look({ urls: [/^https?:\/\//i.test(url) ? url : `http://${host()}/`], isDnsOnly: false })).answer,
        );
      }
      return answers;
    };
    const answers = (await Promise.all(Array.from({ length: atOnce }, worker))).flat();
    diagnostics.unsubscribe("net.client.socket", note);

    const authorities = world.proxy.asked.map(({ authority }) => new URL(`tcp://${authority}`));
    const refused = authorities.filter(
      ({ hostname, port }) => !isPublicAddress(hostname.replace(/^\[|\]$/g, "")) || !["80", "443"].includes(port),
    );
    expect(refused.map(String)).toStrictEqual([]);
    // The proxy and the servers behind it are in this process, too.
    expect(connected.filter((one) => !one.startsWith("127.0.0.1:"))).toStrictEqual([]);
    expect(connected.filter((one) => one === `127.0.0.1:${proxyPort}`)).toHaveLength(authorities.length);
    // It was a test of something.
    expect(answers).toHaveLength(looks);
    expect(authorities.length).toBeGreaterThan(looks / 10);
    expect(new Set(answers)).toContain("answers");
  });
});
