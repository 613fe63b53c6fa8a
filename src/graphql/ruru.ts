/**
 * Serves Ruru, a GraphQL editor page, for development. All its files come from this process.
 * Next hop: the page asks `endpoint.ts` as any client does.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ruruHTML } from "ruru/server";
import { getStaticFile } from "ruru/static";
import { exchangeOf } from "../http/exchange.ts";
import { SvcError } from "../kit/svc-error.ts";

const endpoint = "/api/graphql";
const staticPath = `${endpoint}/ruru/`;

/** Answers `GET /api/graphql` and paths below it. @throws SvcError NOT_FOUND */
export async function serveRuru(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = ""] = (request.url ?? "").split("?", 1);
  if (path === endpoint) return sendPage(response);
  const file = path.startsWith(staticPath)
    ? await getStaticFile({ staticPath, urlPath: path, acceptEncoding: request.headers["accept-encoding"] })
    : null;
  if (!file) throw new SvcError("NOT_FOUND");
  send(response, file.content, { "cache-control": "no-cache", ...file.headers });
}

function sendPage(response: ServerResponse): void {
  const nonce = randomBytes(16).toString("base64");
  const page = ruruHTML({ endpoint, staticPath }).replace(/<script(?=[\s>])/g, `<script nonce="${nonce}"`);
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self' 'unsafe-inline'", // the editor sets inline sizes and colours
    "font-src 'self' data:",
    "img-src 'self' data:",
    "worker-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  send(response, Buffer.from(page), {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": policy.join("; "),
  });
}

function send(response: ServerResponse, content: Buffer, headers: Record<string, string>): void {
  response.writeHead(200, { ...exchangeOf(response).headers, ...headers, "content-length": content.length });
  response.end(content);
}
