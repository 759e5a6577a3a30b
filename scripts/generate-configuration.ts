// Writes what is made from the configuration's schema: flatline.schema.json, and the reference in docs/configuration.md.
import { readFile, writeFile } from "node:fs/promises";

import { renderJsonSchema } from "../src/config/schema/json-schema.ts";
import { refreshConfigurationDocs } from "./configuration-docs.ts";

const docs = new URL("../docs/configuration.md", import.meta.url);
await writeFile(new URL("../flatline.schema.json", import.meta.url), renderJsonSchema());
await writeFile(docs, await refreshConfigurationDocs(await readFile(docs, "utf8")));
