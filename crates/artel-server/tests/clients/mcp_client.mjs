// Speaks with artel through the official TypeScript client of the Model Context Protocol: a URL and a token are the last
// arguments, and the server must have the skill `greet`. The client itself checks every structured answer against the
// schema that the tool announced. Says `all is well` at the end.

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, token] = process.argv.slice(-2);
const requestInit = { headers: { Authorization: `Bearer ${token}` } };
const client = new Client({ name: "test", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));

const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === "search_skills"));
const greet = tools.find((tool) => tool.name === "greet");
assert.deepEqual(greet.inputSchema.required, ["name"]);

const found = await client.callTool({ name: "search_skills", arguments: { query: "greet" } });
assert.equal(found.structuredContent.skills[0].name, "greet");

const told = [];
const run = { name: "run_skill", arguments: { skill: "greet", params: { name: "Ann" } } };
const ran = await client.callTool(run, undefined, { onprogress: (progress) => told.push(progress.progress) });
assert.equal(ran.structuredContent.state, "succeeded");
assert.ok(told.length > 0);
const own = await client.callTool({ name: "greet", arguments: { name: "Ann" } });
assert.deepEqual(own.structuredContent, { greeting: "hello" });

const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: resources[0].uri });
assert.equal(contents.length, 1);
await client.listPrompts();
await assert.rejects(client.readResource({ uri: "skill://nobody/SKILL.md" }));
const refused = await client.callTool({ name: "read_skill", arguments: { skill: "nobody" } });
assert.equal(refused.isError, true);

await client.close();
console.log("all is well");
