/** The application's own pages (`webDir` of the configuration), for a frontend on the service's own origin. */
import express, { Router } from "express";
import { exchangeOf } from "./exchange.ts";

/** Scripts and styles from this origin only; nobody may frame the page. */
const policy =
  "default-src 'self'; img-src 'self' data: blob:; connect-src 'self' ws: wss:; " +
  "frame-ancestors 'none'; base-uri 'self'; form-action 'self'";

/** @param folder absolute; files and folders whose names start with a dot are not served */
export function staticFiles(folder: string): Router {
  const router = Router();
  router.use((_request, response, next) => {
    exchangeOf(response).operation = "static";
    response.setHeader("content-security-policy", policy);
    response.setHeader("referrer-policy", "same-origin");
    next();
  });
  router.use(express.static(folder, { dotfiles: "ignore", etag: true, index: "index.html", redirect: false }));
  return router;
}
