/** The routes for routes.test.ts, which record what they receive. */
import { Readable } from "node:stream";
import { createSvcHttpRouteBuilders, SvcError, type SvcRequest, v } from "../../src/index.ts";
import * as schema from "../fixture/backend/schema.ts";

const httpRoute = createSvcHttpRouteBuilders<typeof schema>();
export const verbs = ["get", "post", "put", "delete", "patch"] as const;
const insert = { message: "written" };

export const noticed = {
  /** The arguments of the last handler. */
  arrived: undefined as { input: unknown; request: SvcRequest } | undefined,
  cancelled: false,
};
const report = (call: { input: unknown; request: SvcRequest }) => {
  noticed.arrived = call;
  return { body: { input: call.input } };
};

const byVerb = Object.fromEntries(
  verbs.flatMap((verb) => [
    [verb, httpRoute[verb].path("/api/verbs/:id/of/:Name_2").allowAnonymous().handler(report)],
    [
      `${verb}Write`,
      httpRoute[verb]
        .path("/api/write/:status")
        .allowAnonymous()
        .handler(async ({ context, request }) => {
          await context.db.insert(schema.guestbook).values(insert);
          if (request.params.status === "throw") throw new SvcError("CONFLICT", "No.", { hint: "Wait." });
          return { status: Number(request.params.status), body: "done" };
        }),
    ],
    [`${verb}Closed`, httpRoute[verb].path("/api/closed").handler(report)],
  ]),
);

export const bytes = new Uint8Array([0, 255, 1, 254]);
export const bodies: Record<
  string,
  () => { status?: number; headers?: Record<string, string | string[]>; body?: unknown }
> = {
  text: () => ({ body: "plain ü" }),
  emptyText: () => ({ body: "" }),
  html: () => ({ body: "<p>", headers: { "Content-Type": "text/html" } }),
  object: () => ({ body: { a: [1, null], at: new Date(0), none: undefined } }),
  list: () => ({ body: [] }),
  number: () => ({ body: 0 }),
  false: () => ({ body: false }),
  bytes: () => ({ body: bytes }),
  nothing: () => ({}),
  created: () => ({ status: 201, headers: { Location: "/x/1", "X-Custom": "1" }, body: { id: 1 } }),
  redirect: () => ({ status: 302, headers: { location: "/elsewhere" } }),
  noContent: () => ({ status: 204 }),
  noContentButText: () => ({ status: 204, body: "plain" }),
  teapot: () => ({ status: 418, body: { own: "shape" } }),
  cached: () => ({ headers: { "cache-control": "public, max-age=60" }, body: "x" }),
  cookies: () => ({ headers: { "Set-Cookie": ["a=1", "b=2; Path=/"], "content-length": "5" }, body: "plain" }),
  badCookie: () => ({ headers: { "set-cookie": ["a=1", "b=2\r\nx: y"] }, body: "x" }),
  shortLength: () => ({ headers: { "content-length": "2" }, body: "plain" }),
  longLength: () => ({ headers: { "Content-Length": "20" }, body: bytes }),
  lengthOfNothing: () => ({ headers: { "content-length": "3" } }),
  framed: () => ({ headers: { "Transfer-Encoding": "chunked" }, body: "plain" }),
  trailed: () => ({ headers: { trailer: "x-sum" }, body: "plain" }),
  badStatus: () => ({ status: 99, body: "x" }),
  halfStatus: () => ({ status: 200.5, body: "x" }),
  noJson: () => ({ body: { n: 1n } }),
  misspelt: () => ({ status: 302, header: { location: "/elsewhere" } }),
  bareText: () => "x" as never,
  bareStream: () => new Blob(["x"]).stream() as never,
  bareBytes: () => bytes as never,
  response: () => new Response("x", { headers: { "x-lost": "1" } }) as never,
  badHeader: () => ({ headers: { "x-bad": "a\r\nset-cookie: b" }, body: "x" }),
};
/** In the order in which they would hide each other. */
const places = Object.fromEntries(
  ["/api/places/:a/:b", "/api/places/:a", "/api/places/:a/new", "/api/places/near", "/api/places/near/:b"].map(
    (path) => [
      path,
      httpRoute.get
        .path(path)
        .allowAnonymous()
        .handler(() => ({ body: path })),
    ],
  ),
);

export const httpRoutes = {
  ...byVerb,
  ...places,
  checkedBody: httpRoute.post
    .path("/api/checked-body")
    .allowAnonymous()
    .input(v.object({ n: v.number() }))
    .handler(({ input }) => ({ body: input })),
  ...Object.fromEntries(
    Object.entries(bodies).map(([key, make]) => [
      `body${key}`,
      httpRoute.post
        .path(`/api/bodies/${key}`)
        .allowAnonymous()
        .handler(async ({ context }) => {
          await context.db.insert(schema.guestbook).values({ message: key });
          return make() as never;
        }),
    ]),
  ),
  stream: httpRoute.get
    .path("/api/stream/:kind")
    .allowAnonymous()
    .handler(({ request }) => {
      let sent = 0;
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (request.params.kind === "broken" && sent > 1) throw new Error("broken");
          if (request.params.kind === "finite" && sent > 2) return controller.close();
          await new Promise((resolve) => setTimeout(resolve, 5));
          controller.enqueue(new TextEncoder().encode(`part ${sent++};`));
        },
        cancel() {
          noticed.cancelled = true;
        },
      });
      return { body, headers: { "content-type": "text/event-stream" } };
    }),
  pieces: httpRoute.get
    .path("/api/pieces")
    .allowAnonymous()
    .handler(({ context }) => ({
      body: (async function* () {
        yield "one";
        // After the handler has returned: its transaction is over.
        yield String(await context.db.select().from(schema.guestbook));
      })(),
    })),
  sized: httpRoute.get
    .path("/api/sized/:kind/:length")
    .allowAnonymous()
    .handler(({ request }) => {
      const { kind, length } = request.params;
      const parts = ["four", "more"];
      return {
        headers: { "content-length": length },
        body: kind === "stream" ? new Blob(parts).stream() : Readable.from(parts),
      };
    }),
  readers: httpRoute.post
    .path("/api/readers/:reader")
    .allowAnonymous()
    .handler(async ({ request, input }) => {
      const reader = request.params.reader as "json" | "text" | "formData" | "arrayBuffer";
      const read = async () => {
        const value = await request[reader]();
        if (value instanceof ArrayBuffer) return [...new Uint8Array(value)];
        if (!(value instanceof FormData)) return value;
        return Promise.all(
          [...value].map(async ([key, item]) => [
            key,
            typeof item === "string" ? item : [item.name, await item.text()],
          ]),
        );
      };
      return { body: { input: input ?? "none", first: await read(), again: await read() } };
    }),
  checked: httpRoute.get
    .path("/api/checked")
    .allowAnonymous()
    .input(v.object({ n: v.number() }))
    .handler(report),
  query: httpRoute.get
    .path("/api/reads")
    .allowAnonymous()
    .handler(async ({ context }) => ({
      body: await context.db.select().from(schema.guestbook).limit(0),
    })),
};

/** Answers of these routes that cannot be sent, and what the log says of each. */
export const unsendable = [
  ["badStatus", "returned the status 99. It must be from 200 to 599."],
  ["halfStatus", "returned the status 200.5."],
  ["noJson", "BigInt"],
  ["misspelt", 'A route returned \\"header\\". Did you mean \\"headers\\"?'],
  ["bareText", "A route returned a string. Return an object with status, headers and body"],
  ["bareStream", "A route returned a ReadableStream. Return an object with status, headers and body"],
  ["bareBytes", "A route returned a Uint8Array."],
  ["response", "A route returned a Response."],
  ["badHeader", "x-bad"],
  ["badCookie", "set-cookie"],
  ["shortLength", "content-length"],
  ["longLength", "content-length"],
  ["lengthOfNothing", "content-length"],
  ["framed", "transfer-encoding"],
  ["trailed", "trailer"],
] as const;
