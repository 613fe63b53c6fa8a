/** A process for collected-requests.test.ts: answers requests, and prints what V8's collections did meanwhile. */
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { GCProfiler, type HeapSpaceStatistics } from "node:v8";
import { readBody } from "../../src/http/body.ts";
import { AnswersUnderWay, observer, sendJson } from "../../src/http/exchange.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { Metrics } from "../../src/telemetry/metrics.ts";

const metrics = { inFlight: new AnswersUnderWay(), observe() {} } as unknown as Metrics;
const observe = observer(createLog("silent"), metrics, {});
const server = createServer(async (request, response) => {
  observe(request, response);
  await readBody(request, 1_000);
  await sleep(1 + (Math.abs(left) % 7)); // several are under way, and end in another order
  sendJson(response, 200, `{"json":"${"x".repeat(200)}"}`);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

const { port } = server.address() as AddressInfo;
let left = 15_000;
const profiler = new GCProfiler();
profiler.start();
const client = () =>
  new Promise<void>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const send = () => socket.write("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}");
    socket.on("connect", send).on("data", () => {
      if (left-- > 0) return send();
      socket.destroy();
      resolve();
    });
  });
await Promise.all(Array.from({ length: 16 }, client));

let collected = 0;
let kept = 0;
const old = (spaces: HeapSpaceStatistics[]) => spaces.find((one) => one.spaceName === "old_space")?.spaceUsedSize ?? 0;
for (const { gcType, beforeGC, afterGC } of profiler.stop().statistics) {
  if (gcType !== "Scavenge") continue;
  collected += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize;
  kept += old(afterGC.heapSpaceStatistics) - old(beforeGC.heapSpaceStatistics);
}
console.info(JSON.stringify({ collected, kept }));
process.exit();
