/**
 * Writes `llms.txt`, the documentation's index for language models that help somebody with svc (https://llmstxt.org). It is
 * made of `docs/README.md` and the first sentence of each page; a test compares. Published with the pages, so that what
 * lies in node_modules/@svc/core is about the version that is installed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** @returns the text of `llms.txt` */
export function llmsText(): string {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const index = readFileSync(join(root, "docs/README.md"), "utf8");
  const summary = firstSentence(readme);
  const sections = [...index.matchAll(/^## (.+?)\n(.*?)(?=^## |$(?![\s\S]))/gms)].map(([, name = "", links = ""]) => {
    const lines = [...links.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g)].map(([, title, path]) => {
      const text = readFileSync(join(root, "docs", path as string), "utf8");
      return `- [${(title ?? "").replaceAll(/\s+/g, " ")}](docs/${path}): ${firstSentence(text)}`;
    });
    return lines.length > 0 ? `## ${name}\n\n${lines.join("\n")}\n` : "";
  });
  return [`# svc\n\n> ${summary}\n`, ...sections.filter(Boolean)].join("\n");
}

/** Of the first paragraph below the title; links become their words. */
function firstSentence(page: string): string {
  const paragraph = page.split(/\n\n+/).find((part) => !/^(#|\||!|```|- |\d\.|<)/.test(part)) ?? "";
  const text = paragraph
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replaceAll(/\s+|\*\*/g, (mark) => (mark === "**" ? "" : " "));
  return /^.*?[.:](?= [A-Z`]|$)/.exec(text)?.[0].replace(/:$/, ".") ?? text;
}

if (import.meta.main) writeFileSync(join(root, "llms.txt"), llmsText());
