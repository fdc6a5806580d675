"""Speaks with artel through the official Python client of the Model Context Protocol.

    mcp_client.py http URL TOKEN          a server; it must have the skill `greet`
    mcp_client.py stdio COMMAND [ARG]...  a process that is started, like `artel mcp`

The client itself checks every structured answer against the schema that the tool announced. Says `all is well` at the end.
"""

import asyncio
import sys

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

OWN_TOOLS = {
    "search_skills", "read_skill", "read_skill_file", "run_skill", "run_plan", "get_run", "spawn_agent", "send_message",
    "read_messages",
}  # fmt: skip


def transport(arguments):
    if arguments[0] == "http":
        headers = {"Authorization": f"Bearer {arguments[2]}"}
        return streamable_http_client(arguments[1], http_client=create_mcp_http_client(headers=headers))
    return stdio_client(StdioServerParameters(command=arguments[1], args=arguments[2:]))


async def everything(pages, field):
    items, cursor = [], None
    while True:
        page = await pages(cursor=cursor)
        items.extend(getattr(page, field))
        cursor = page.next_cursor
        if cursor is None:
            return items


async def read(client):
    tools = {tool.name for tool in await everything(client.list_tools, "tools")}
    assert OWN_TOOLS <= tools, OWN_TOOLS - tools
    found = await client.call_tool("search_skills", {"page_size": 5})
    assert not found.is_error and found.structured_content["skills"], found
    name = found.structured_content["skills"][0]["name"]
    skill = await client.call_tool("read_skill", {"skill": name})
    assert skill.structured_content["name"] == name, skill
    path = skill.structured_content["files"][0]["path"]
    file = await client.call_tool("read_skill_file", {"skill": name, "path": path})
    assert file.structured_content["path"] == path, file
    resources = await everything(client.list_resources, "resources")
    contents = (await client.read_resource(str(resources[0].uri))).contents
    assert len(contents) == 1, contents
    await everything(client.list_prompts, "prompts")
    refused = await client.call_tool("read_skill", {"skill": "nobody"})
    assert refused.is_error and "there is no such skill" in refused.content[0].text, refused


async def act(client):
    told = []

    async def progress(value, total, message):
        told.append(value)

    ran = await client.call_tool("run_skill", {"skill": "greet", "params": {"name": "Ann"}}, progress_callback=progress)
    assert not ran.is_error and ran.structured_content["state"] == "succeeded", ran
    assert told and told == sorted(set(told)), told
    again = await client.call_tool("get_run", {"run_id": ran.structured_content["run_id"]})
    assert again.structured_content["is_over"], again
    own = await client.call_tool("greet", {"name": "Ann"})
    assert own.structured_content == {"greeting": "hello"}, own
    agents = []
    for name in ("one", "two"):
        spawned = await client.call_tool("spawn_agent", {"name": name, "skills": []})
        assert not spawned.is_error, spawned
        agents.append(spawned.structured_content["agent"]["agent_id"])
    message = {"sender_id": agents[0], "recipient_id": agents[1], "message_type": "event", "payload": {"text": "hello"}}
    sent = await client.call_tool("send_message", message)
    assert not sent.is_error, sent
    mail = await client.call_tool("read_messages", {"agent_id": agents[1]})
    assert mail.structured_content["items"][0]["payload"] == {"text": "hello"}, mail


async def main(arguments):
    for mode in ("legacy", "auto"):
        async with Client(transport(arguments), mode=mode) as client:
            await read(client)
            if arguments[0] == "http":
                await act(client)
        print(mode, "is fine")
    print("all is well")


asyncio.run(main(sys.argv[1:]))
