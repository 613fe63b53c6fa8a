/** What answers a request before Express sees it: calls by name, files, uploads, GraphQL. */
import type { IncomingMessage, ServerResponse } from "node:http";

/** Answers one request. Rejects with whatever went wrong, for `src/http/errors.ts` to send. */
export type Endpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
