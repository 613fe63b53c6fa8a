/**
 * Run: a query or mutation as a user, rolled back. `svc dry-run` runs it, in a process with the service's own logins;
 * the forms are those of the OpenAPI document.
 * Next hop: `src/service/dry-run.ts`.
 */
import { z } from "zod";
import { panel } from "./panel.ts";
import { viewer } from "./view.ts";

/** The name of a query or mutation. */
export const procedure = z.string().regex(/^[A-Za-z_][\w.]{0,127}$/);

interface Schema {
  type?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
  $ref?: string;
}

interface Document {
  paths: Record<string, { post?: Operation }>;
  components: { schemas: Record<string, Schema> };
}

interface Operation {
  summary?: string;
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export const runPanels = {
  operations: panel(z.strictObject({}), async (_, { command }) => {
    const document = (await command("openapi")) as Document;
    return Object.entries(document.paths).flatMap(([path, { post }]) => {
      const [, kind, name] = /^\/api\/(query|mutation)\/(.+)$/.exec(path) ?? [];
      const content = post?.requestBody?.content;
      return kind && name && content ? [{ kind, name, says: post.summary ?? "", ...inputOf(content, document) }] : [];
    });
  }),
  dryRun: panel(
    z.strictObject({ name: procedure, as: viewer, args: z.json().optional() }),
    ({ name, as, args }, { command }) =>
      command(
        "dry-run",
        name,
        ...(as === null ? [] : [`--as=${as}`]),
        ...(args === undefined ? [] : [`--input=${JSON.stringify(args)}`]),
      ),
  ),
};

/** The members of its arguments. A call with files has none: those cannot be sent from here. */
function inputOf(content: Record<string, { schema: Schema }>, document: Document) {
  const resolve = ({ $ref, ...schema }: Schema): Schema =>
    ($ref && document.components.schemas[decodeURIComponent($ref.split("/").at(-1) ?? "")]) || schema;
  const json = content["application/json"];
  const args = resolve(resolve(json?.schema ?? {}).properties?.args ?? {});
  const fields = Object.entries(args.properties ?? {}).map(([name, schema]) => {
    const { type, enum: values, description } = resolve(schema);
    const texts = values?.filter((value) => typeof value === "string");
    return {
      name,
      // Anything else is written as JSON.
      type: texts?.length
        ? "choice"
        : ["string", "number", "integer", "boolean"].includes(String(type))
          ? type
          : "json",
      values: texts ?? [],
      required: args.required?.includes(name) ?? false,
      says: description ?? "",
    };
  });
  return { fields, takesFiles: !json };
}
