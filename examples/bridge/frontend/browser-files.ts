/** Serves the browser's TypeScript without its types: what a bundler would do, in a few lines. */
import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";

const folders: Record<string, URL> = {
  browser: new URL("browser/", import.meta.url),
  sdk: new URL("./", import.meta.resolve("@svc/client")),
};

/** @returns null for everything that is no script or style of the browser's */
export async function browserFile(pathname: string): Promise<Response | null> {
  // No dots, no empty steps: nothing leads out of the two folders.
  const [, folder = "", name = "", kind] = /^\/(browser|sdk)\/([\w-]+(?:\/[\w-]+)*)\.(ts|css)$/.exec(pathname) ?? [];
  const root = folders[folder];
  if (!root || name.startsWith("server/")) return null;
  const text = await readFile(fileURLToPath(new URL(`${name}.${kind}`, root)), "utf8").catch(() => null);
  if (text === null) return null;
  const isStyle = kind === "css";
  const body = isStyle ? text : stripTypeScriptTypes(text).replaceAll('"@svc/client"', '"/sdk/index.ts"');
  return new Response(body, { headers: { "content-type": isStyle ? "text/css" : "text/javascript" } });
}
