/**
 * `local-hash`: embeddings without a model, for development and tests. Words and their three-letter pieces are hashed
 * into 384 dimensions. Texts that share words are near each other; texts with the same meaning in other words are not.
 * It is not a semantic embedding, and must not be called one.
 */
import { createHash } from "node:crypto";
import { comparable } from "../text/composed.ts";

const dimensions = 384;

/** @returns a vector of length 1, or all zeros for a text without letters and digits */
export function hashEmbedding(text: string): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  const words =
    comparable(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  for (const word of words) {
    add(vector, word, 1);
    const letters = [...` ${word} `];
    for (let at = 0; at + 3 <= letters.length; at++) add(vector, letters.slice(at, at + 3).join(""), 0.3);
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** The hash gives the dimension and the sign, so that colliding pieces cancel out on average. */
function add(vector: number[], piece: string, weight: number): void {
  const hash = createHash("md5").update(piece).digest();
  const place = hash.readUInt16LE(0) % dimensions;
  vector[place] = (vector[place] ?? 0) + (hash.readUInt8(2) & 1 ? weight : -weight);
}
