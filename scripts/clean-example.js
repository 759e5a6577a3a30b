// The example's store is made anew at each `npm start`, so that it always shows the same picture.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

for (const suffix of ["", "-wal", "-shm"]) {
  rmSync(fileURLToPath(new URL(`../data/example.db${suffix}`, import.meta.url)), { force: true });
}
