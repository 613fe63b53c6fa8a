/**
 * A service that takes forms, in a process of its own: for tests that weigh it and kill it. Arguments: the databases' URLs as
 * JSON, the folder of the bytes, the secret, limits as JSON. Says where it listens over the channel; "weigh" begins a
 * measurement and "weight" asks for its peaks, each answered by a message.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { defineApi } from "../../src/app/api.ts";
import { createSvcProcedureBuilders, v } from "../../src/index.ts";
import type * as schema from "../fixture/backend/schema.ts";
import { serve } from "./child.ts";

const [urls = "{}", dir = "", secret = "", limits = "{}"] = process.argv.slice(2);
const { mutation } = createSvcProcedureBuilders<typeof schema>();
const file = v.object({ file: v.file() });
const procedures = {
  sum: mutation
    .name("child.sum")
    .allowAnonymous()
    .input(file)
    .handler(async ({ input }) => {
      const hash = createHash("sha256");
      for await (const chunk of input.file.stream()) hash.update(chunk);
      return { size: input.file.size, name: (input.file as File).name, sha256: hash.digest("hex") };
    }),
  size: mutation
    .name("child.size")
    .allowAnonymous()
    .input(file)
    .handler(({ input }) => input.file.size),
  store: mutation
    .name("child.store")
    .allowAnonymous()
    .input(file)
    .handler(({ context, input }) => context.storage.store(input.file)),
  hang: mutation
    .name("child.hang")
    .allowAnonymous()
    .input(file)
    .handler(async () => {
      process.send?.("hanging");
      await sleep(600_000);
    }),
};

const url = await serve(
  { api: defineApi({ procedures }), urls, secret },
  { storage: { driver: "disk", dir }, limits: { multipartBytes: 256 * 1024 * 1024, ...JSON.parse(limits) } },
);

const kinds = ["rss", "arrayBuffers", "external", "heapUsed"] as const;
const weigh = () => process.memoryUsage();
let base = weigh();
let peak = weigh();
setInterval(() => {
  const now = weigh();
  for (const kind of kinds) peak[kind] = Math.max(peak[kind], now[kind]);
}, 1).unref();
process.on("message", (message) => {
  if (message === "weigh") {
    globalThis.gc?.();
    base = peak = weigh();
    peak = { ...peak };
    process.send?.("weighing");
  } else process.send?.(Object.fromEntries(kinds.map((kind) => [kind, peak[kind] - base[kind]])));
});
process.send?.(url);
