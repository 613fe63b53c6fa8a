/**
 * Vectors that a test can compute: latent semantic analysis, the strongest directions of the TF-IDF matrix of a
 * collection, found by subspace iteration from a fixed start. They tell which words occur together in the collection,
 * and nothing about meaning. They replace a model's vectors, to judge the fusion of two unequal legs.
 */

import { createHash } from "node:crypto";

/** Terms of a text with their counts. */
export type Counts = ReadonlyMap<string, number>;

/** @returns a function from a text's terms to its vector of length 1; all zeros for a text of unknown terms */
export function lsa(texts: readonly Counts[], dimensions: number, passes = 6): (text: Counts) => number[] {
  const places = new Map<string, number>();
  const holding: number[] = [];
  for (const text of texts) {
    // Sorted, because the order of terms determines the start of the iteration.
    for (const term of [...text.keys()].toSorted()) {
      const place = places.get(term) ?? places.set(term, places.size).size - 1;
      holding[place] = (holding[place] ?? 0) + 1;
    }
  }
  const weigh = (text: Counts): Row => {
    const known = [...text.keys()].filter((term) => places.has(term));
    const at = Int32Array.from(known, (term) => places.get(term) as number);
    const weights = Float64Array.from(known, (term, i) => {
      return (
        (1 + Math.log(text.get(term) as number)) * Math.log(1 + texts.length / (holding[at[i] as number] as number))
      );
    });
    const length = Math.hypot(...weights) || 1;
    return { at, weights: weights.map((weight) => weight / length) };
  };
  const rows = texts.map(weigh);
  const random = uniform(7);
  let axes: Float64Array[] = Array.from({ length: dimensions }, () =>
    Float64Array.from({ length: places.size }, () => random() - 0.5),
  );
  for (let pass = 0; pass < passes; pass++) axes = orthonormal(axes.map((axis) => throughMatrix(rows, axis)));
  return (text) => {
    const weighed = weigh(text);
    const vector = axes.map((axis) => dot(weighed, axis));
    const length = Math.hypot(...vector) || 1;
    return vector.map((one) => one / length);
  };
}

/**
 * Hashed words: each term adds to one dimension, chosen by its hash, with a sign. Terms in the same dimension cannot be
 * distinguished. It carries no meaning and much noise, and must never be called semantic.
 *
 * @returns a function from a text's terms to its vector of length 1; all zero for a text without terms
 */
export function hashed(dimensions: number): (text: Counts) => number[] {
  return (text) => {
    const vector = new Array<number>(dimensions).fill(0);
    for (const [term, count] of text) {
      const hash = createHash("md5").update(term).digest();
      const place = hash.readUInt32LE(0) % dimensions;
      vector[place] = (vector[place] ?? 0) + (hash.readUInt8(4) % 2 ? 1 : -1) * (1 + Math.log(count));
    }
    const length = Math.hypot(...vector) || 1;
    return vector.map((one) => one / length);
  };
}

/** A row of a sparse matrix: the columns that are not zero, and their values. */
interface Row {
  at: Int32Array;
  weights: Float64Array;
}

function dot({ at, weights }: Row, axis: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < at.length; i++) sum += (weights[i] as number) * (axis[at[i] as number] as number);
  return sum;
}

/** The product of the transposed matrix, the matrix, and an axis. */
function throughMatrix(rows: Row[], axis: Float64Array): Float64Array {
  const product = new Float64Array(axis.length);
  for (const row of rows) {
    const share = dot(row, axis);
    for (let i = 0; i < row.at.length; i++) {
      const place = row.at[i] as number;
      product[place] = (product[place] as number) + (row.weights[i] as number) * share;
    }
  }
  return product;
}

/** Gram-Schmidt, in place. */
function orthonormal(axes: Float64Array[]): Float64Array[] {
  for (const [at, axis] of axes.entries()) {
    for (const other of axes.slice(0, at)) {
      let shared = 0;
      for (let i = 0; i < axis.length; i++) shared += (axis[i] as number) * (other[i] as number);
      for (let i = 0; i < axis.length; i++) axis[i] = (axis[i] as number) - shared * (other[i] as number);
    }
    const length = Math.sqrt(axis.reduce((sum, one) => sum + one * one, 0)) || 1;
    for (let i = 0; i < axis.length; i++) axis[i] = (axis[i] as number) / length;
  }
  return axes;
}

/** The same numbers in every run: a linear congruential generator, 0 to 1. */
function uniform(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
