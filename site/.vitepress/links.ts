/**
 * Links of pages to files beside docs/, such as a compose file: the site serves these files as text below `/source/`, a
 * folder as one text with all of its files. Links to pages outside of docs/ lead to the site's page.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { MarkdownRenderer } from "vitepress";

/** What a link may not lead to: it was not written by hand. */
const skipped = /(^|\/)(node_modules|\.svc|dist|meta)(\/|$)/;

export class Sources {
  readonly #root: string;
  readonly #linked = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Changes the links of every page that is rendered. */
  follow(md: MarkdownRenderer): void {
    md.core.ruler.push("links-to-sources", ({ tokens, env }) => {
      for (const token of tokens.flatMap(({ children }) => children ?? [])) {
        const href = token.type === "link_open" ? (token.attrGet("href") ?? "") : "";
        if (href && !/^([a-z]+:|[#/])/.test(href)) token.attrSet("href", this.#addressOf(href, this.sourceOf(env)));
      }
    });
  }

  /** The file of a page: VitePress gives its place on the site. */
  sourceOf({ realPath, path }: { realPath?: string; path: string }): string {
    if (realPath) return realPath;
    return existsSync(path) ? path : join(this.#root, "docs", relative(this.#root, path));
  }

  #addressOf(href: string, page: string): string {
    const [target = "", anchor] = href.split("#");
    const path = relative(this.#root, resolve(dirname(page), target));
    const isPage = /^(docs\/.*|\w+)\.md$/.test(path) && path !== "README.md";
    if (isPage && page.startsWith(join(this.#root, "docs/")) && path.startsWith("docs/")) return href;
    const place = path.replace(/^docs\/(README\.md)?/, "").replace(/\.md$/, "");
    if (isPage) return `/${place}${anchor ? `#${anchor}` : ""}`;
    // Pages of site/ link to one another. A dead link stays: VitePress reports it.
    if (path.startsWith("site/") || !existsSync(join(this.#root, path))) return href;
    this.#linked.add(path);
    return `/source/${path}.txt`;
  }

  /** Writes every file to which a page has linked. */
  write(outDir: string): void {
    for (const path of this.#linked) {
      const file = join(outDir, "source", `${path}.txt`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, this.#textOf(path));
    }
  }

  #textOf(path: string): string {
    const full = join(this.#root, path);
    if (statSync(full).isFile()) return readFileSync(full, "utf8");
    const files = readdirSync(full, { recursive: true, encoding: "utf8" })
      .filter((name) => !skipped.test(name) && statSync(join(full, name)).isFile())
      .toSorted();
    return files.map((name) => `--- ${join(path, name)}\n\n${readFileSync(join(full, name), "utf8")}\n`).join("\n");
  }
}
