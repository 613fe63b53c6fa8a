/**
 * Describes the socket, its tickets and grants in the OpenAPI document.
 * Next hop: `src/server/tickets.ts` and `src/server/grant-endpoint.ts` answer; docs/reference/realtime.md has the frames.
 */
import { objectOf } from "../kit/json-schema.ts";
import { answers, anyone, errors, inQuery, json, operation, type Part, signedIn, text } from "../kit/parts.ts";

const socket = (operationId: string): Part => ({
  get: operation(operationId, "realtime", "The WebSocket for change notifications", anyone, {
    description: "An upgrade; its frames are in docs/reference/realtime.md. Without one this path does not exist.",
    parameters: [inQuery("ticket", text(), "Of /api/realtime/ticket.")],
    responses: { 101: { description: "The connection becomes a WebSocket." }, ...errors(401, 403, 404) },
  }),
});

const grant = objectOf({
  token: text(),
  subscriptionKey: text(),
  policy: text(),
  expiresAt: text({ format: "date-time" }),
});

export const realtimePaths: Record<string, Part> = {
  "/ws": socket("svc-realtime-socket"),
  "/api/realtime": socket("svc-realtime-socket-api"),
  "/api/realtime/ticket": {
    post: operation(
      "svc-realtime-ticket",
      "realtime",
      "A ticket that opens a socket, once, within 30 seconds",
      signedIn,
      {
        responses: { 200: answers("The ticket.", json(objectOf({ ticket: text() }))), ...errors(401, 403) },
      },
    ),
  },
  "/api/realtime/query/authorize": {
    post: operation("svc-realtime-authorize", "realtime", "A grant to watch a query", anyone, {
      requestBody: { required: true, content: json(objectOf({ query: text(), args: {} }, { required: ["query"] })) },
      responses: { 200: answers("The grant.", json(grant)), ...errors(400, 401, 403, 404, 409, 413, 504) },
    }),
  },
};
