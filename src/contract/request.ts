/** The request as route handlers and middleware see it. `src/http/request.ts` makes it. */

export interface SvcRequest<Params = Record<string, string>> {
  /** Upper case. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Path parameters, decoded. */
  readonly params: Params;
  /** Query parameters; the last value of a repeated one. */
  readonly query: Record<string, string>;
  /** Names in lower case; multiple values of one name are joined by a comma. */
  readonly headers: Record<string, string>;
  /** The client's IP address, as far as `trustProxy` and bridges allow to tell; "" when it has none. */
  readonly address: string;
  /** Aborted when the client disconnects before it has the whole answer. For the waits of a handler or its stream. */
  readonly signal: AbortSignal;
  /** The parsed JSON body. @throws SvcError INVALID_JSON */
  json(): Promise<unknown>;
  /**
   * Fields and files of a form, 1,000 at most. Large files of a multipart form stay on disk until the response has closed: store
   * files that are needed later. No other reader can be used afterwards, because the body is not kept as a whole.
   *
   * @throws SvcError UNSUPPORTED_MEDIA_TYPE, BAD_REQUEST, PAYLOAD_TOO_LARGE
   */
  formData(): Promise<FormData>;
  arrayBuffer(): Promise<ArrayBuffer>;
  text(): Promise<string>;
}
