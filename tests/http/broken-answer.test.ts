// If this file fails, a browser takes a part of an answer for the whole, such as half an export. Or a stop waits for streams that have
// ended.
import { once } from "node:events";
import { Agent, createServer, get } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startExchange } from "../../src/http/exchange.ts";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, TestService } from "../support/service.ts";
import { httpRoutes } from "./routes-application.ts";

const db = database();
const end = Promise.withResolvers<void>();
const held = createSvcHttpRouteBuilders()
  .get.path("/api/held")
  .allowAnonymous()
  .handler(() => ({
    body: (async function* () {
      yield "begun, ";
      await end.promise;
      yield "done";
    })(),
  }));
const noticed = { asked: 0, answered: 0, begun: 0 };
const late = createSvcHttpRouteBuilders()
  .get.path("/api/late")
  .allowAnonymous()
  .handler(async ({ request }) => {
    noticed.asked++;
    await once(request.signal, "abort");
    noticed.answered++;
    return {
      body: (async function* () {
        noticed.begun++;
        yield "costly";
      })(),
    };
  });
const api = apiWith({ httpRoutes: { ...httpRoutes, held, late } });
const svc = service(db, api);

/** All bytes of a connection, until the service closes it. */
function received(request: string, url = svc.url): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("data", (bytes) => {
      text += bytes;
    });
    socket.on("close", () => resolve(text)).on("error", reject);
    socket.write(request);
  });
}

// WebKit on Linux takes a connection that ends between two chunks for the end of the answer.
test("a stream that breaks ends inside of a chunk", async () => {
  expect(await received("GET /api/stream/broken HTTP/1.1\r\nhost: localhost\r\n\r\n")).toMatch(/part 1;\r\n1\r\n$/);
});

test("so does one that middleware of the application destroys through an object of its own", async () => {
  const server = createServer((_request, response) => {
    startExchange(response, "x", {});
    response.write("part 1;");
    Object.create(response).destroy();
  }).listen(0);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect(await received("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", url)).toMatch(/part 1;\r\n1\r\n$/);
});

// An idle connection is kept for 75 seconds.
const patience = { timeout: 40_000 };
test(
  "a stream that ends while the service stops is whole, and the stop does not wait for its idle connection",
  patience,
  async () => {
    const stopped = new TestService(db, api, { limits: { shutdownMs: 600_000 } });
    await stopped.start();
    const agent = new Agent({ keepAlive: true });
    const [response] = await once(get(`${stopped.url}/api/held`, { agent }), "response");
    const stopping = stopped.stop();
    await expect.poll(() => fetch(`${stopped.url}/healthz`).catch(() => "closed")).toBe("closed");
    end.resolve();
    expect(await text(response)).toBe("begun, done");
    await stopping;
    agent.destroy();
  },
);

test("a stream whose client has left before it begins is not begun", async () => {
  const asking = get(`${svc.url}/api/late`).on("error", () => {});
  await expect.poll(() => noticed.asked).toBe(1);
  asking.destroy();
  await expect.poll(() => noticed.answered).toBe(1);
  await expect.poll(() => svc.logged.some((line) => line.includes("/api/late"))).toBe(true);
  await svc.fetch("/healthz"); // by then the answer would have been sent
  expect(noticed.begun).toBe(0);
});
