/**
 * What svc uses of node:http. An `import` of that module evaluates all that it exports, WebSocket among them, and for
 * that Node loads its HTTP client: a twentieth of the time in which a service starts.
 */
export const { createServer, request, ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule("node:http");
