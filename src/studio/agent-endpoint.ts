/**
 * The tools of `svc mcp` at `/mcp` of Studio's listener: streamable HTTP without sessions and streams. Each message is one POST
 * with one answer, so nothing is kept between two calls. The package @modelcontextprotocol/sdk is loaded by the first one.
 * Next hop: `mcp-server.ts`.
 */
import type { IncomingHttpHeaders } from "node:http";
import { ConcurrencyLimiter } from "../kit/concurrency-limiter.ts";
import { requirePackagesForCall } from "../kit/optional-packages.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Agents } from "./listener.ts";
import type { McpOptions } from "./mcp-server.ts";

/** Calls that run, and that wait: a dry run is a process, and others hold one of the four connections of Studio. */
const most = { running: 2, waiting: 20 };

/** What the transport reads; the listener has checked the others. */
const read = ["accept", "content-type", "mcp-protocol-version"];

export function createAgentEndpoint(options: McpOptions): Agents["answer"] {
  const limiter = new ConcurrencyLimiter(most.running, most.waiting);
  return (headers, message, left) => {
    // Without batches, the limits count messages. MCP has none since 2025-06-18.
    if (Array.isArray(message)) throw new SvcError("BAD_REQUEST", "Send each message as a POST of its own.");
    return limiter.run(() => answer(headers, message, options), { signal: left });
  };
}

async function answer(given: IncomingHttpHeaders, message: unknown, options: McpOptions): Promise<Response> {
  requirePackagesForCall("mcp");
  const { createMcpServer } = await import("./mcp-server.ts");
  const { WebStandardStreamableHTTPServerTransport: Transport } = await import(
    "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
  );
  const server = createMcpServer(options);
  const transport = new Transport({ enableJsonResponse: true });
  await server.connect(transport);
  server.onerror = () => {}; // the answer says it
  try {
    const headers = read.flatMap((name) => (given[name] === undefined ? [] : [[name, String(given[name])] as const]));
    const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers: Object.fromEntries(headers) });
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}
