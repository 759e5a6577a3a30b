import { flatlineSeries } from "../harness/metric-series.ts";
import { ownCpuSeconds } from "../harness/process-cpu.ts";

// A process of its own: processor time of one rendering of /metrics with so many organizations (argument), a twentieth of which
// ran since the last one, their runs left out. The answer is one line of JSON.
const rounds = 9;
const series = flatlineSeries(Number(process.argv[2]));
const times: number[] = [];
for (let round = 0; round < rounds; round++) {
  series.change();
  const before = ownCpuSeconds();
  await series.render("text", "identity");
  times.push((ownCpuSeconds() - before) * 1_000);
}
console.log(JSON.stringify({ scrape: times.toSorted((left, right) => left - right)[Math.floor(rounds / 2)] }));
