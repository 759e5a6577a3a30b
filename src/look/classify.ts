import { cutText } from "../base/cut-text.ts";
import { blankUnseen } from "../base/unseen-text.ts";
import type { LookAnswer } from "../contract/second-opinion.ts";
import { isInRanges, rangesOf } from "./addresses.ts";

/** The last answer of a look over HTTP, after its redirects. */
export interface PageAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly body: string;
  /** Each URL that was asked, in order: redirects lead to parking services, too. */
  readonly urls: readonly string[];
}

/** Something that pages of one kind have and others do not. All texts in lower case. */
interface Mark {
  readonly of: string;
  readonly answer: "challenge" | "parked";
  /** It counts only in a refusal: pages that answer, or that are not found, may have a captcha somewhere. */
  readonly isOfRefusals?: boolean;
  /** Headers, with what their value contains. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whole titles: pages that phish say "account suspended", too, but not only that. */
  readonly titles?: readonly string[];
  /** Parts of the body; any of them is enough. */
  readonly body?: readonly string[];
  /** Hosts, with those below them, or paths that begin with a slash, of a URL that was asked. */
  readonly urls?: readonly string[];
}

// What the services publish of their pages, or put into each of them: names of headers, scripts and elements, not wording, where
// there is such. The first that holds counts; what shows death stands first, as a host puts its warning before its challenge.
const marks: readonly Mark[] = [
  {
    of: "warnings of hosts about phishing",
    answer: "parked",
    titles: ["suspected phishing site | cloudflare", "warning: suspected phishing site ahead!", "deceptive site ahead"],
    body: ["warning: suspected phishing site ahead!", "/cdn-cgi/phish-bypass", 'id="phishing-warning-interstitial"'],
  },
  {
    of: "seizures",
    answer: "parked",
    titles: ["this domain has been seized", "this website has been seized", "domain seized"],
    urls: ["seized.gov", "seizedservers.com"],
  },
  { of: "sinkholes", answer: "parked", headers: { "x-sinkhole": "" }, body: ["this domain has been sinkholed"] },
  {
    of: "suspended accounts (cPanel, Plesk, registrars)",
    answer: "parked",
    titles: [
      "account suspended",
      "this account has been suspended",
      "website suspended",
      "site suspended",
      "domain suspended",
      "this domain has been suspended",
      "this site has been suspended",
    ],
    body: ["/cgi-sys/suspendedpage.cgi", "this deployment has been disabled"],
    headers: { "x-vercel-error": "deployment_disabled" },
    urls: ["/cgi-sys/suspendedpage.cgi", "suspended-website.com", "suspendeddomain.org"],
  },
  {
    of: "Sedo",
    answer: "parked",
    body: ["img.sedoparking.com", "sedoparking.com/", "search_sedo_parking"],
    urls: ["sedoparking.com", "sedo.com"],
  },
  {
    of: "Bodis",
    answer: "parked",
    body: ['window.park = "', "parking.bodiscdn.com", "bodis.com/takeover"],
    urls: ["bodis.com"],
  },
  {
    of: "ParkingCrew, Team Internet",
    answer: "parked",
    body: ["parkingcrew.net", "d1lxhc4jvstzrp.cloudfront.net", "c.parkingcrew"],
    urls: ["parkingcrew.com", "parkingcrew.net"],
  },
  {
    of: "GoDaddy, Afternic",
    answer: "parked",
    body: ["window.lander_system", "img1.wsimg.com/parking-lander", 'window.location.href="/lander"'],
    urls: ["afternic.com", "/lander"],
  },
  { of: "Above.com", answer: "parked", body: ["above.com/marketplace", "trellian.com/parking"], urls: ["above.com"] },
  {
    of: "sellers of domains",
    answer: "parked",
    urls: ["hugedomains.com", "dan.com", "undeveloped.com", "buydomains.com", "domainmarket.com"],
  },
  {
    of: "pages of registrars",
    answer: "parked",
    body: [
      "parkingpage.namecheap.com",
      "registrar-servers.com/parking",
      "cdn.porkbun.com/parking",
      "parking.namesilo.com",
      "nsbrightpark",
    ],
    urls: ["parkingpage.namecheap.com", "parked.porkbun.com"],
  },
  { of: "AdSense for domains", answer: "parked", body: ["www.google.com/adsense/domains/caf.js"] },
  {
    of: "Cloudflare",
    answer: "challenge",
    headers: { "cf-mitigated": "challenge" },
    body: ["window._cf_chl_opt", "cf-captcha-container", "/orchestrate/chl_page/"],
  },
  { of: "Akamai", answer: "challenge", body: ["sec-if-cpt-container", "/_sec/cp_challenge/", "bm-verify="] },
  { of: "Imperva", answer: "challenge", isOfRefusals: true, body: ["_incapsula_resource", "incapsula incident id"] },
  {
    of: "Imperva",
    answer: "challenge",
    body: ["request unsuccessful. incapsula incident id", 'main-iframe" src="/_incapsula_resource'],
  },
  { of: "DataDome", answer: "challenge", body: ["captcha-delivery.com/"] },
  {
    of: "PerimeterX, HUMAN",
    answer: "challenge",
    isOfRefusals: true,
    body: ["window._pxappid", "px-captcha", "captcha.px-cdn.net"],
  },
  { of: "AWS WAF", answer: "challenge", headers: { "x-amzn-waf-action": "" } },
  { of: "Kasada", answer: "challenge", isOfRefusals: true, headers: { "x-kpsdk-ct": "" }, body: ["window.kpsdk"] },
  { of: "Sucuri", answer: "challenge", body: ["sucuri_cloudproxy_js"] },
  {
    of: "DDoS-Guard",
    answer: "challenge",
    isOfRefusals: true,
    titles: ["ddos-guard"],
    body: ["/.well-known/ddos-guard/"],
  },
  {
    of: "Vercel",
    answer: "challenge",
    headers: { "x-vercel-mitigated": "challenge" },
    titles: ["vercel security checkpoint"],
  },
  { of: "Anubis", answer: "challenge", body: ["/.within.website/x/cmd/anubis/"] },
  {
    of: "captchas in place of a page",
    answer: "challenge",
    isOfRefusals: true,
    body: [
      "hcaptcha.com/1/api.js",
      "google.com/recaptcha/",
      "recaptcha.net/recaptcha/",
      "challenges.cloudflare.com/turnstile",
      "geo.captcha",
    ],
  },
];

// Published sinkholes: Shadowserver, Spamhaus, CERT Polska, Microsoft's Digital Crimes Unit.
const sinkholes = rangesOf(["184.105.192.2/32", "216.218.185.162/32", "148.81.111.111/32", "199.2.137.0/24"]);

/** Returns whether an address is of a known sinkhole, so that its name is dead without a request. */
export function isSinkhole(address: string): boolean {
  return isInRanges(sinkholes, address);
}

const refusals: readonly number[] = [401, 403, 429, 503];

/** Returns what a page says of an asset (CONTRACT 16): a refusal proves nothing. */
export function classifyPage(page: PageAnswer): LookAnswer {
  const isAnswered = page.status >= 200 && page.status < 300;
  const seen = { ...page, body: page.body.toLowerCase(), title: titleOf(page.body)?.toLowerCase() ?? null };
  const isRefused = refusals.includes(page.status);
  const mark = marks.find((one) => (one.isOfRefusals !== true || isRefused) && bears(seen, one));
  return mark?.answer ?? (isAnswered ? "answers" : "undecided");
}

function bears(page: PageAnswer & { readonly title: string | null }, mark: Mark): boolean {
  return (
    Object.entries(mark.headers ?? {}).some(
      ([name, part]) => page.headers[name]?.toLowerCase().includes(part) === true,
    ) ||
    (page.title !== null && mark.titles?.includes(page.title) === true) ||
    mark.body?.some((part) => page.body.includes(part)) === true ||
    page.urls.some((url) => mark.urls?.some((part) => leadsTo(new URL(url), part)) === true)
  );
}

function leadsTo({ hostname, pathname }: URL, part: string): boolean {
  return part.startsWith("/") ? pathname === part : hostname === part || hostname.endsWith(`.${part}`);
}

// CONTRACT 16: what is kept of a page.
const longestTitle = 120;

/** Returns the title of a page as one line of at most 120 characters, as it is written; null without one. */
export function titleOf(body: string): string | null {
  // Bounded, so that a page cannot make it look long for the end of each of many tags.
  const [, text = ""] = /<title(?:\s[^>]{0,200})?>([^<]{0,1000})/i.exec(body) ?? [];
  const title = blankUnseen(text).replaceAll(/\s+/g, " ").trim();
  return title === "" ? null : cutText(title, longestTitle);
}
