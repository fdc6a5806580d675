//! The Model Context Protocol over HTTP: every tool, resources, prompts, the Skills extension, progress and changes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs;

use artel_app::Reread;
use serde_json::{Value, json};

use crate::mcp_talker::Talker;
use crate::place::{ADMIN_TOKEN, Place, TestSkill, done, done_when_told};

const GUIDE: &str =
    "---\nname: guide\ndescription: How to guide people.\nlicense: MIT\n---\nTake $ARGUMENTS by the hand.\n";

/// A place with a skill that runs, one that waits, one that fails and one that only instructs.
async fn place() -> Place {
    let greet = format!(
        "echo '{{\"version\":\"0\",\"type\":\"log\",\"level\":\"info\",\"message\":\"halfway\"}}'\n{}",
        done("{\"greeting\":\"hello\"}")
    );
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let place = Place::open(&[
        TestSkill("greet", json!({"description": "Greets a person.", "parameters_schema": schema}), &greet),
        TestSkill("slow", json!({"description": "Takes its time."}), &done_when_told()),
        TestSkill("broken", json!({"description": "Fails."}), "exit 3"),
    ])
    .await;
    let folder = place.path("skills/guide");
    fs::create_dir_all(folder.join("references")).unwrap();
    fs::write(folder.join("SKILL.md"), GUIDE).unwrap();
    fs::write(folder.join("references/two words.md"), "Be kind.").unwrap();
    fs::write(folder.join("references/raw.bin"), [0xff, 0x00, 0xfe]).unwrap();
    place.catalogs.refresh(Reread::Folders).await.unwrap();
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_told_what_there_is() {
    let place = place().await;
    let talker = Talker::stranger(&place, ADMIN_TOKEN);
    let info = talker.initialize().await.result();
    assert_eq!(info["serverInfo"]["name"], "artel");
    assert_eq!(info["capabilities"]["tools"]["listChanged"], true);
    assert!(info["capabilities"]["extensions"]["io.modelcontextprotocol/skills"].is_object(), "{info}");
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    let expected = [
        "search_skills",
        "read_skill",
        "read_skill_file",
        "run_skill",
        "run_plan",
        "get_run",
        "spawn_agent",
        "send_message",
        "read_messages",
    ];
    let names = talker.tools().await;
    assert_eq!(names[..expected.len()], expected);
    let skills = &names[expected.len()..];
    assert!(skills.is_sorted());
    for (name, is_offered) in [("broken", true), ("greet", true), ("slow", true), ("guide", false)] {
        assert_eq!(skills.iter().any(|skill| skill == name), is_offered, "{name}");
    }
    let tools = talker.ask("tools/list", json!({})).await.result();
    let greet =
        tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "greet").unwrap().clone();
    assert_eq!(greet["inputSchema"]["required"], json!(["name"]));
    assert_eq!(greet["description"], "Greets a person.");
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_are_found_and_read() {
    let place = place().await;
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    let found = Talker::good(&talker.call("search_skills", json!({"query": "guide people"})).await);
    assert_eq!(
        (&found["skills"][0]["name"], &found["skills"][0]["runnable"]),
        (&json!("guide"), &json!(false))
    );
    let all = Talker::good(&talker.call("search_skills", json!({"page_size": 2})).await);
    assert_eq!((all["skills"].as_array().unwrap().len(), &all["has_more"]), (2, &json!(true)));
    let read = talker.call("read_skill", json!({"skill": "guide"})).await;
    assert_eq!(read["content"][0]["text"], "Take $ARGUMENTS by the hand.");
    let skill = Talker::good(&read);
    assert_eq!(skill["files"].as_array().unwrap().len(), 3);
    assert!(skill["content_hash"].as_str().unwrap().starts_with("sha256:"));
    let file =
        talker.call("read_skill_file", json!({"skill": "guide", "path": "references/two words.md"})).await;
    assert_eq!(file["content"][0]["text"], "Be kind.");
    let raw = talker.call("read_skill_file", json!({"skill": "guide", "path": "references/raw.bin"})).await;
    assert_eq!(Talker::good(&raw)["base64"], "/wD+");
    for (tool, arguments) in [
        ("read_skill", json!({"skill": "nobody"})),
        ("read_skill_file", json!({"skill": "guide", "path": "../../../etc/passwd"})),
    ] {
        let refused = talker.call(tool, arguments).await;
        assert_eq!(
            (&refused["isError"], &refused["_meta"]["artel/error"]["error"]),
            (&json!(true), &json!("not_found"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_file_comes_in_parts() {
    let place = place().await;
    let long = "0123456789abcdef\n".repeat(10_000);
    fs::write(place.path("skills/guide/references/long.txt"), &long).unwrap();
    place.catalogs.refresh(Reread::Folders).await.unwrap();
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    let (mut whole, mut offset) = (String::new(), json!(0));
    while !offset.is_null() {
        let arguments = json!({"skill": "guide", "path": "references/long.txt", "offset": offset});
        let part = Talker::good(&talker.call("read_skill_file", arguments).await);
        whole.push_str(part["text"].as_str().unwrap());
        offset = part["next_offset"].clone();
    }
    assert_eq!(whole, long);
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_and_plans_are_run() {
    let place = place().await;
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    let ran =
        Talker::good(&talker.call("run_skill", json!({"skill": "greet", "params": {"name": "Ann"}})).await);
    assert_eq!((&ran["state"], &ran["is_over"]), (&json!("succeeded"), &json!(true)));
    assert_eq!(ran["result"]["executionTrace"][0]["output"]["greeting"], "hello");
    let read = Talker::good(&talker.call("get_run", json!({"run_id": ran["run_id"]})).await);
    assert_eq!(read["result"], ran["result"]);
    let plan = json!({
        "requestId": "5a6c2a1e-6c4b-4a57-9a53-3a8a0b3b6b11",
        "tools": [{"toolId": "one", "skill": "greet", "input": {"name": "Bo"}, "dependencies": []}],
    });
    let planned = talker.call("run_plan", json!({"plan": plan})).await;
    assert_eq!(planned["structuredContent"]["state"], "succeeded", "{planned}");
    let own = talker.call("greet", json!({"name": "Cy"})).await;
    assert_eq!(Talker::good(&own), json!({"greeting": "hello"}));
    assert!(own["_meta"]["artel/run_id"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_an_answer_in_the_words_of_the_api() {
    let place = place().await;
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    for tool in ["run_skill", "broken"] {
        let arguments = if tool == "broken" { json!({}) } else { json!({"skill": "broken"}) };
        let failed = talker.call(tool, arguments).await;
        assert_eq!(failed["isError"], true, "{failed}");
        assert_eq!(failed["structuredContent"]["state"], "failed", "{failed}");
    }
    let unfit = talker.call("greet", json!({"name": 7})).await;
    assert_eq!(unfit["isError"], true, "{unfit}");
    let over_http = place.admin.post("/api/runs", json!({"skill": "greet", "params": {"name": 7}})).await;
    assert_eq!(unfit["_meta"]["artel/error"]["error"], over_http.body["error"], "{unfit}");
    assert_eq!(unfit["_meta"]["artel/error"]["message"], over_http.body["message"]);
    let wrong = talker.call("search_skills", json!({"page": "one"})).await;
    assert_eq!(wrong["_meta"]["artel/error"]["error"], "invalid_arguments");
    assert_eq!(talker.ask("tools/call", json!({"name": "nothing"})).await.refused().0, -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_told_and_a_cancelled_call_cancels_its_run() {
    let place = place().await;
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    let params = json!({"name": "greet", "arguments": {"name": "Ann"}, "_meta": {"progressToken": "p1"}});
    let heard = talker.ask("tools/call", params).await;
    let told: Vec<&Value> =
        heard.messages.iter().filter(|told| told["method"] == "notifications/progress").collect();
    assert!(!told.is_empty(), "{}", heard.text);
    let values: Vec<f64> = told.iter().map(|told| told["params"]["progress"].as_f64().unwrap()).collect();
    assert!(values.is_sorted_by(|one, other| one < other), "{values:?}");
    assert!(
        told.iter().all(|told| told["params"]["progressToken"] == "p1" && told["params"]["total"] == 1.0)
    );
    let id = talker.next_id();
    let cancel = async {
        let run = loop {
            let runs = place.admin.get("/api/runs?state=running").await.expect(200);
            if let Some(run) = runs["items"][0]["run_id"].as_str() {
                break run.to_owned();
            }
        };
        let cancelled =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        talker.post(&[], cancelled.to_string()).await;
        let patient = json!({"run_id": run, "wait_ms": 20_000});
        talker.call("get_run", patient).await["structuredContent"]["state"].clone()
    };
    let params = json!({"name": "slow", "arguments": {}});
    let state = tokio::select! {
        state = cancel => state,
        // The answer to a cancelled request may come or not; the run is what counts.
        () = async { talker.ask_as(id, "tools/call", params).await; std::future::pending::<()>().await } => unreachable!(),
    };
    assert_eq!(state, "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_spawned_and_write_to_each_other() {
    let place = place().await;
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    let mut ids = Vec::new();
    for name in ["one", "two"] {
        let spawned = Talker::good(&talker.call("spawn_agent", json!({"name": name, "skills": []})).await);
        ids.push(spawned["agent"]["agent_id"].clone());
    }
    let message = json!({
        "sender_id": ids[0], "recipient_id": ids[1], "message_type": "event", "payload": {"text": "hello"},
    });
    let sent = talker.call("send_message", message).await;
    assert_eq!(Talker::good(&sent)["recipients"], json!([ids[1]]), "{sent}");
    let mail = Talker::good(&talker.call("read_messages", json!({"agent_id": ids[1]})).await);
    assert_eq!(mail["items"][0]["payload"]["text"], "hello");
    let again = Talker::good(&talker.call("read_messages", json!({"agent_id": ids[1]})).await);
    assert_eq!((&again["items"], &again["has_more"]), (&json!([]), &json!(false)));
    let about = json!({"sender_id": ids[0], "topic": "kitchen", "payload": {"free": true}});
    Talker::good(&talker.call("send_message", about).await);
    let refused = talker.call("spawn_agent", json!({"skill": "nobody"})).await;
    assert_eq!(refused["isError"], true, "{refused}");
    let program = json!({"task": "x", "driver": "command", "command": ["sh", "-c", "id"]});
    let refused = talker.call("spawn_agent", program).await;
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(refused.to_string().contains("[clients] allowed"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_and_prompts_are_the_files_and_instructions_of_skills() {
    let place = place().await;
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    let listed = talker.ask("resources/list", json!({})).await.result();
    let resources = listed["resources"].as_array().unwrap();
    let guide = resources.iter().find(|resource| resource["uri"] == "skill://guide/SKILL.md").unwrap();
    assert_eq!((&guide["name"], &guide["mimeType"]), (&json!("guide"), &json!("text/markdown")));
    assert!(guide["_meta"]["artel/digest"].as_str().unwrap().starts_with("sha256:"));
    let templates = talker.ask("resources/templates/list", json!({})).await.result();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "skill://{name}/{+path}");
    let uri = "skill://guide/references/two%20words.md";
    let read = talker.ask("resources/read", json!({"uri": uri})).await.result();
    assert_eq!(read["contents"][0]["text"], "Be kind.");
    let raw = talker.ask("resources/read", json!({"uri": "skill://guide/references/raw.bin"})).await.result();
    assert_eq!(raw["contents"][0]["blob"], "/wD+");
    for uri in [
        "skill://guide/nothing",
        "skill://nobody/SKILL.md",
        "file:///etc/passwd",
        "skill://guide/../greet/skill.json",
    ] {
        assert_eq!(talker.ask("resources/read", json!({"uri": uri})).await.refused().0, -32002, "{uri}");
    }
    let prompts = talker.ask("prompts/list", json!({})).await.result();
    let has = |name: &str| prompts["prompts"].as_array().unwrap().iter().any(|prompt| prompt["name"] == name);
    assert!(has("guide") && !has("greet"), "{prompts}");
    let asked = json!({"name": "guide", "arguments": {"arguments": "Ann"}});
    let prompt = talker.ask("prompts/get", asked).await.result();
    assert_eq!(prompt["messages"][0]["content"]["text"], "Take Ann by the hand.");
    assert_eq!(talker.ask("prompts/get", json!({"name": "greet"})).await.refused().0, -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_skills_extension_lists_skills_with_digests() {
    let place = place().await;
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    let listed = talker.ask("skills/list", json!({})).await.result();
    let skills = listed["skills"].as_array().unwrap();
    let named = |name: &str| skills.iter().find(|skill| skill["frontmatter"]["name"] == name);
    assert!(named("greet").is_none(), "only what has a SKILL.md");
    let guide = named("guide").unwrap();
    let frontmatter = json!({"name": "guide", "description": "How to guide people.", "license": "MIT"});
    assert_eq!(guide["frontmatter"], frontmatter);
    assert_eq!((&listed["resultType"], &listed["cacheScope"]), (&json!("complete"), &json!("private")));
    let main = guide["resources"].as_array().unwrap();
    let main = main.iter().find(|file| file["uri"] == "skill://guide/SKILL.md").unwrap();
    assert_eq!(main["size"], GUIDE.len());
    assert_eq!(main["digest"], artel_catalog::file_hash(GUIDE.as_bytes()).to_string());
    let got = talker.ask("skills/get", json!({"uri": "skill://guide/SKILL.md"})).await.result();
    assert_eq!(got["skill"], *guide);
    assert_eq!(talker.ask("skills/get", json!({"uri": "skill://nobody/SKILL.md"})).await.refused().0, -32602);
    assert_eq!(talker.ask("skills/nothing", json!({})).await.refused().0, -32601);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_catalog_is_told() {
    let place = place().await;
    let talker = Talker::begin(&place, ADMIN_TOKEN).await;
    let mut listening = talker.listen().await;
    fs::write(place.path("skills/guide/SKILL.md"), GUIDE.replace("people", "everybody")).unwrap();
    place.catalogs.refresh(Reread::Folders).await.unwrap();
    let mut told = Vec::new();
    while told.len() < 3 {
        told.extend(listening.next().await["method"].as_str().map(str::to_owned));
    }
    told.sort();
    let expected = ["prompts", "resources", "tools"].map(|list| format!("notifications/{list}/list_changed"));
    assert_eq!(told, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_told_of_no_more_skills_than_configured() {
    let first = json!({"priority": 90, "description": "Comes first."});
    let skills = [
        TestSkill("aa-last", json!({"priority": 10}), &done(r#"{"n":1}"#)),
        TestSkill("zz-first", first, &done(r#"{"n":2}"#)),
    ];
    let place = Place::open_with_parts(&skills, |mut parts| {
        parts.app.prompt_skills_max = Some(1);
        parts
    })
    .await;
    for (name, priority) in [("aa-last", 10), ("zz-first", 90)] {
        let text = format!(
            "---\nname: {name}\ndescription: A test.\nmetadata:\n  priority: {priority}\n---\nDo it.\n"
        );
        std::fs::write(place.path("skills").join(name).join("SKILL.md"), text).unwrap();
    }
    place.catalogs.refresh(artel_app::Reread::Folders).await.unwrap();
    let talker = Talker::begin(&place, &place.admin.credential().unwrap()).await;
    let tools = talker.tools().await;
    let named = |name: &str| tools.iter().any(|tool| tool == name);
    assert!(named("zz-first") && !named("aa-last"), "{tools:?}");
    let prompts = talker.ask("prompts/list", json!({})).await.result();
    let names: Vec<&str> = prompts["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["zz-first"]);
    // What is not listed can still be had.
    assert_eq!(Talker::good(&talker.call("aa-last", json!({})).await)["n"], json!(1));
    let prompt = talker.ask("prompts/get", json!({"name": "aa-last"})).await.result();
    assert!(prompt.to_string().contains("Do it."), "{prompt}");
}
