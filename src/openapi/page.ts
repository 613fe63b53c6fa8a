/**
 * Renders the OpenAPI document as plain HTML without scripts or external resources. Everything from the document is
 * escaped. docs/adr/0021-the-api-page-and-graphqls-transport-stay-ours.md says why no library renders it.
 * Next hop: `schema-text.ts` writes schemas; `src/server/openapi.ts` serves the page.
 */
import { createHash } from "node:crypto";
import type { Part } from "../kit/parts.ts";
import type { OpenApiDocument } from "./document.ts";
import { pageStyle } from "./page-style.ts";
import { anchor, html, schemaText } from "./schema-text.ts";

/** In display order. */
const methods = ["get", "head", "post", "put", "patch", "delete", "options"] as const;

interface Body {
  content?: Record<string, { schema?: Part }>;
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: object[];
  parameters?: Part[];
  requestBody?: Body & { required?: boolean };
  responses: Record<string, Body & { description: string }>;
}

interface Entry extends Operation {
  method: string;
  path: string;
}

/** Allows only the page's own style and its empty icon: no scripts, frames or requests. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(pageStyle).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function openApiPage({ info, servers, tags, components, paths }: OpenApiDocument): string {
  const url = servers[0]?.url ?? "";
  const entries = Object.entries(paths).flatMap(([path, item]) =>
    methods.filter((method) => method in item).map((method) => entryOf(path, method, item)),
  );
  const groups = tags.map(({ name }) => ({ name, of: entries.filter((entry) => entry.tags[0] === name) }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(info.title)}: API</title>
<link rel="icon" href="data:,">
<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#operations">To the operations</a>
<header>
<h1>${html(info.title)} <small>${html(info.version)}</small></h1>
<p>${html(info.description).replace(/`([^`]*)`/g, "<code>$1</code>")}</p>
<p>Reached at <code>${html(url)}</code>. <a href="/openapi.json">This document as JSON</a>, for tools and generators.</p>
</header>
<nav aria-label="Operations">
${each(groups, ({ name, of }) => `<details><summary>${html(name)}</summary><ul>${each(of, link)}</ul></details>`)}
<p><a href="#schemas">Schemas</a></p></nav>
<main id="operations">
${each(groups, ({ name, of }) => `<section><h2>${html(name)}</h2>${each(of, (entry) => article(entry, url))}</section>`)}
<section id="schemas"><h2>Schemas</h2>
${each(Object.entries(components.schemas ?? {}), ([name, schema]) => `<h3 id="${anchor(name)}">${html(name)}</h3>${block(schema)}`)}
</section>
</main>
</body>
</html>
`;
}

const each = <T>(list: readonly T[], write: (one: T) => string) => list.map(write).join("\n");

function entryOf(path: string, method: string, item: Part): Entry {
  const operation = item[method] as Operation;
  const shared = (item.parameters ?? []) as Part[];
  return { ...operation, path, method: method.toUpperCase(), parameters: [...shared, ...(operation.parameters ?? [])] };
}

const link = ({ operationId, method, path }: Entry) =>
  `<li><a href="#${anchor(operationId)}"><b>${method}</b> ${html(path)}</a></li>`;

function article(entry: Entry, url: string): string {
  const { operationId, method, path, summary, description, parameters = [], requestBody, responses } = entry;
  const places = [...new Set(parameters.map((parameter) => String(parameter.in)))];
  return `
<article aria-labelledby="${anchor(operationId)}">
<h3 id="${anchor(operationId)}"><b>${method}</b> <code>${html(path)}</code></h3>
<p>${html(summary)}.</p>${description ? `<p>${html(description)}</p>` : ""}
<p class="who">${sessionOf(entry)}</p>
${each(places, (place) => `<h4>In the ${html(place)}</h4>${block(parametersIn(place, parameters))}`)}
${requestBody ? `<h4>Body${requestBody.required ? "" : ", optional"}</h4>${contents(requestBody)}` : ""}
<h4>Answers</h4>
<dl>${answers(responses)}</dl>
<details><summary>With curl</summary><pre tabindex="0">${html(curl(entry, url))}</pre></details>
</article>`;
}

function sessionOf({ security }: Operation): string {
  if (security.length === 0) return "Needs no session.";
  return security.some((one) => Object.keys(one).length === 0) ? "With or without a session." : "Needs a session.";
}

/** The parameters of one place, as the members of an object. */
function parametersIn(place: string, parameters: readonly Part[]): Part {
  const of = parameters.filter((parameter) => parameter.in === place);
  return {
    type: "object",
    properties: Object.fromEntries(
      of.map(({ name, schema, description }) => [name, { ...Object(schema), description }]),
    ),
    required: of.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** Successful answers one by one; the errors in one line, because they share one form. */
function answers(responses: Operation["responses"]): string {
  const isError = ([, answer]: [string, object]) => "$ref" in answer;
  const entries = Object.entries(responses);
  const errors = entries.filter(isError).map(([status]) => status);
  const own = each(
    entries.filter((entry) => !isError(entry)),
    ([status, answer]) => `<dt>${status}</dt><dd>${html(answer.description)}${contents(answer)}</dd>`,
  );
  if (errors.length === 0) return own;
  return `${own}<dt>Errors</dt><dd>${errors.join(", ")}: <a href="#${anchor("Error")}">Error</a></dd>`;
}

/** The media types of a body, each with its schema. */
const contents = ({ content = {} }: Body) =>
  each(
    Object.entries(content),
    ([type, { schema }]) => `<p><code>${html(type)}</code></p>${schema ? block(schema) : ""}`,
  );

const block = (schema: unknown) => `<pre tabindex="0">${schemaText(schema)}</pre>`;

function curl({ method, path, security, requestBody }: Entry, url: string): string {
  const needsSession = security.length > 0 && security.every((one) => Object.keys(one).length > 0);
  const isJson = "application/json" in Object(requestBody?.content);
  return [
    `curl -X ${method} '${url}${path}'`,
    ...(needsSession ? [`-H "authorization: Bearer $TOKEN"`] : []),
    ...(isJson ? [`-H 'content-type: application/json' -d '{ … }'`] : []),
  ].join(" \\\n  ");
}
