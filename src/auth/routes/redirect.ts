/** Reads the query of a browser's request below /api/auth, and redirects the browser. */
import type { Request, Response } from "express";
import { exchangeOf } from "../../http/exchange.ts";
import { queryText } from "../../http/request.ts";
import { SvcError } from "../../kit/svc-error.ts";

/** The query as sent. Not Express's parser: the application can configure that one. */
export const rawQuery = ({ originalUrl }: Request): string => queryText(originalUrl);

/** @throws SvcError BAD_REQUEST when it is given twice: other parsers may pick the other value */
export function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw new SvcError("BAD_REQUEST", `${name} is given more than once.`);
  return values[0];
}

/** Addresses with tokens, states and codes must not leak as Referer, whatever the answer is. */
export function withoutReferrer(response: Response): void {
  exchangeOf(response).headers["referrer-policy"] = "no-referrer";
}

/** Written by hand, because Express would repeat the address in the body. @param status 303 after a form */
export function redirect(response: Response, url: URL, status: 302 | 303 = 302): undefined {
  withoutReferrer(response);
  response.writeHead(status, { ...exchangeOf(response).headers, location: url.href, "cache-control": "no-store" });
  response.end();
}
