/**
 * Serves a fetch-style handler, as frameworks have them, with `node:http`. Who connects stands in `x-client-address`, whatever
 * they say themselves.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

export type FetchHandler = (request: Request) => Response | Promise<Response>;

export interface FetchServer {
  /** For example http://localhost:3000 */
  url: string;
  stop(): Promise<void>;
}

/** @param port 0 takes a free one */
export async function serve(port: number, handle: FetchHandler): Promise<FetchServer> {
  const server = createServer((incoming, outgoing) => {
    exchange(incoming, outgoing, handle).catch((error) => {
      console.error(error);
      if (!outgoing.headersSent) outgoing.writeHead(500);
      outgoing.end();
    });
  });
  await listening(server, port);
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function exchange(incoming: IncomingMessage, outgoing: ServerResponse, handle: FetchHandler): Promise<void> {
  const { method = "GET", headers, url = "/" } = incoming;
  const hasBody = method !== "GET" && method !== "HEAD";
  const pairs = Object.entries({ ...headers, "x-client-address": incoming.socket.remoteAddress });
  const request = new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: pairs.flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one])) as [string, string][],
    ...(hasBody && { body: Readable.toWeb(incoming), duplex: "half" }),
  } as RequestInit);

  const response = await handle(request);
  const cookies = response.headers.getSetCookie();
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    ...(cookies.length > 0 && { "set-cookie": cookies }),
  });
  if (response.body) Readable.fromWeb(response.body as ReadableStream).pipe(outgoing);
  else outgoing.end();
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "localhost", () => resolve());
  });
}
