/** The request as route handlers and middleware see it. `src/http/request.ts` makes it from one of Express. */

export interface SvcRequest<Params = Record<string, string>> {
  /** Upper case. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Path parameters, decoded. */
  readonly params: Params;
  /** Query parameters; of a repeated one, the last. */
  readonly query: Record<string, string>;
  /** Names in lower case; several values of one name are joined by a comma. */
  readonly headers: Record<string, string>;
  /** Aborted when the client goes away before it has the whole answer: for what a handler, or its stream, waits for. */
  readonly signal: AbortSignal;
  /** The parsed JSON body. @throws SvcError INVALID_JSON */
  json(): Promise<unknown>;
  /**
   * Fields and files of a form, 1,000 at most. Large files of a multipart form lie on disk until the response has closed:
   * store what is needed later. No other reader can follow it there, because the body is not kept as a whole.
   *
   * @throws SvcError UNSUPPORTED_MEDIA_TYPE, BAD_REQUEST, PAYLOAD_TOO_LARGE
   */
  formData(): Promise<FormData>;
  arrayBuffer(): Promise<ArrayBuffer>;
  text(): Promise<string>;
}
