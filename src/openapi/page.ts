/**
 * Renders the OpenAPI document as plain HTML without scripts or external resources. Everything from the document is
 * escaped.
 * Next hop: `src/kit/schema-text.ts` writes schemas; `src/server/openapi.ts` serves the page.
 */
import { createHash } from "node:crypto";
import type { Part } from "../kit/parts.ts";
import { anchor, html, schemaText } from "../kit/schema-text.ts";
import type { OpenApiDocument } from "./document.ts";
import { pageStyle } from "./page-style.ts";

/** In display order. */
const methods = ["get", "head", "post", "put", "patch", "delete", "options"] as const;

interface Operation {
  operationId: string;
  tags: string[];
  summary?: string;
  description?: string;
  security: object[];
  parameters?: Part[];
  requestBody?: { content: Record<string, { schema?: Part }>; required?: boolean };
  responses: Record<string, Part>;
}

interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

/** Allows only the page's own style: no scripts, frames or requests. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(pageStyle).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function openApiPage(document: OpenApiDocument): string {
  const { info, servers, tags, components } = document;
  const entries = entriesOf(document);
  const groups = tags.map(({ name }) => ({ name, of: entries.filter(({ operation }) => operation.tags[0] === name) }));
  const url = servers[0]?.url ?? "";
  const schemas = Object.entries(components.schemas ?? {});
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(info.title)}: API</title>
<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#operations">To the operations</a>
<header>
<h1>${html(info.title)} <small>${html(info.version)}</small></h1>
<p>${code(info.description)}</p>
<p>Reached at <code>${html(url)}</code>. <a href="/openapi.json">This document as JSON</a>, for tools and generators.</p>
</header>
<nav aria-label="Operations">${groups.map(({ name, of }) => contents(name, of)).join("")}
<p><a href="#schemas">Schemas</a></p></nav>
<main id="operations">
${groups.map(({ name, of }) => `<section><h2>${html(name)}</h2>${of.map((entry) => article(entry, url)).join("")}</section>`).join("\n")}
<section id="schemas"><h2>Schemas</h2>
${schemas.map(([name, schema]) => `<h3 id="${anchor(name)}">${html(name)}</h3><pre tabindex="0">${schemaText(schema)}</pre>`).join("\n")}
</section>
</main>
</body>
</html>
`;
}

function entriesOf({ paths }: OpenApiDocument): Entry[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method] as Operation | undefined;
      if (!operation) return [];
      const parameters = [...((item.parameters as Part[] | undefined) ?? []), ...(operation.parameters ?? [])];
      return [{ method, path, operation: { ...operation, parameters } }];
    }),
  );
}

const contents = (name: string, entries: readonly Entry[]) =>
  `<details><summary>${html(name)}</summary><ul>${entries.map(link).join("")}</ul></details>`;

const link = ({ method, path, operation }: Entry) =>
  `<li><a href="#${anchor(operation.operationId)}"><b>${method.toUpperCase()}</b> ${html(path)}</a></li>`;

function article({ method, path, operation }: Entry, url: string): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  return `
<article aria-labelledby="${anchor(operationId)}">
<h3 id="${anchor(operationId)}"><b>${method.toUpperCase()}</b> <code>${html(path)}</code></h3>
${summary ? `<p>${html(summary)}.</p>` : ""}${description ? `<p>${html(description)}</p>` : ""}
<p class="who">${whoMayCall(operation)}</p>
${parameters.length > 0 ? parameterTable(parameters) : ""}
${requestBody ? bodyOf(requestBody) : ""}
<h4>Answers</h4>
<dl>${answers(responses)}</dl>
<details><summary>With curl</summary><pre tabindex="0">${html(curl(method, url + path, operation))}</pre></details>
</article>`;
}

function whoMayCall({ security }: Operation): string {
  if (security.length === 0) return "Needs no session.";
  return security.some((one) => Object.keys(one).length === 0) ? "With or without a session." : "Needs a session.";
}

function parameterTable(parameters: readonly Part[]): string {
  const rows = parameters.map(
    ({ name, in: where, required, schema, description }) =>
      `<tr><th scope="row"><code>${html(String(name))}</code></th><td>${html(String(where))}${required ? ", required" : ""}</td>` +
      `<td><code>${schemaText(schema)}</code></td><td>${html(String(description ?? ""))}</td></tr>`,
  );
  const head = ["Parameter", "Where", "Value", "Meaning"].map((name) => `<th scope="col">${name}</th>`).join("");
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function bodyOf({ content, required }: NonNullable<Operation["requestBody"]>): string {
  const kinds = Object.entries(content).map(
    ([type, { schema }]) =>
      `<p><code>${html(type)}</code></p>${schema ? `<pre tabindex="0">${schemaText(schema)}</pre>` : ""}`,
  );
  return `<h4>Body${required ? "" : ", optional"}</h4>${kinds.join("")}`;
}

/** Successful answers one by one; the errors in one line, because they share one form. */
function answers(responses: Operation["responses"]): string {
  const isError = (response: Part) => typeof response.$ref === "string";
  const entries = Object.entries(responses);
  const statuses = entries.filter(([, response]) => isError(response)).map(([status]) => status);
  const errors = `<dt>Errors</dt><dd>${html(statuses.join(", "))}: <a href="#${anchor("Error")}">Error</a></dd>`;
  const own = entries
    .filter(([, response]) => !isError(response))
    .map(([status, response]) => answer(status, response));
  return own.join("") + (statuses.length > 0 ? errors : "");
}

function answer(status: string, response: Part): string {
  const content = Object.entries((response.content ?? {}) as Record<string, { schema?: Part }>);
  const kinds = content.map(([type, { schema }]) =>
    schema && Object.keys(schema).length > 0
      ? `<pre tabindex="0">${schemaText(schema)}</pre>`
      : ` <code>${html(type)}</code>`,
  );
  return `<dt>${html(status)}</dt><dd>${html(String(response.description ?? ""))}${kinds.join("")}</dd>`;
}

function curl(method: string, url: string, { security, requestBody }: Operation): string {
  const needsSession = security.length > 0 && security.every((one) => Object.keys(one).length > 0);
  const type = Object.keys(requestBody?.content ?? {})[0];
  return [
    `curl -X ${method.toUpperCase()} '${url}'`,
    ...(needsSession ? [`-H "authorization: Bearer $TOKEN"`] : []),
    ...(type === "application/json" ? [`-H 'content-type: application/json' -d '{ … }'`] : []),
  ].join(" \\\n  ");
}

/** Text with backticks for code. */
const code = (text: string) => html(text).replace(/`([^`]*)`/g, "<code>$1</code>");
