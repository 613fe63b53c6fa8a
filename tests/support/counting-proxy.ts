/** An HTTP proxy in front of the backend: counts requests, stores answers, and can hold answers back. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface Passed {
  path: string;
  /** The headers from the proxy's client. */
  headers: IncomingHttpHeaders;
  body: string;
  answer: string;
}

export class CountingProxy {
  readonly #server: Server;
  /** The origin to forward to. */
  target = "";
  /** All answers, in order. */
  readonly passed: Passed[] = [];
  /** Requests per path, answered or not. */
  readonly asked = new Map<string, number>();
  /** May change or delay an answer. */
  between: (path: string, answer: string) => string | Promise<string> = (_path, answer) => answer;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<CountingProxy> {
    const server = createServer();
    const proxy = new CountingProxy(server);
    server.on("request", async (request, response) => {
      const path = request.url ?? "";
      proxy.asked.set(path, proxy.count(path) + 1);
      const body = await buffer(request);
      const { host: _, connection: __, "content-length": ___, ...headers } = request.headers;
      const answered = await fetch(proxy.target + path, {
        method: request.method ?? "GET",
        headers: headers as Record<string, string>,
        ...(body.length > 0 && { body: new Uint8Array(body) }),
        redirect: "manual",
      });
      const answer = await proxy.between(path, await answered.text());
      proxy.passed.push({ path, headers: request.headers, body: String(body), answer });
      const { "content-length": ____, ...rest } = Object.fromEntries(answered.headers);
      response.writeHead(answered.status, rest).end(answer);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  count = (path: string): number => this.asked.get(path) ?? 0;

  /** Holds back the answers to a path. @returns `held`, when the first one is there, and `release` */
  hold(path: string): { held: Promise<void>; release: () => void } {
    let release = () => {};
    const open = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held = new Promise<void>((resolve) => {
      this.between = async (asked, answer) => {
        if (asked !== path) return answer;
        resolve();
        await open;
        return answer;
      };
    });
    return {
      held,
      release: () => {
        this.between = (_path, answer) => answer;
        release();
      },
    };
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
