/** Reads the comments of a sheet: notes, and threads with the author and date of every answer. */
import type { Element } from "@xmldom/xmldom";
import { literal } from "./html-tables.ts";
import { all, parsePart, relationsOf, textOf } from "./xml-parts.ts";

/** @returns a sentence for each comment */
export function readComments(bytes: Buffer, sheet: string): string[] {
  const parts = relationsOf(bytes, sheet);
  const part = (type: string) => parsePart(bytes, parts.find((link) => link.type === type)?.path ?? "");
  const threads = readThreads(bytes, part("threadedComment"));
  const notes = part("comments");
  const authors = all(notes, "author").map((author) => author.textContent ?? "");
  const written = all(notes, "comment").flatMap((comment) => {
    const place = comment.getAttribute("ref") ?? "";
    const author = authors[Number(comment.getAttribute("authorId"))] ?? "";
    // A thread has a copy of itself as a note, for older versions of Excel.
    if (author.startsWith("tc=")) return threads.get(place) ?? [sentence(place, [], withoutNotice(textOf(comment)))];
    return [sentence(place, [author], textOf(comment))];
  });
  return written;
}

function readThreads(bytes: Buffer, root: Element | null): Map<string, string[]> {
  const people = all(root && parsePart(bytes, "xl/persons/person.xml"), "person");
  const names = new Map(people.map((one) => [one.getAttribute("id"), one.getAttribute("displayName") ?? ""]));
  const threads = new Map<string, string[]>();
  for (const comment of all(root, "threadedComment")) {
    const place = comment.getAttribute("ref") ?? "";
    const by = [names.get(comment.getAttribute("personId")) ?? "", (comment.getAttribute("dT") ?? "").slice(0, 10)];
    const text = all(comment, "text")[0]?.textContent ?? "";
    threads.set(place, [...(threads.get(place) ?? []), sentence(place, by, text)]);
  }
  return threads;
}

const sentence = (place: string, by: string[], text: string) =>
  `Comment (${[place, ...by].filter(Boolean).map(literal).join(", ")}): ${literal(text.replace(/\s*\n\s*/g, " ").trim())}`;

/** Excel puts a notice in front of the copy. */
const withoutNotice = (text: string) => text.replace(/^\[Threaded comment\][\s\S]*?\bComment:\s*/, "");
