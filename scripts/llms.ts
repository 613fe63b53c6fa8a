/**
 * Writes what is made of the pages in docs/; tests compare.
 *
 * - `llms.txt`, the index for language models that help somebody with svc (https://llmstxt.org): of `docs/README.md` and the
 *   first sentence of each page, with addresses below `homepage` of package.json.
 * - `docs/adr/README.md`, the list of decisions.
 *
 * Both are published with the pages, so that those in node_modules/@svc/core are about the version that is installed. The
 * site also has `llms-full.txt`, every page of the index in one file.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const { homepage, version } = JSON.parse(read("package.json")) as { homepage: string; version: string };

/** The address of a page on the site. */
export const addressOf = (page: string): string => homepage + page.replace(/\.md$/, ".html");

interface Page {
  title: string;
  /** Below docs/. */
  path: string;
}

export interface Section {
  name: string;
  pages: Page[];
  /** The same pages, where the section has headings of its own. */
  groups: { name: string; pages: Page[] }[];
}

/** The sections of `docs/README.md`, without the decisions, which are for those who work on svc. */
export function sections(): Section[] {
  return headed(read("docs/README.md"), "##")
    .filter(({ name }) => name !== "Decisions")
    .map(({ name, text }) => ({
      name,
      pages: pagesIn(text),
      groups: headed(text, "###").map((group) => ({ name: group.name, pages: pagesIn(group.text) })),
    }));
}

/** The parts of a text below the headings of one level. */
function headed(text: string, level: string): { name: string; text: string }[] {
  return text
    .split(new RegExp(`^${level} `, "m"))
    .slice(1)
    .map((part) => ({ name: part.split("\n")[0] ?? "", text: part }));
}

const pagesIn = (text: string): Page[] =>
  [...text.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g)].map(([, title = "", path = ""]) => ({
    title: title.replaceAll(/\s+/g, " "),
    path,
  }));

/** @returns the text of `llms.txt` */
export function llmsText(): string {
  const note = `Version ${version}. All pages in one file: [llms-full.txt](${homepage}llms-full.txt). The package @svc/core has the same pages in its folder docs/.`;
  const parts = sections().map(({ name, pages }) => {
    const lines = pages.map(
      ({ title, path }) => `- [${title}](${addressOf(path)}): ${firstSentence(read(join("docs", path)))}`,
    );
    return `## ${name}\n\n${lines.join("\n")}\n`;
  });
  return [`# svc\n\n> ${firstSentence(read("README.md"))}\n\n${note}\n`, ...parts].join("\n");
}

/** @returns the text of `llms-full.txt`: each page below its address, its links absolute */
export function llmsFullText(): string {
  const pages = sections().flatMap((section) => section.pages);
  const texts = pages.map(({ path }) => {
    const text = read(join("docs", path)).replaceAll(/\]\(([^):\s]+?\.md)(#[^)]*)?\)/g, (link, target, part = "") => {
      const page = posix.join(posix.dirname(path), target);
      return page.startsWith("..") ? link : `](${addressOf(page)}${part})`;
    });
    return `<!-- ${addressOf(path)} -->\n\n${text.trim()}\n`;
  });
  return [`# svc ${version}\n\n> ${firstSentence(read("README.md"))}\n`, ...texts].join("\n");
}

/** @returns the text of `docs/adr/README.md` */
export function decisionsText(): string {
  const names = readdirSync(join(root, "docs/adr")).filter((name) => /^\d{4}-.*\.md$/.test(name));
  const lines = names.toSorted().map((name) => {
    const title = /^# (?:\d+[.:] )?(.+)$/m.exec(read(join("docs/adr", name)))?.[1] ?? name;
    return `- [${name.slice(0, 4)}: ${title}](${name})`;
  });
  return `# Decisions\n\nEach page says what was decided, why, and what it costs. \`node scripts/llms.ts\` writes this list.\n\n${lines.join("\n")}\n`;
}

/** Of the first paragraph below the title; links become their words. */
function firstSentence(page: string): string {
  const paragraph = page.split(/\n\n+/).find((part) => !/^(#|\||!|```|- |\d\.|<)/.test(part)) ?? "";
  const text = paragraph
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replaceAll(/\s+|\*\*/g, (mark) => (mark === "**" ? "" : " "));
  return /^.*?[.:](?= [A-Z`]|$)/.exec(text)?.[0].replace(/:$/, ".") ?? text;
}

/** Every file that is made here, by its path. */
export const made: Record<string, () => string> = {
  "llms.txt": llmsText,
  "docs/adr/README.md": decisionsText,
};

if (import.meta.main) for (const [file, text] of Object.entries(made)) writeFileSync(join(root, file), text());
