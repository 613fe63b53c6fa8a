// If this file fails, a request reaches another route than Express would give it to, or one of the application's routes takes a path
// of the platform.
import { Router } from "express";
import { expect, test } from "vitest";
import { createSvcHttpRouteBuilders, type SvcRequest } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const paths = [
  "/api/files/new",
  "/api/files/:id",
  "/api/files/:id/parts/:part",
  "/api/:section/parts",
  "/api/files/parts",
  "/:page",
  "/:page/:part",
  "/pages/:page",
  "/pages/about",
  "/api",
] as const;
const { get } = createSvcHttpRouteBuilders();
const shown = (path: string, { params, path: asked, query }: SvcRequest) => ({
  path,
  params: { ...params },
  asked,
  query,
});
const httpRoutes = Object.fromEntries(
  paths.map((path, index) => [
    `route${index}`,
    get
      .path(path)
      .allowAnonymous()
      .handler(({ request }) => ({ body: shown(path, request as SvcRequest) })),
  ]),
);
const svc = service(database(), apiWith({ httpRoutes: httpRoutes as never }));

/** Those of Express, in the order in which svc registers routes there: fixed segments first. */
const peer = Router({ caseSensitive: true, strict: true });
const digits = (path: string) =>
  path.replace(/[^/]+/g, (part) => (part.startsWith(":") ? "1" : "0")).replaceAll("/", "");
let matched: unknown;
for (const path of paths.toSorted((a, b) => digits(a).localeCompare(digits(b)))) {
  peer.get(path, ({ params }) => {
    matched = { path, params: { ...params } };
  });
}
/** @returns what Express gives the path to; undefined for none, or an error */
function expected(url: string): unknown {
  matched = undefined;
  peer({ method: "GET", url } as never, {} as never, () => {});
  return matched;
}

const asked = [
  ...[
    "/api/files/new",
    "/api/files/7",
    "/api/files/parts",
    "/api/files/a%2Fb",
    "/api/files/%C3%BC%20",
    "/api/files/NEW",
  ],
  ...[
    "/api/files/7/parts/8",
    "/api/files/7/parts/",
    "/api/files/",
    "/api/files",
    "/api/files//parts/8",
    "/API/files/7",
  ],
  ...["/api/x/parts", "/pages/about", "/pages/About", "/pages/", "/start", "/start/part", "/api", "/api/", "/a/b/c"],
  ...[
    "/api/files/%ff",
    "/api/files/%",
    "/pages/%zz",
    "/api/files/..%2f",
    "/api/files/:id",
    "/pages/a;b=c",
    "/pages/a+b",
  ],
];
test.each(asked)("GET %s is answered by the route that Express would choose", async (url) => {
  const { status, body } = await svc.fetch(`${url}?q=1&q=2`);
  const route = expected(url) as { path: string; params: object } | undefined;
  if (!route) return void expect([400, 404]).toContain(status);
  expect({ status, body }).toEqual({ status: 200, body: { ...route, asked: url, query: { q: "2" } } });
});

test("a route with a parameter in the first segment takes no path of the platform", async () => {
  expect((await svc.fetch("/healthz")).body).toEqual({ status: "ok" });
  expect((await svc.fetch("/openapi.json")).body).toMatchObject({ openapi: expect.any(String) });
  expect((await svc.fetch("/metrics/other")).body).toMatchObject({ path: "/:page/:part" });
});

test("an answer says how long it is", async () => {
  const { headers } = await svc.fetch("/api/files/7");
  expect(headers.get("transfer-encoding")).toBeNull();
  expect(Number(headers.get("content-length"))).toBeGreaterThan(10);
  const head = await svc.fetch("/api/files/7", { method: "HEAD" });
  expect(head.status).toBe(200);
});
