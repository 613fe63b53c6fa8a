/**
 * Checks vectors of chunks and claims, and normalizes them to length 1, so that a dot product compares them. The
 * application chooses the model.
 * Next hop: `sql/rag/similarity_of.sql`.
 */
import type { RequestTransaction } from "../postgres/transaction.ts";
import { type ResolvedScope, refusal } from "../search/scope.ts";
import type { Section } from "../text/cut-document.ts";

/** Maximum dimensions of a vector. */
const longest = 4_096;

/** @throws SvcError BAD_REQUEST for an invalid vector, or one without a direction */
function unitVector(path: string, vector: unknown): number[] {
  const isVector =
    Array.isArray(vector) &&
    vector.length > 0 &&
    vector.length <= longest &&
    vector.every((one) => Number.isFinite(one));
  if (!isVector) throw refusal(path, `1 to ${longest} finite numbers`);
  const length = Math.hypot(...vector);
  if (!(length > 0 && Number.isFinite(length))) throw refusal(path, "a vector with a direction: not all zero");
  return vector.map((one) => one / length);
}

/** @throws SvcError BAD_REQUEST, as `unitVector` */
export const optionalVector = (path: string, vector: unknown): number[] | undefined =>
  vector === undefined ? undefined : unitVector(path, vector);

/** Adds to each chunk the vector of its headings and text. @throws SvcError BAD_REQUEST, and errors of `embed` */
export async function embedChunks(
  sections: Section[],
  embed?: (texts: string[]) => Promise<number[][]>,
): Promise<Section[]> {
  if (!embed) return sections;
  const texts = sections.flatMap(({ path, chunks }) => chunks.map(({ text }) => [...path, text].join("\n")));
  const vectors = texts.length > 0 ? await embed(texts) : [];
  if (!Array.isArray(vectors) || vectors.length !== texts.length) {
    throw refusal("embed", `a function that gives ${texts.length} vectors, one for each text`);
  }
  const units = vectors.map((vector, at) => unitVector(`embed.${at}`, vector));
  if (units.some((unit) => unit.length !== units[0]?.length)) throw refusal("embed", "vectors of one length");
  let next = 0;
  return sections.map((section) => ({
    ...section,
    chunks: section.chunks.map((chunk) => ({ ...chunk, embedding: units[next++] as number[] })),
  }));
}

/**
 * @param vectors by the path of each in the input
 * @throws SvcError BAD_REQUEST when the scope's vectors have another length, because they come from another model
 */
export async function requireLength(
  transaction: RequestTransaction,
  { corpus, visibility, owner }: ResolvedScope,
  vectors: Readonly<Record<string, number[] | undefined>>,
): Promise<void> {
  if (!Object.values(vectors).some(Boolean)) return;
  const { rows } = await transaction.query(
    { name: "svc_vector_lengths", text: "select svc.vector_lengths($1, $2, $3) as lengths" },
    [corpus, visibility, owner],
  );
  const lengths: number[] = rows[0].lengths;
  for (const [path, vector] of Object.entries(vectors)) {
    if (!vector || lengths.length === 0 || lengths.includes(vector.length)) continue;
    throw refusal(path, `${lengths.join(" or ")} numbers, as those of the documents`);
  }
}
