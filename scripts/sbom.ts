import { spawnSync } from "node:child_process";

import { z } from "zod";

const componentSchema = z.looseObject({ "bom-ref": z.string(), name: z.string(), version: z.string() });
const sbomSchema = z.looseObject({
  metadata: z.looseObject({ component: componentSchema }),
  components: z.array(componentSchema),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

/** A bill of materials in CycloneDX's JSON. */
export type Sbom = z.infer<typeof sbomSchema>;

interface SbomOptions {
  /** The clone's folder, with its package-lock.json. */
  readonly root: string;
  readonly name: string;
  /** What is inside the package, as `NAME@VERSION`. */
  readonly libraries: readonly string[];
  /** The tarball's SHA-512, in hex. */
  readonly sha512: string;
}

/**
 * Returns the bill of materials of the package. npm knows licences, checksums and origins of all that the lock names; of that it
 * holds the libraries that are inside, which to npm are development dependencies like any other.
 * @throws when npm does not know one of them.
 */
export function createSbom({ root, name, libraries, sha512 }: SbomOptions): Sbom {
  const npm = spawnSync("npm", ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1_024 ** 2,
  });
  if (npm.status !== 0) throw new Error(`npm sbom failed: ${npm.stderr}`);
  const all = sbomSchema.parse(JSON.parse(npm.stdout));
  const known = new Map(all.components.map((component) => [`${component.name}@${component.version}`, component]));
  const components = libraries.map((library) => {
    const component = known.get(library);
    if (component === undefined) throw new Error(`npm sbom does not list ${library}: run npm run build`);
    const { properties: _, ...kept } = component;
    // npm leaves out a licence that it does not know: htmx's says "BSD-0-Clause", which SPDX calls 0BSD.
    return library.startsWith("htmx.org@") ? { ...kept, licenses: [{ license: { id: "0BSD" } }] } : kept;
  });
  const refs = new Set(components.map((component) => component["bom-ref"]));
  const own = all.metadata.component;
  return {
    ...all,
    metadata: {
      ...all.metadata,
      // npm names the root by its folder.
      component: { ...own, name, type: "application", hashes: [{ alg: "SHA-512", content: sha512 }] },
    },
    components,
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref) || ref === own["bom-ref"])
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
  };
}
