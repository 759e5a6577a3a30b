import { describe, expect, it } from "vitest";

import type { Notification } from "../../alerting/notify/notification.ts";
import { notifications } from "../../../test/support/notifications.ts";
import { checkTemplate, compileTemplate } from "./template.ts";

const json = "application/json";

function sample(slug = "acme"): Notification {
  const { firing } = notifications();
  if (firing === undefined) throw new Error("no sample");
  return { ...firing, alerts: firing.alerts.map((alert) => ({ ...alert, slug })) };
}

function render(text: string, contentType = json, slug = "acme"): string {
  return compileTemplate(text, contentType)(sample(slug));
}

describe("compileTemplate", () => {
  it.each([
    ["JSON", json, '{"text":"{{ alerts[0].slug }}"}', '{"text":"a\\",\\"b\\\\\\n<&>"}'],
    ["HTML", "text/html", "<b>{{ alerts[0].slug }}</b>", "<b>a&#34;,&#34;b\\\n&#60;&#38;&#62;</b>"],
    ["a form", "application/x-www-form-urlencoded", "text={{ alerts[0].slug }}", "text=a%22%2C%22b%5C%0A%3C%26%3E"],
    ["text", "text/plain", "{{ alerts[0].slug }}", 'a","b\\\n<&>'],
    ["JSON, of a whole value", json, "{{ alerts[0].slug | json }}", '"a\\",\\"b\\\\\\n<&>"'],
  ])("escapes for %s", (_what, contentType, text, body) => {
    expect(render(text, contentType, 'a","b\\\n<&>')).toBe(body);
  });

  it.each([
    ["a form, by url_encode", "application/x-www-form-urlencoded", "t={{ s | url_encode }}", "t=R%26D%20%22%3Cb%3E"],
    ["a form, as JSON", "application/x-www-form-urlencoded", "t={{ s | json }}", "t=%22R%26D%20%5C%22%3Cb%3E%22"],
    [
      "a form, for HTML",
      "application/x-www-form-urlencoded",
      "t={{ s | escape }}",
      "t=R%26amp%3BD%20%26%2334%3B%26lt%3Bb%26gt%3B",
    ],
    ["HTML, by escape", "text/html", "{{ s | escape | strip }}", "R&#38;D &#34;&#60;b&#62;"],
    ["HTML, by raw", "text/html", "{{ s | raw }}", "R&#38;D &#34;&#60;b&#62;"],
    ["HTML, as JSON", "text/html", "{{ s | json }}", "&#34;R&#38;D \\&#34;&#60;b&#62;&#34;"],
    ["HTML, echoed", "text/html", "{% echo s %}", "R&#38;D &#34;&#60;b&#62;"],
    [
      "HTML, captured",
      "text/html",
      "{% capture c %}{{ s }}{% endcapture %}{{ c | upcase }}",
      "R&#38;D &#34;&#60;B&#62;",
    ],
    [
      "JSON, captured",
      json,
      '{% capture c %}{% capture d %}"{{ s }}"{% endcapture %}{{ d }}{% endcapture %}"{{ c }}"',
      '"\\"R&D \\"<b>\\""',
    ],
    [
      "JSON, whole",
      json,
      '{"a":{{ s | json | raw }},"b":{{ s | jsonify | default: "" }}}',
      '{"a":"R&D \\"<b>","b":"R&D \\"<b>"}',
    ],
    ["text, as JSON", "text/plain", "{{ s | json }}", '"R&D \\"<b>"'],
    ["text, captured", "text/plain", "{% capture c %}{{ s }}{% endcapture %}{{ c }}", 'R&D "<b>'],
  ])("escapes each value once for %s", (_what, contentType, text, body) => {
    expect(render(`{% assign s = alerts[0].slug %}${text}`, contentType, 'R&D "<b>')).toBe(body);
  });

  it("writes numbers, booleans, nulls and the whole payload", () => {
    const body = render(
      '{"n": {{ alerts[0].peak.currentCount }}, "d": {{ alerts[0].isDrill }}, ' +
        '"e": "{{ alerts[0].endsAt }}", "p": {{ payload | json }}}',
    );

    expect(JSON.parse(body)).toMatchObject({
      n: 120,
      d: false,
      e: "",
      p: { version: "1", alerts: [{ slug: "acme" }] },
    });
  });

  it.each([
    ["include", '{% include "/etc/passwd" %}'],
    ["render", '{% render "/etc/passwd" %}'],
    ["an unknown filter", "{{ id | shout }}"],
    ["an unclosed tag", "{% if id %}"],
    ["a text that is too long", "x".repeat(100_001)],
  ])("refuses %s", (_what, text) => {
    expect(() => render(text, "text/plain")).toThrow(expect.objectContaining({ code: "invalid_config" }));
  });

  it.each([
    ["a variable that is not there", "{{ alerts[0].nothing }}"],
    ["what only a prototype has", "{{ alerts[0].slug.constructor.name }}"],
    [
      "a loop without an end in sight",
      "{% for a in (1..100000000) %}{% for b in (1..100000000) %}x{% endfor %}{% endfor %}",
    ],
    [
      "a text that grows without bound",
      '{% assign s = "xxxxxxxx" %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}{{ s }}',
    ],
  ])("ends at %s", (_what, text) => {
    expect(() => render(text, "text/plain")).toThrow(expect.objectContaining({ code: "invalid_config" }));
  });
});

describe("checkTemplate", () => {
  it("accepts a template that can word every kind of notification", () => {
    const text =
      '{"text": "{{ summary }}", "who": [{% for alert in alerts %}' +
      '"{{ alert.slug }}{% if alert.error %} {{ alert.error.reason }}{% endif %}"' +
      "{% unless forloop.last %},{% endunless %}{% endfor %}]}";

    expect(() => checkTemplate(text, json)).not.toThrow();
  });

  it("names the kind that a template can't word", () => {
    expect(() => checkTemplate("{{ alerts[0].sample[0].asset }}", "text/plain")).toThrow(
      /sample of kind "resolved": .*undefined variable/,
    );
  });
});

describe("what a template sees of dead assets", () => {
  const kinds: Readonly<Record<string, Notification>> = notifications();
  const renderOf = (kind: string, text: string): string => {
    const notification = kinds[kind];
    if (notification === undefined) throw new Error("no sample");
    return compileTemplate(text, "text/plain")(notification);
  };

  it("is each address broken, and as it is under another name", () => {
    expect(renderOf("firing", "{{ alerts[0].sample[0].asset }} {{ alerts[0].sample[0].asset_raw }}")).toBe(
      "hxxps://login[.]example[.]com/en https://login.example.com/en",
    );
    expect(renderOf("fleet", "{{ fleet.sample[1].asset }} {{ fleet.sample[1].asset_raw }}")).toBe(
      "support[at]acme-help[.]example support@acme-help.example",
    );
  });

  it("is no address in findings, errors and actions that somebody could follow, but the application's", () => {
    const text = ["sentinel", "healthcheck", "unknown"]
      .map((kind) => renderOf(kind, "{{ payload | json }}"))
      .join("\n");

    expect(text).toContain("see hxxps://evil[.]example/a?b=c.d");
    expect(text).toContain("login[.]acme[.]example is known to be alive");
    expect(text).toContain("GET hxxps://evil[.]example/login:");
    expect(text).toContain("See https://app.example.com/o/acme, not ftp[:]//files[.]evil[.]example/x.");
    expect(text).not.toMatch(/\/\/(?:files\.)?evil\.example/);
  });
});
