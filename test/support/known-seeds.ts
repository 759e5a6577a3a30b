import fc from "fast-check";

import { isLong } from "./tier.ts";

// What explores never decides about somebody's commit: properties try the same cases each time, and fresh ones at
// night, when a failure prints its seed and path (fast-check).
if (!isLong) fc.configureGlobal({ seed: 20_261_121 });
