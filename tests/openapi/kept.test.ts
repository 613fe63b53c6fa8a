// If this file fails, every request of /openapi has the page made anew: 6 MB and most of a second for 300 tables, in which the
// process answers nobody, and the page is public.
import express from "express";
import { expect, test } from "vitest";
import { startExchange } from "../../src/http/exchange.ts";
import type { OpenApiDocument } from "../../src/openapi/document.ts";
import { openApiEndpoints } from "../../src/server/openapi.ts";

test("the page is made once", async () => {
  let made = 0;
  const document = async (): Promise<OpenApiDocument> => {
    made++;
    const info = { title: "An application", version: "1", description: "" };
    return { openapi: "3.1.0", info, servers: [], tags: [], components: { schemas: {} }, paths: {} } as never;
  };
  const app = express();
  app.use((_request, response, next) => {
    startExchange(response, "one", {});
    next();
  });
  app.use(openApiEndpoints({ reference: true, document }));
  const server = app.listen(0, "127.0.0.1");
  try {
    await new Promise((resolve) => server.once("listening", resolve));
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/openapi`;
    const first = await (await fetch(url)).text();
    expect(first).toContain("An application");
    expect(await (await fetch(url)).text()).toBe(first);
    expect(made).toBe(1);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
