// Shows the OpenAPI document. Texts are only ever set as text, never as markup.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
const DEPTH_MAX = 4;

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  for (const child of children) made.append(child);
  return made;
}

function resolve(schema, documentation) {
  if (!schema || !schema.$ref) return schema || {};
  return documentation.components.schemas[schema.$ref.split("/").pop()] || {};
}

function typeName(schema) {
  if (!schema || schema === true) return "anything";
  if (schema.$ref) return schema.$ref.split("/").pop();
  const many = schema.anyOf || schema.oneOf;
  if (many) return many.map(typeName).join(" | ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const type = Array.isArray(schema.type) ? schema.type.join(" | ") : schema.type || "anything";
  const items = schema.items ? ` of ${typeName(schema.items)}` : "";
  return type + items + (schema.format ? ` (${schema.format})` : "");
}

function fields(schema, documentation, depth) {
  const whole = resolve(schema, documentation);
  const properties = Object.entries(whole.properties || {});
  if (properties.length === 0 || depth > DEPTH_MAX) return element("code", {}, typeName(whole.enum || whole.type ? whole : schema));
  const required = new Set(whole.required || []);
  const rows = properties.map(([name, property]) => {
    const inner = property.$ref ? property : property.items && property.items.$ref ? property.items : null;
    const about = element("td", {}, property.description || resolve(property, documentation).description || "");
    if (inner) {
      const more = element("details", {}, element("summary", {}, typeName(inner)));
      more.addEventListener("toggle", () => {
        if (more.open && more.childElementCount === 1) more.append(element("div", { class: "body" }, fields(inner, documentation, depth + 1)));
      });
      about.append(more);
    }
    return element("tr", {}, element("td", {}, element("code", {}, name + (required.has(name) ? "" : "?"))), element("td", {}, element("code", {}, typeName(property))), about);
  });
  return element("table", {}, element("tbody", {}, ...rows));
}

function contents(content, documentation) {
  const parts = [];
  for (const [media, payload] of Object.entries(content || {})) {
    parts.push(element("p", {}, element("code", {}, media)));
    const schema = payload.schema || payload["x-event"];
    if (!schema) continue;
    parts.push(fields(schema, documentation, 0));
    for (const example of resolve(schema, documentation).examples || []) {
      parts.push(element("pre", {}, JSON.stringify(example, null, 2)));
    }
  }
  return parts;
}

function body(operation, documentation) {
  const parts = [];
  const scope = operation["x-scope"];
  const isOpen = operation.security && operation.security.length === 0;
  parts.push(element("p", {}, isOpen ? "Needs no credential." : scope ? `Needs the scope ${scope}.` : "Needs a credential."));
  if (operation.parameters.length > 0) {
    const rows = operation.parameters.map((parameter) =>
      element("tr", {}, element("td", {}, element("code", {}, parameter.name + (parameter.required ? "" : "?"))), element("td", {}, parameter.in), element("td", {}, element("code", {}, typeName(parameter.schema))), element("td", {}, parameter.description || "")));
    parts.push(element("h3", {}, "Parameters"), element("table", {}, element("tbody", {}, ...rows)));
  }
  if (operation.requestBody) parts.push(element("h3", {}, "Body"), ...contents(operation.requestBody.content, documentation));
  parts.push(element("h3", {}, "Answers"));
  for (const [status, told] of Object.entries(operation.responses)) {
    const answer = told.$ref ? documentation.components.responses[status] : told;
    const isError = Number(status) >= 400;
    parts.push(element("p", {}, element("strong", {}, status), ` ${answer.description}`));
    if (!isError) parts.push(...contents(answer.content, documentation));
  }
  return parts;
}

function show(documentation) {
  document.getElementById("about").textContent = `${documentation.info.description} Version ${documentation.info.version}.`;
  const groups = new Map();
  for (const [path, methods] of Object.entries(documentation.paths)) {
    for (const method of METHODS.filter((one) => methods[one])) {
      const operation = methods[method];
      const group = operation.tags[0];
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push({ path, method, operation });
    }
  }
  const main = document.getElementById("operations");
  const shown = [];
  for (const [group, operations] of [...groups].sort(([one], [other]) => one.localeCompare(other))) {
    const section = element("section", { id: group }, element("h2", {}, group));
    for (const { path, method, operation } of operations) {
      const head = element("summary", {}, element("span", { class: "method" }, method), element("code", {}, path), element("span", { class: "words" }, operation.summary));
      const details = element("details", { id: operation.operationId }, head);
      if (operation.deprecated) details.classList.add("deprecated");
      details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1) details.append(element("div", { class: "body" }, ...body(operation, documentation)));
      });
      section.append(details);
      shown.push({ details, section, text: `${method} ${path} ${operation.operationId} ${operation.summary}`.toLowerCase() });
    }
    main.append(section);
    document.getElementById("groups").append(element("a", { href: `#${group}` }, group));
  }
  document.getElementById("find").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/);
    for (const { details, text } of shown) details.hidden = !words.every((word) => text.includes(word));
    for (const section of main.children) section.hidden = ![...section.querySelectorAll("details")].some((one) => !one.hidden);
  });
}

fetch("/api/openapi.json")
  .then((answer) => answer.json())
  .then(show)
  .catch((error) => { document.getElementById("about").textContent = `The description cannot be read: ${error}`; });
