// If this file fails, a client comes again too early, or reads a header that is no number of seconds.
import { expect, test } from "vitest";
import { errorHeaders } from "../../src/http/errors.ts";
import { SvcError } from "../../src/index.ts";

test.for([
  [0.2, "1"],
  [7, "7"],
  [-3, "0"],
  [Number.POSITIVE_INFINITY, undefined],
  [undefined, undefined],
])("to wait for %s seconds is the header retry-after: %s", ([seconds, header]) => {
  const error = new SvcError("RATE_LIMITED", undefined, { retryAfter: seconds as number });
  expect(errorHeaders(error)["retry-after"]).toBe(header);
});
