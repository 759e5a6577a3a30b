import { readList } from "../../../src/discovery/list.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { mutatedText } from "../mutate.ts";
import { complaintsOfText } from "../promises.ts";
import { treeOf } from "../tree.ts";

const samples = [
  ["acme", "globex", "eu/initech"],
  [
    { slug: "acme", labels: { team: "trust" }, timezone: "Europe/Berlin", schedule: "*/5 * * * *" },
    { slug: "globex", thresholds: { windowHours: 12, failMultiplier: 6.5, minSpikeCount: 1 } },
    "initech",
  ],
  [{ targets: ["acme", "globex"], labels: { team: "trust", __meta_source: "x" } }, { targets: [] }],
].map(treeOf);

/** Lists of organizations that another system gives: read the same again when they are taken. */
export const organizationListsTarget: Target = {
  name: "organization-lists",
  tries: 300,
  open: async (): Promise<OpenTarget> => {
    let accepted = 0;
    const limits = { maxOrganizations: 100 };
    return untyped({
      inputs: mutatedText(samples),
      attempt: async (bytes: Buffer) => {
        const read = readList(bytes.toString(), limits);
        if (read.kind === "refused") {
          const complaints = complaintsOfText(read.reason);
          return read.reason.length > 400
            ? [...complaints, `a reason of ${read.reason.length} characters`]
            : complaints;
        }
        accepted++;
        const { organizations } = read;
        const complaints = organizations.flatMap(({ slug }) =>
          isSlug(slug) ? [] : [`${JSON.stringify(slug)} is taken as a slug`],
        );
        const again = readList(JSON.stringify(organizations), limits);
        if (JSON.stringify(again) !== JSON.stringify(read)) complaints.push("what is taken is read otherwise again");
        if (organizations.length > limits.maxOrganizations) complaints.push("more than maxOrganizations are taken");
        return complaints;
      },
      show: (bytes: Buffer) => bytes.toString(),
      accepted: () => accepted,
      [Symbol.asyncDispose]: async () => undefined,
    });
  },
};

function isSlug(slug: string): boolean {
  // eslint-disable-next-line no-control-regex -- that is what is looked for
  return slug !== "" && slug.length <= 256 && slug.trim() === slug && !/[\u0000-\u001f\u007f]/.test(slug);
}
