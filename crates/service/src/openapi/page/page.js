// Shows openapi.json for reading. Whatever the document says becomes text, never markup: elements are made one by one,
// and `innerHTML` and its like are not used.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
const DEEPEST = 5;
let doc = {};

// An element with properties and children; a string becomes a text node.
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Text in which `code` stands between backticks.
function prose(text) {
  return String(text).split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part));
}

function resolve(node) {
  for (let hops = 0; node && typeof node.$ref === "string" && hops < 9; hops += 1) {
    const steps = node.$ref.replace(/^#\//, "").split("/");
    node = steps.reduce((at, step) => at && at[step.replaceAll("~1", "/").replaceAll("~0", "~")], doc);
  }
  return node || {};
}

// An object that needs one of several fields is `allOf` the object and the choice.
function withChoice(schema) {
  const parts = (schema.allOf || []).map(resolve);
  const object = parts.find((part) => part.properties);
  if (!object) return schema;
  const choices = parts.flatMap((part) => part.anyOf || []);
  return { ...object, oneNeeded: choices.flatMap((choice) => choice.required || []) };
}

// A schema that is `X or null`, as utoipa writes it for references, is X that may be null.
function plain(schema) {
  schema = withChoice(resolve(schema));
  const choices = schema.oneOf || schema.anyOf;
  if (!choices) return { schema, nullable: [].concat(schema.type).includes("null") };
  const rest = choices.filter((choice) => choice.type !== "null");
  const nullable = rest.length < choices.length;
  return rest.length === 1 ? { schema: resolve(rest[0]), nullable } : { schema, nullable };
}

function typeName(given) {
  const { schema, nullable } = plain(given);
  const types = [].concat(schema.type || (schema.properties ? "object" : "any")).filter((type) => type !== "null");
  let name = types.join(" or ");
  if (name === "array") name = `array of ${typeName(schema.items || {})}`;
  if (name === "string" && schema.format) name = schema.format;
  return nullable ? `${name} or null` : name;
}

// The bounds of a value in words. A pattern that only forbids NUL says nothing to a reader.
function rules(given) {
  const { schema } = plain(given);
  const words = [];
  if (schema.enum) words.push(`one of ${schema.enum.map((value) => JSON.stringify(value)).join(", ")}`);
  if (schema.default !== undefined) words.push(`default ${JSON.stringify(schema.default)}`);
  if (schema.minimum) words.push(`at least ${schema.minimum}`);
  if (schema.minLength) words.push(`at least ${schema.minLength} characters`);
  if (schema.maxLength) words.push(`at most ${schema.maxLength} characters`);
  if (schema.minItems) words.push(`at least ${schema.minItems} entries`);
  if (schema.maxItems) words.push(`at most ${schema.maxItems} entries`);
  if (schema.pattern && !schema.pattern.includes("\\u0000")) words.push(`of the form ${schema.pattern}`);
  return words.join(" · ");
}

// `required` is the mark of a field that has to be there, or nothing.
function row(name, schema, required, description, depth) {
  const bounds = rules(schema);
  const about = description || plain(schema).schema.description || "";
  return make("tr", {},
    make("td", {}, make("code", {}, "\u00a0\u00a0".repeat(depth) + name),
      required ? make("span", { className: "required" }, required) : null),
    make("td", { className: "type" }, typeName(schema)),
    make("td", {}, prose(about), about && bounds ? " " : "", make("span", { className: "rule" }, bounds)));
}

function fieldRows(given, sent, depth = 0) {
  let { schema } = plain(given);
  if (schema.type === "array" && schema.items) schema = plain(schema.items).schema;
  if (!schema.properties || depth > DEEPEST) return [];
  const marks = new Map((schema.oneNeeded || []).map((name) => [name, "one of these is required"]));
  for (const name of schema.required || []) marks.set(name, "required");
  return Object.entries(schema.properties).flatMap(([name, value]) => [
    row(name, value, sent && marks.get(name), value.description, depth),
    ...fieldRows(value, sent, depth + 1),
  ]);
}

function table(className, headings, rows) {
  const head = make("thead", {}, make("tr", {}, headings.map((heading) => make("th", { scope: "col" }, heading))));
  return make("div", { className: "wide", tabIndex: 0, role: "group", ariaLabel: headings.join(", ") }, make("table", { className }, head, make("tbody", {}, rows)));
}

// Only a reader who writes a body has to know which fields are required.
function fields(schema, sent) {
  const rows = fieldRows(schema, sent);
  return rows.length ? table("fields", ["Field", "Type", "Meaning"], rows) : make("p", { className: "type" }, typeName(schema));
}

function example(given, depth = 0) {
  const { schema } = plain(given);
  const type = [].concat(schema.type).find((one) => one !== "null");
  if (schema.example !== undefined) return schema.example;
  if (schema.properties && depth <= DEEPEST) {
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, value]) => [name, example(value, depth + 1)]));
  }
  if (type === "array") return [example(schema.items || {}, depth + 1)];
  if (type === "integer") return 1;
  if (type === "number") return 12.5;
  if (type === "boolean") return true;
  if (schema.format === "date-time") return "2026-01-31T09:30:00Z";
  return schema.pattern && schema.pattern.includes("A-Z") ? "EUR" : "text";
}

function jsonOf(content) {
  return content && content["application/json"] && content["application/json"].schema;
}

function curl(method, path, operation) {
  const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}${location.origin}${path}`];
  if (operation.security) lines.push(`-H "Authorization: Bearer $SHEETPORT_ACCESS_TOKEN"`);
  const content = operation.requestBody && resolve(operation.requestBody).content["application/json"];
  if (content) {
    lines.push(`-H "Content-Type: application/json"`);
    lines.push(`-d '${JSON.stringify(content.example || example(content.schema), null, 2).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n  ");
}

function answers(operation) {
  return table("statuses", ["Status", "Meaning", "Headers"], Object.entries(operation.responses || {}).map(([status, given]) => {
    const response = resolve(given);
    return make("tr", {},
      make("td", { className: status.startsWith("2") ? "good" : "bad" }, status),
      make("td", {}, prose(response.description || "")),
      make("td", { className: "type" }, Object.keys(response.headers || {}).filter((name) => name !== "x-ctx-id").join(", ")));
  }));
}

function article(method, path, operation, id) {
  const parameters = (operation.parameters || []).map(resolve);
  const body = operation.requestBody && jsonOf(resolve(operation.requestBody).content);
  const answer = jsonOf(resolve((operation.responses || {})["200"] || {}).content);
  const part = (heading, content) => [make("h4", {}, heading), content];
  return make("article", { id },
    make("h3", {}, operation.summary || id),
    make("div", { className: "call" },
      make("span", { className: `method ${method}` }, method.toUpperCase()), make("span", { className: "path" }, path),
      make("span", { className: "access" }, operation.security ? "bearer token" : "no bearer token")),
    operation.description ? make("p", {}, prose(operation.description)) : null,
    parameters.length
      ? part("Parameters", table("fields", ["Name", "Type", "Meaning"], parameters.map((parameter) =>
        row(parameter.name, parameter.schema || {}, parameter.required && "required",
          `${parameter.description || ""} (${parameter.in})`, 0))))
      : null,
    body ? part("Body", fields(body, true)) : null,
    answer ? part("Answer", fields(answer, false)) : null,
    part("Statuses", answers(operation)),
    make("details", {}, make("summary", {}, "Example call"), make("pre", { tabIndex: 0 }, make("code", {}, curl(method, path, operation)))));
}

function show() {
  const main = document.getElementById("main");
  const contents = document.getElementById("contents");
  const info = doc.info || {};
  document.title = info.title || "API reference";
  const operations = Object.entries(doc.paths || {}).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({ path, method, operation: item[method] })));
  main.replaceChildren(
    make("h1", {}, info.title || ""),
    make("p", { className: "version" }, `Version ${info.version || "?"} · `,
      make("a", { href: "openapi.json" }, "openapi.json"), ` · OpenAPI ${doc.openapi || "?"}`),
    make("p", {}, prose(info.description || "")),
    make("p", {}, "Every answer has a header ", make("code", {}, "x-ctx-id"), ", which the service's log has, too."));
  for (const tag of doc.tags || []) {
    const own = operations.filter(({ operation }) => (operation.tags || []).includes(tag.name));
    if (!own.length) continue;
    main.append(make("h2", { className: "tag" }, tag.name), make("p", {}, prose(tag.description || "")));
    const list = make("ul", {});
    for (const { path, method, operation } of own) {
      const id = operation.operationId || `${method} ${path}`;
      main.append(article(method, path, operation, id));
      list.append(make("li", {}, make("a", { href: `#${encodeURIComponent(id)}`, title: `${method.toUpperCase()} ${path}` },
        make("span", { className: `method ${method}` }, method.toUpperCase()), operation.summary || path)));
    }
    contents.append(make("section", {}, make("h2", {}, tag.name), list));
  }
  if (location.hash) location.replace(location.hash);
}

function filter(words) {
  const wanted = words.trim().toLowerCase();
  for (const section of document.querySelectorAll("#contents section")) {
    let some = false;
    for (const entry of section.querySelectorAll("li")) {
      const link = entry.querySelector("a");
      entry.hidden = !`${link.textContent} ${link.title}`.toLowerCase().includes(wanted);
      some = some || !entry.hidden;
    }
    section.hidden = !some;
  }
}

document.getElementById("filter").addEventListener("input", (event) => filter(event.target.value));
fetch("openapi.json")
  .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`the service answered ${response.status}`))))
  .then((read) => { doc = read; show(); })
  .catch((error) => {
    const state = make("p", { className: "error" }, `openapi.json could not be shown: ${error.message}`);
    document.getElementById("main").replaceChildren(state);
  });
