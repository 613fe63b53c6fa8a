// If this file fails, a browser takes a part of an answer for the whole, such as half an export.
import { connect } from "node:net";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { httpRoutes } from "./routes-application.ts";

const svc = service(database(), apiWith({ httpRoutes }));

/** All bytes of a connection, until the service closes it. */
function received(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(new URL(svc.url).port), "127.0.0.1");
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
