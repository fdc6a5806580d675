//! The official clients of the Model Context Protocol, in Python and TypeScript, against a real server: what they expect
//! counts, whatever we read in the specification.
//!
//! Runs when `ARTEL_MCP_PYTHON` names a Python that has `mcp`, and `ARTEL_MCP_NODE` a folder whose `node_modules` has
//! `@modelcontextprotocol/sdk` (`cargo xtask test` sets both).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::place::{ADMIN_TOKEN, Place, TestSkill, done};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients");
const PATIENCE: Duration = Duration::from_secs(60);

async fn place() -> Place {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let manifest = json!({"description": "Greets a person.", "parameters_schema": schema});
    Place::open(&[TestSkill("greet", manifest, &done("{\"greeting\":\"hello\"}"))]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_gets_along_with_the_server() {
    let Some(python) = variable("ARTEL_MCP_PYTHON") else { return };
    let place = place().await;
    let url = format!("http://{}/mcp", place.address);
    speak(&python, &[&format!("{SCRIPTS}/mcp_client.py"), "http", &url, ADMIN_TOKEN], SCRIPTS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_typescript_client_gets_along_with_the_server() {
    let Some(folder) = variable("ARTEL_MCP_NODE") else { return };
    let place = place().await;
    let url = format!("http://{}/mcp", place.address);
    // Modules are looked for beside the script, so that it is read from where they are.
    let script = std::fs::read_to_string(format!("{SCRIPTS}/mcp_client.mjs")).unwrap();
    speak("node", &["--input-type=module", "--eval", &script, &url, ADMIN_TOKEN], &folder).await;
}

/// Lets a client speak with the server; it says at the end whether all is well.
async fn speak(program: &str, arguments: &[&str], folder: &str) {
    #[expect(clippy::disallowed_methods, reason = "the official clients are programs of their own")]
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    let run = tokio::task::spawn_blocking(move || command.output());
    let run = tokio::time::timeout(PATIENCE, run).await.unwrap().unwrap().unwrap();
    let (said, failed) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() && said.trim_end().ends_with("all is well"), "{said}\n{failed}");
}

#[expect(clippy::disallowed_methods, reason = "the tests are told where the clients are")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
