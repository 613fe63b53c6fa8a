/**
 * Questions about the documentation. A question's own words, such as "how do I", say nothing of its subject; headings do, and
 * people use other words than the pages.
 */
import type { Passage } from "@svc/core";

const asking = new Set(
  "a an and are as at be can could do does for from get has have how i in is it make me my need of on or should svc that the to use want what when where which why with work works you your".split(
    " ",
  ),
);

/** What people type, and what the pages call it. */
const synonyms: Readonly<Record<string, string>> = {
  api: "service",
  backup: "back",
  column: "schema",
  cors: "origins",
  email: "mails",
  embedding: "vector",
  env: "environment",
  environment: "configuration",
  external: "another",
  file: "files",
  infinite: "endless",
  many: "joins",
  maximum: "limits",
  next: "render",
  pagination: "endless",
  rate: "limits",
  retried: "runs",
  roles: "rbac",
  variable: "configuration",
  websocket: "realtime",
};

/** Words without their endings, so that "tests" is "test" and "limiting" is "limit". */
const stem = (word: string) => (word.length > 4 ? word.replace(/(ments?|ing|ies|es|s|ed|e|y)$/, "") : word);

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function subject(question: string): string[] {
  const words = wordsOf(question);
  const kept = words.filter((word) => !asking.has(word));
  return kept.length > 0 ? kept : words;
}

/** The words to look up. */
export function searchedWords(question: string): string {
  return subject(question)
    .flatMap((word) => [word, synonyms[word] ?? synonyms[stem(word)] ?? []].flat())
    .join(" ");
}

const stemsOf = (text: string) => new Set(wordsOf(text).map(stem));

/** Whether a title names the subject. */
export function isAbout(title: string, question: string): boolean {
  const named = stemsOf(title);
  return wordsOf(searchedWords(question)).some((word) => named.has(stem(word)));
}

/** Below it, a passage shares only words in passing: then no page answers. */
const least = 0.6;

/** Passages whose title and headings name the subject come first. */
export function byHeadings(question: string, passages: readonly Passage[]): Passage[] {
  const asked = [...new Set(wordsOf(searchedWords(question)).map(stem))];
  const share = (text: string) => {
    const there = stemsOf(text);
    return asked.filter((word) => there.has(word)).length / Math.max(asked.length, 1);
  };
  const rank = ({ score, sourceTitle, sectionPath }: Passage) =>
    score + share(sourceTitle) + share(`${sourceTitle} ${sectionPath.join(" ")}`);
  return passages.filter((passage) => rank(passage) >= least).sort((one, other) => rank(other) - rank(one));
}
