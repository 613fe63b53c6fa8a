/** The kinds of values in a configuration, each with its error message. */
import { isIP } from "node:net";
import { z } from "zod";
import { validateHeaderName, validateHeaderValue } from "../kit/node-http.ts";
import { integer, must } from "../kit/options.ts";

export const whole = (min: number, max: number, unit: string, example: number) =>
  integer(min, max, `a whole number of ${unit} from ${min} to ${max}, for example ${example}`);

const INT32 = 2 ** 31 - 1;
export const bytes = () => whole(1024, INT32, "bytes", 1_048_576);
/** For files, which may be larger than memory. */
export const fileBytes = () => whole(1024, 2 ** 40, "bytes", 1_073_741_824);
/** For all stored files of a caller. */
export const quota = (count: number) => {
  const be = `a whole number of bytes from 4096 to ${2 ** 50}, for example ${count}, or false for no limit`;
  return z.union([z.literal(false), integer(4096, 2 ** 50, be)], must(be)).default(count);
};
export const milliseconds = () => whole(1, INT32, "milliseconds", 10_000);
export const connections = () => whole(1, 1000, "connections", 10);
export const attempts = (count: number, what = "attempts") => {
  const be = `a whole number of ${what} from 1 to 1000000, for example ${count}, or false for no limit`;
  return z.union([z.literal(false), integer(1, 1_000_000, be)], must(be)).default(count);
};
export const folder = () =>
  z.string(must('a folder, relative to this file, such as "./backend"')).min(1, must("a folder"));
/** Of `webDir`. A path that leads out of it would be 404 at each visit. */
export const pageFile = () => {
  const be = 'a file of webDir, such as "index.html"';
  return z.string(must(be)).refine((path) => /^(?![./])(?!.*\/\.).*\.html$/.test(path), must(be));
};
export const portNumber = "a port number from 0 (any free port) to 65535, for example 4000";
export const port = () => integer(0, 65_535, portNumber);
export const host = () => {
  const be = 'an address of this machine such as "127.0.0.1", or "::" for all addresses';
  return z.string(must(be)).refine((address) => isIP(address) !== 0, must(be));
};
/** A name as browsers send it, or with a leading dot for all its subdomains. */
export const hostName = () => {
  const be = 'a host name such as "dev.example.com", or ".example.com" for its subdomains, without scheme and port';
  return z.string(must(be)).regex(/^\.?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/, must(be));
};
export const plan = () => z.enum(["free", "personal", "pro"], must('"free", "personal" or "pro"'));

const someHeaders = must('headers and their values, such as { "content-security-policy": "default-src \'self\'" }');
export const headers = () => z.record(z.string(), z.string(someHeaders), someHeaders).refine(areHeaders, someHeaders);

/** Whether HTTP can send them. Node would only fail at the first answer. */
function areHeaders(values: Record<string, string>): boolean {
  try {
    for (const [name, value] of Object.entries(values)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return true;
  } catch {
    return false;
  }
}
