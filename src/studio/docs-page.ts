/** Pages of svc's documentation, from the folder docs/ of the installed package. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "../kit/svc-error.ts";

/** Folders and a file below docs/. No name begins with a dot, and none is empty: a path cannot leave the folder. */
const isPage = /^(?:[a-z\d][\w-]*\/)*[a-z\d][\w-]*\.md$/i;

/** @param page below docs/; null is the index. @throws SvcError for another path */
export async function docsPage(platform: string, page: string | null): Promise<string> {
  // The addresses of the site become paths below docs/.
  if (page === null) {
    const index = await readFile(join(platform, "llms.txt"), "utf8");
    return index.replaceAll(/\]\(https:\/\/[^/)]+\/([^)]+)\.html\)/g, "]($1.md)");
  }
  if (!isPage.test(page)) {
    throw new SvcError("BAD_REQUEST", "This is not a page of the documentation.", {
      hint: "Give a path below docs/, such as how-to/teams.md; without a page the tool answers the index.",
    });
  }
  return readFile(join(platform, "docs", page), "utf8").catch(() => {
    throw new SvcError("NOT_FOUND", `The documentation has no page ${page}.`, {
      hint: "Without a page the tool answers the index.",
    });
  });
}
