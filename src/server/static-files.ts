/** Serves the application's frontend (`webDir` of the configuration) on the service's own origin. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import express, { type ErrorRequestHandler, type Request, Router } from "express";
import { answerMethods } from "../http/allowed-methods.ts";
import { exchangeOf } from "../http/exchange.ts";
import { SvcError } from "../kit/svc-error.ts";
import { compressedFiles } from "./compressed-files.ts";

/**
 * Scripts and styles only from this origin. No framing of the page. Other pages get no handle on its window, but
 * windows that it opens itself may answer it. Images may be embedded elsewhere, for example in mails.
 */
const defaults: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; img-src 'self' data: blob:; connect-src 'self' ws: wss:; object-src 'none'; " +
    "frame-ancestors 'none'; base-uri 'self'; form-action 'self'",
  "cross-origin-opener-policy": "same-origin-allow-popups",
};

/** Folders to which bundlers write files with a hash in their names. */
const bundled = /\/(?:assets|static|_astro|immutable)\//;

/**
 * A content hash at the end of a name: `index-BKp3vQzA.js`, `chunk-X2FJ4MQ7.js`, `app.8f3e21c0.css`. A hash of eight
 * characters must have two kinds, since words can have eight letters too.
 */
const hash =
  /[-.](?:(?=[\w-]{0,7}[a-z])(?=[\w-]{0,7}[A-Z])[\w-]{8}|(?=[A-Z]{0,7}\d)(?=\d{0,7}[A-Z])[A-Z\d]{8}|(?=[a-f]{0,63}\d)(?=\d{0,63}[a-f])[a-f\d]{8,64})(?:\.\w{1,12}){1,2}$/;

/**
 * Files whose name contains a content hash are cached for a year; clients revalidate all others.
 *
 * @param path within the folder, with a slash in front
 */
const cacheControl = (path: string): string =>
  bundled.test(path) && hash.test(path) ? "public, max-age=31536000, immutable" : "public, max-age=0";

/**
 * @param folder  absolute; files and folders whose names start with a dot are not served
 * @param changes headers that replace or extend the defaults; "" removes one
 * @param fallback the file that answers visits of paths without a file. (Default: none; they are 404)
 */
export function staticFiles(folder: string, changes: Readonly<Record<string, string>>, fallback?: string): Router {
  const lower = Object.entries(changes).map(([name, value]) => [name.toLowerCase(), value] as const);
  const headers = Object.entries({ ...defaults, ...Object.fromEntries(lower) });
  const router = Router();
  router.use((_request, response, next) => {
    exchangeOf(response).operation = "static";
    for (const [name, value] of headers) {
      if (value === "") response.removeHeader(name);
      else response.setHeader(name, value);
    }
    next();
  });
  if (fallback) {
    router.use(async (request, response, next) => {
      if (isVisit(request)) {
        response.vary("accept");
        const isPage = request.headers.accept?.includes("text/html") && !(await isServed(folder, request.path));
        if (isPage) request.url = `/${fallback}`;
      }
      next();
    });
  }
  router.use(compressedFiles(folder, cacheControl));
  router.use(
    express.static(folder, {
      dotfiles: "ignore",
      etag: true,
      index: "index.html",
      redirect: false,
      cacheControl: false,
      setHeaders: (response, path) => {
        if (response.hasHeader("cache-control")) return; // webHeaders
        response.setHeader("cache-control", cacheControl(path.slice(folder.length)));
      },
    }),
  );
  router.use(async ({ method, path }, response, next) => {
    if (method !== "GET" && method !== "HEAD" && (await isServed(folder, path))) {
      answerMethods(response, method, ["GET", "HEAD"]);
    } else next();
  });
  router.use(refuse);
  return router;
}

/** Whether a browser may show the path as a page. A script that is missing stays 404, and so does what the API lacks. */
const isVisit = ({ method, path }: Request): boolean =>
  (method === "GET" || method === "HEAD") && !/^\/api(\/|$)|\.[^/]*$/.test(path);

/** The errors of express.static for unmet conditions and ranges. */
const refuse: ErrorRequestHandler = (thrown, _request, response, next) => {
  const { status, headers } = Object(thrown) as { status?: number; headers?: Record<string, string> };
  if (status === 412) return next(new SvcError("PRECONDITION_FAILED", undefined, { cause: thrown }));
  if (status !== 416) return next(thrown);
  response.writeHead(416, { ...exchangeOf(response).headers, ...headers }).end();
};

/** Whether a GET of the path would return a file. */
async function isServed(folder: string, path: string): Promise<boolean> {
  try {
    const segments = decodeURIComponent(path).split("/");
    if (segments.some((segment) => segment.startsWith("."))) return false;
    const file = join(folder, ...segments, segments.at(-1) === "" ? "index.html" : "");
    return (await stat(file)).isFile();
  } catch {
    return false; // it does not exist, or the path cannot be decoded
  }
}
