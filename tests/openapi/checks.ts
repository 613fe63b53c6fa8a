/** Checks values against the schemas of an OpenAPI document, including references. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { OpenApiDocument } from "../../src/openapi/document.ts";

export function schemaChecks(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: false });
  addFormats.default(ajv);
  for (const format of ["binary"]) ajv.addFormat(format, true);
  // OpenAPI's members around schemas are not JSON Schema keywords; the whole document is the target of references.
  ajv.addVocabulary(["openapi", "info", "servers", "tags", "paths", "components"]);
  ajv.addSchema({ ...document, $id: "document" } as object);
  const compiled = new Map<string, ValidateFunction>();

  return {
    /** @param pointer of a schema in the document */
    at(pointer: string): ValidateFunction {
      let check = compiled.get(pointer);
      if (!check) {
        check = ajv.compile({ $ref: `document#${pointer}` });
        compiled.set(pointer, check);
      }
      return check;
    },
  };
}

/** All schemas of a document, at any position. */
export function schemasOf(document: object): unknown[] {
  const found: unknown[] = [];
  const walk = (value: unknown, within: string) => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === "schema" || within === "schemas") found.push(inner);
      else walk(inner, key);
    }
  };
  walk(document, "");
  return found;
}
