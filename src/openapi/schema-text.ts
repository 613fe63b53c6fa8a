/** JSON Schema for people: in TypeScript notation, with links to named schemas. The output is escaped HTML. */

export const html = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** The id of a named schema, for links. */
export const anchor = (name: string) => html(encodeURIComponent(name));

const prefix = "#/components/schemas/";

type Schema = Record<string, unknown>;

/** @param indent of the line where the text begins */
export function schemaText(given: unknown, indent = ""): string {
  const schema = Object(given) as Schema;
  if (typeof schema.$ref === "string" && schema.$ref.startsWith(prefix)) {
    const name = schema.$ref.slice(prefix.length);
    return `<a href="#${anchor(name)}">${html(name)}</a>`;
  }
  if ("const" in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(" | ");
  for (const [key, between] of [
    ["anyOf", " | "],
    ["oneOf", " | "],
    ["allOf", " &amp; "],
  ] as const) {
    const parts = schema[key];
    if (Array.isArray(parts)) return parts.map((part) => schemaText(part, indent)).join(between);
  }
  const types = [schema.type].flat().filter((type) => typeof type === "string");
  if (types.length === 0) return schema.properties ? objectText(schema, indent) : "anything";
  return types.map((type) => typeText(type, schema, indent)).join(" | ");
}

function typeText(type: string, schema: Schema, indent: string): string {
  if (type === "object") return objectText(schema, indent);
  if (type === "array") {
    const items = schemaText(schema.items ?? {}, indent);
    return `${items.includes(" | ") && !items.startsWith("{") ? `(${items})` : items}[]`;
  }
  const limits = type === "null" || type === "boolean" ? [] : limitsOf(schema);
  return html(type) + (limits.length > 0 ? ` <i>(${html(limits.join(", "))})</i>` : "");
}

function limitsOf({ format, pattern, minimum, maximum, minLength, maxLength, contentEncoding }: Schema): string[] {
  const said = (value: unknown, text: (value: unknown) => string) => (value === undefined ? [] : [text(value)]);
  return [
    ...said(format, String),
    ...said(contentEncoding, String),
    ...(format === undefined ? said(pattern, (value) => `like ${value}`) : []),
    ...said(minimum, (value) => `from ${value}`),
    ...said(maximum, (value) => `to ${value}`),
    ...said(minLength, (value) => `at least ${value} characters`),
    ...said(maxLength, (value) => `at most ${value} characters`),
  ];
}

function objectText({ properties, required, additionalProperties }: Schema, indent: string): string {
  const entries = Object.entries(Object(properties) as Record<string, Schema>);
  const needed = new Set(Array.isArray(required) ? required : []);
  const more = typeof additionalProperties === "object" && additionalProperties ? additionalProperties : undefined;
  if (entries.length === 0 && !more) return "object";
  const inner = `${indent}  `;
  const lines = entries.map(([name, schema]) => {
    const { description, default: value } = Object(schema) as Schema;
    const notes = [description, value === undefined ? undefined : `Default: ${JSON.stringify(value)}`].filter(Boolean);
    const note = notes.length > 0 ? ` <i>// ${html(notes.join(" "))}</i>` : "";
    return `${inner}${html(name)}${needed.has(name) ? "" : "?"}: ${schemaText(schema, inner)};${note}`;
  });
  if (more) lines.push(`${inner}[others]: ${schemaText(more, inner)};`);
  return `{\n${lines.join("\n")}\n${indent}}`;
}

const literal = (value: unknown) => html(JSON.stringify(value) ?? "anything");
