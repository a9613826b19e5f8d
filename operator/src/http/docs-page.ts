import { createHash } from "node:crypto";

/** As much of a JSON schema as the page shows. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>;
}

/** As much of an OpenAPI document as the page shows. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly description?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const STYLE =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}" +
  "table{border-collapse:collapse;width:100%}td,th{border:1px solid #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top}" +
  "code{font-size:.9em}h2{margin-top:2.5rem}";

/** Only this page's own style: no script, and nothing from elsewhere. */
const POLICY =
  `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A page to read an OpenAPI document, complete in itself. */
export function docsPage({ info, paths = {} }: OpenApi): { readonly html: string; readonly policy: string } {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(method, path, operation)),
  );
  const html =
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${text(info.title)}</title><style>${STYLE}</style>` +
    `<h1>${text(info.title)}</h1><p>${text(info.description)}</p>` +
    `<p>The same for programs: <a href="openapi.json">openapi.json</a>.</p>${operations.join("")}</html>`;
  return { html, policy: POLICY };
}

function section(method: string, path: string, operation: Operation): string {
  const { parameters = [], requestBody, responses = {} } = operation;
  const given = parameters.map(({ name, required, description, schema = {} }) => {
    const rest = description === undefined ? schema : { ...schema, description };
    return row(name, rest, required === true);
  });
  const answers = Object.entries(responses).map(
    ([status, { description, content }]) => `<h4>${text(status)} ${text(description)}</h4>${bodies(content)}`,
  );
  return (
    `<h2><code>${text(method.toUpperCase())} ${text(path)}</code></h2>` +
    `<p>${text(operation.summary)} ${text(operation.description)}</p>` +
    (given.length > 0 ? `<h3>Query</h3>${table(given)}` : "") +
    (requestBody ? `<h3>Body</h3>${bodies(requestBody.content)}` : "") +
    `<h3>Answers</h3>${answers.join("")}`
  );
}

function bodies(content: Content = {}): string {
  return Object.entries(content)
    .map(
      ([type, { schema = {} }]) =>
        `<p><code>${text(type)}</code> ${text(schema.description)}</p>${table(rows(schema))}`,
    )
    .join("");
}

/** The properties of an object, or of each of an array, with those inside them. */
function rows(schema: Schema, prefix = ""): string[] {
  if (schema.items) return rows(schema.items, `${prefix}[].`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    row(`${prefix}${name}`, inner, schema.required?.includes(name) ?? false),
    ...rows(inner, inner.items ? `${prefix}${name}` : `${prefix}${name}.`),
  ]);
}

function row(name: string, schema: Schema, isRequired: boolean): string {
  const cells = [`<code>${text(name)}</code>`, text(typeOf(schema)), isRequired ? "yes" : "", text(schema.description)];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

function table(lines: readonly string[]): string {
  if (lines.length === 0) return "";
  return `<table><tr><th>name</th><th>type</th><th>required</th><th>meaning</th></tr>${lines.join("")}</table>`;
}

function typeOf({ type, const: only, anyOf, items }: Schema): string {
  if (only !== undefined) return JSON.stringify(only);
  if (anyOf) return anyOf.map(typeOf).join(" or ");
  return items ? `array of ${typeOf(items)}` : (type ?? "any");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const text = (raw = "") => raw.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
