/** Reads code blocks of the documentation, with their positions. */
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { root } from "../support/global-setup.ts";

export interface Snippet {
  /** `file:line` of the block's first line. */
  place: string;
  language: string;
  text: string;
  /** The path in `(…)` in the paragraph before the block, if any. */
  file: string | undefined;
}

/** Every fenced code block of README.md and docs/. */
export async function snippets(): Promise<Snippet[]> {
  const entries = await readdir(join(root, "docs"), { recursive: true });
  const pages = ["README.md", ...entries.filter((name) => name.endsWith(".md")).map((name) => join("docs", name))];
  return (await Promise.all(pages.map(snippetsOf))).flat();
}

async function snippetsOf(page: string): Promise<Snippet[]> {
  const text = await readFile(join(root, page), "utf8");
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map((match) => {
    const before = text.slice(0, match.index);
    const paragraph =
      before
        .trimEnd()
        .split(/\n\s*\n/)
        .at(-1) ?? "";
    return {
      place: `${relative(root, join(root, page))}:${before.split("\n").length + 1}`,
      language: match[1] ?? "",
      text: match[2] ?? "",
      file: /\(`([\w/.-]+)`\)/.exec(paragraph)?.[1],
    };
  });
}
