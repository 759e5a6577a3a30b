import { createSystemClock } from "../../src/base/time.ts";
import { openStore } from "../../src/store/open.ts";
import { Board } from "../../src/store/runs/board.ts";

// A process of its own: opens the store whose path is the argument and reads the board, cold. The answer is one line of JSON.

const [path = ""] = process.argv.slice(2);
const store = await openStore({ path, clock: createSystemClock() });
const startedAtMs = performance.now();
const board = new Board();
await board.reload(() => store.runs.load());
const boardMs = performance.now() - startedAtMs;
if (board.states().length === 0) throw new Error("the board is empty");
await store.close();
console.log(JSON.stringify({ boardMs }));
