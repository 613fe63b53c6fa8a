/** One of several processes, of which the metrics are read many times at once. Prints what each reading gave. */
import { Registry } from "prom-client";
import { metricsText } from "../../src/server/shared-metrics.ts";

const readings = await Promise.all(Array.from({ length: 20 }, () => metricsText(new Registry())));
console.log(JSON.stringify([...readings, await metricsText(new Registry())]));
process.disconnect();
