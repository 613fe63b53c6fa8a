/** The application's own pages (`webDir` of the configuration), for a frontend on the service's own origin. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import express, { Router } from "express";
import { answerMethods } from "./allowed-methods.ts";
import { exchangeOf } from "./exchange.ts";

/**
 * Scripts and styles from this origin only; nobody may frame the page; no other page keeps a handle on its window, but
 * the windows it opens itself may answer it. Images may be shown elsewhere: in mails, for example.
 */
const defaults: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'self'; img-src 'self' data: blob:; connect-src 'self' ws: wss:; object-src 'none'; " +
    "frame-ancestors 'none'; base-uri 'self'; form-action 'self'",
  "cross-origin-opener-policy": "same-origin-allow-popups",
};

/**
 * @param folder  absolute; files and folders whose names start with a dot are not served
 * @param changes headers in place of the defaults, or beside them; "" takes one away
 */
export function staticFiles(folder: string, changes: Readonly<Record<string, string>>): Router {
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
  router.use(express.static(folder, { dotfiles: "ignore", etag: true, index: "index.html", redirect: false }));
  router.use(async ({ method, path }, response, next) => {
    if (method !== "GET" && method !== "HEAD" && (await isServed(folder, path))) {
      answerMethods(response, method, ["GET", "HEAD"]);
    } else next();
  });
  return router;
}

/** Whether a GET of the path would get a file. */
async function isServed(folder: string, path: string): Promise<boolean> {
  try {
    const segments = decodeURIComponent(path).split("/");
    if (segments.some((segment) => segment.startsWith("."))) return false;
    const file = join(folder, ...segments, segments.at(-1) === "" ? "index.html" : "");
    return (await stat(file)).isFile();
  } catch {
    return false; // there is none, or the path cannot be decoded
  }
}
