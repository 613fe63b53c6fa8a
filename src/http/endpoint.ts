/** An endpoint answers a request before Express sees it: calls by name, files, uploads, GraphQL. */
import type { IncomingMessage, ServerResponse } from "node:http";

/** Answers one request. Rejects with the error, which `src/http/errors.ts` sends. */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
