/**
 * Studio's own HTTP server, on 127.0.0.1 only and never on the application's origin. It has no cookies: the token in
 * the address is redeemed once for a secret, which the page sends as `Authorization`.
 * Next hop: `keys.ts`; `panels.ts` answers, and `agent-endpoint.ts` coding agents.
 */
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { parseJson, takeBody } from "../http/body.ts";
import { leftSignal } from "../http/left-signal.ts";
import { createServer } from "../kit/node-http.ts";
import { SvcError } from "../kit/svc-error.ts";
import { carries, Keys } from "./keys.ts";
import { pageFile } from "./page-files.ts";

const host = "127.0.0.1";

/** Answers one call of the page. @throws SvcError for the page */
export type Answer = (name: string, input: unknown) => Promise<unknown>;

/** What a program sends with its calls: the origin, also as the header `Origin`, and the secret as `Authorization`. */
export interface Entry {
  origin: string;
  secret: string;
}

/** Coding agents, which call `/mcp`. */
export interface Agents {
  /** What they send as `Authorization`; null: none is answered. Asked for with each call. */
  secret(): string | null;
  /** Answers one message of the Model Context Protocol. @param left aborts when nobody waits for it @throws SvcError for the agent */
  answer(headers: IncomingHttpHeaders, message: unknown, left: AbortSignal): Promise<Response>;
}

export interface ListenerOptions {
  /** (Default: 0, any free port) */
  port?: number;
  /** The folder of the page's files. */
  page: string;
  answer: Answer;
  /** Called with the address for one browser tab: at the start, and when the last one has been redeemed. */
  announce(address: string): void;
  /** Called once with what a program on this machine needs for the calls that it may make. (Default: programs have no access) */
  admit?: ((entry: Entry) => void) | undefined;
  /** (Default: there is no `/mcp`) */
  agents?: Agents | undefined;
  /** Called with errors that the page does not get. */
  failed(error: unknown): void;
}

/** In bytes. The state of the page is in its address: a statement of 20,000 characters, each of which takes up to nine bytes. */
const longestAddress = 262_144;

/** Largest body of a call, in bytes. */
const largestBody = 65_536;

const headers = {
  "cache-control": "no-store",
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** @throws the system's error when the port is taken */
export async function openListener(options: ListenerOptions): Promise<{ server: Server; origin: string }> {
  const keys = new Keys();
  let origin = "";
  const announce = () => options.announce(`${origin}/#${keys.next()}`);
  const server = createServer({ maxHeaderSize: longestAddress }, (request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    reply(request, response).catch((error) => {
      const known = error instanceof SvcError ? error : new SvcError("INTERNAL", undefined, { cause: error });
      if (known !== error) options.failed(error);
      const { message, code, hint } = known;
      send(response, known.status, { error: message, code, hint });
    });
  });

  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Another name that resolves to this machine is a page that rebinds its own name.
    if (`http://${request.headers.host}` !== origin)
      throw new SvcError("FORBIDDEN", "Studio answers under its own address only.", { hint: `Open ${origin}.` });
    if (!URL.canParse(request.url ?? "/", origin)) throw new SvcError("NOT_FOUND");
    const { pathname } = new URL(request.url ?? "/", origin);
    if (pathname === "/mcp" && options.agents) return callOfAgent(request, response, options.agents);
    if (pathname.startsWith("/api/")) return send(response, 200, await call(request, pathname.slice(5)));
    if (request.method !== "GET" && request.method !== "HEAD") throw new SvcError("METHOD_NOT_ALLOWED");
    const file = await pageFile(options.page, pathname);
    if (!file) throw new SvcError("NOT_FOUND");
    response.writeHead(200, { "content-type": file.type }).end(request.method === "HEAD" ? undefined : file.text);
  }

  async function call(request: IncomingMessage, name: string): Promise<unknown> {
    const { origin: from, "sec-fetch-site": site, authorization, "content-type": type } = request.headers;
    if (request.method !== "POST") throw new SvcError("METHOD_NOT_ALLOWED", "Studio's API answers POST only.");
    if (from !== origin || (site !== undefined && site !== "same-origin"))
      throw new SvcError("FORBIDDEN", "Studio answers its own page only.", { hint: `Send Origin: ${origin}.` });
    requireJson(type);
    const isRedeeming = name === "redeem";
    if (!isRedeeming && !keys.opens(authorization, name))
      throw new SvcError("UNAUTHORIZED", "This tab is not signed in to Studio.", { hint: newTab });
    const input = await readJson(request);
    if (!isRedeeming) return (await options.answer(name, input)) ?? null;
    const { success, data } = z.strictObject({ token: z.string().max(200) }).safeParse(input);
    const secret = success ? keys.redeem(data.token) : null;
    if (secret === null) throw new SvcError("UNAUTHORIZED", "This address was used already.", { hint: newTab });
    announce();
    return { secret };
  }

  /** A program sends no `Origin`, and every page does: none but Studio's own may ask. */
  async function callOfAgent(request: IncomingMessage, response: ServerResponse, agents: Agents): Promise<void> {
    const {
      origin: from = origin,
      "sec-fetch-site": site = "none",
      authorization,
      "content-type": type,
    } = request.headers;
    if (from !== origin || !["none", "same-origin"].includes(site))
      throw new SvcError("FORBIDDEN", "Studio answers no page of another origin.");
    if (!carries(authorization, agents.secret())) {
      response.setHeader("www-authenticate", "Bearer");
      throw new SvcError("UNAUTHORIZED", "This agent does not have the secret of this Studio.", {
        hint: "Beside svc dev, npx svc mcp --http prints it; svc studio --mcp prints another one at each start.",
      });
    }
    // No stream is offered, and there is no session to end.
    if (request.method !== "POST") {
      response.setHeader("allow", "POST");
      throw new SvcError("METHOD_NOT_ALLOWED", "Send each message as a POST of its own.");
    }
    requireJson(type);
    const message = await readJson(request);
    const answer = await agents.answer(request.headers, message, leftSignal(response));
    const isEmpty = answer.body === null;
    response.writeHead(answer.status, isEmpty ? {} : { "content-type": "application/json; charset=utf-8" });
    response.end(isEmpty ? undefined : await answer.text());
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  origin = `http://${host}:${(server.address() as AddressInfo).port}`;
  announce();
  options.admit?.({ origin, secret: keys.forPrograms() });
  return { server, origin };
}

const newTab = "Open the address that the terminal printed last; each opens one tab.";

function requireJson(type: string | undefined): void {
  if (type?.split(";", 1)[0] !== "application/json") throw new SvcError("UNSUPPORTED_MEDIA_TYPE", "Send JSON.");
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  await takeBody(request, largestBody, (chunk) => void chunks.push(chunk));
  return parseJson(Buffer.concat(chunks));
}

function send(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(value));
}
