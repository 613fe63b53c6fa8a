/** Raw HTTP, for headers that `fetch` and node:http refuse to send, byte by byte as an attacker would. */
import { once } from "node:events";
import { connect } from "node:net";

export interface RawAnswer {
  /** 0 when the connection was closed without an answer. */
  status: number;
  /** Names in lower case, with all their values. */
  headers: Map<string, string[]>;
  body: string;
}

export interface RawRequest {
  method: string;
  path: string;
  /** (Default: "localhost") */
  host?: string;
  headers?: readonly (readonly [name: string, value: string])[];
  body?: string;
}

/** Sends one request on a separate connection. Values are sent as UTF-8, unchanged. */
export async function rawRequest(
  url: string,
  { method, path, host = "localhost", headers = [], body }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Connection: close",
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("error", () => {}); // a refused request may end in a reset: the received text is the answer
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
  await once(socket, "close");
  return parse(Buffer.concat(chunks).toString("utf8"));
}

function parse(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, Math.max(0, end)).split("\r\n");
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  return { status: Number(first.split(" ")[1] ?? 0), headers, body: text.slice(end + 4) };
}
