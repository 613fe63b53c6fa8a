/** The files of Studio's page: modules without a build step. In the repository their types are removed here. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire, stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";

export interface PageFile {
  type: string;
  text: string;
}

/** The folder of the page's files, or null when `@svc/studio` is not installed. @param cwd the application's folder */
export function pageFolder(cwd: string): string | null {
  for (const from of [join(cwd, "package.json"), import.meta.filename]) {
    try {
      return dirname(createRequire(from).resolve("@svc/studio"));
    } catch {
      // The next one is asked.
    }
  }
  // A clone of the repository has it even before npm has linked the workspace.
  const here = join(import.meta.dirname, "../../client/studio/src");
  return existsSync(here) ? here : null;
}

/** @returns null for a path that is no file of the page */
export async function pageFile(folder: string, path: string): Promise<PageFile | null> {
  const found = /^\/(?:([a-z-]+)\.(html|css|js|ts))?$/.exec(path);
  if (!found) return null;
  const [, name = "index", ending = "html"] = found;
  const read = (file: string) => readFile(join(folder, file), "utf8").catch(() => null);
  if (ending === "html" || ending === "css") {
    const text = await read(`${name}.${ending}`);
    return text === null ? null : { type: `text/${ending}; charset=utf-8`, text };
  }
  const built = ending === "js" ? await read(`${name}.js`) : null;
  const source = built === null ? await read(`${name}.ts`) : null;
  const text = built ?? (source === null ? null : stripTypeScriptTypes(source));
  return text === null ? null : { type: "text/javascript; charset=utf-8", text };
}
