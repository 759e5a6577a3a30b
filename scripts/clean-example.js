// The example's store is made anew at each `npm start`, so that it always shows the same picture; but not under an
// example that runs already, which the next line of `npm start` will say.
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";

// As in config.example.yaml.
const socket = connect(9640, "127.0.0.1", () => socket.destroy());
socket.on("error", () => {
  for (const name of ["example", "example-events"]) {
    for (const suffix of ["", "-wal", "-shm"]) {
      rmSync(fileURLToPath(new URL(`../data/${name}.db${suffix}`, import.meta.url)), { force: true });
    }
  }
});
