//! Hubs and keys through a server, the doctor's word about it, MCP in front of it, and servers that are none.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::hub::{ALLOW, session_with_repository};
use crate::mcp::Client;
use crate::serve_session::Served;
use crate::session::{Session, steady};

/// Somebody elsewhere who administers a server.
fn away(served: &Served) -> Session {
    let mut away = Session::new();
    away.set("ARTEL_SERVER", &format!("http://{}", served.address));
    away.set("ARTEL_TOKEN", &served.token.clone().unwrap());
    away
}

/// What is said while a hub is looked at.
const STAGES: [&str; 3] = ["asking the hub what it has", "fetching", "reading"];

#[test]
fn hubs_are_managed_the_same_here_and_there() {
    let (there, location) = session_with_repository(ALLOW);
    let here = Session::new();
    here.write("artel.toml", ALLOW);
    let served = Served::start(&there, &[]);
    let away = away(&served);
    let told = |session: &Session, arguments: &[&str]| {
        let ids: Vec<String> = session.json(&["hub", "list"])["hubs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hub| hub["id"].as_str().unwrap().to_owned())
            .collect();
        let text = steady(&session.run(arguments)).replace(there.path().as_str(), "[hub]");
        // How long ago is a matter of how slow the test is.
        let text = text.replace("fetched just now", "fetched [time] ago");
        // A stage that is over before anybody looks is not told.
        let is_stage = |line: &&str| STAGES.contains(line);
        let text: String =
            text.lines().filter(|line| !is_stage(line)).map(|line| format!("{line}\n")).collect();
        ids.iter().fold(text, |text, id| text.replace(id.as_str(), "[id]"))
    };
    for arguments in [
        &["hub", "list"][..],
        &["hub", "crawl", &location],
        &["hub", "crawl", "https://somewhere.example.org/x.git"],
        &["hub", "crawl", "file:///nowhere"],
        &["hub", "add", &location],
        &["hub", "add", &location],
        &["hub", "list"],
        &["hub", "refresh", &location],
        &["hub", "refresh"],
        &["hub", "disable", &location],
        &["hub", "enable", &location],
        &["hub", "refresh", "nobody"],
        &["hub", "remove", &location],
        &["hub", "remove", &location],
    ] {
        assert_eq!(told(&here, arguments), told(&away, arguments), "{arguments:?}");
    }
}

#[test]
fn keys_are_managed_from_elsewhere() {
    let there = Session::new();
    let served = Served::start(&there, &[]);
    let away = away(&served);
    let made = away.output(&["key", "create", "--label", "nightly", "--owner", "ann", "--expires", "30"]);
    let (key, said) = (String::from_utf8(made.stdout).unwrap(), String::from_utf8(made.stderr).unwrap());
    let key = key.trim_end();
    assert!(
        said.contains("of ann for catalog:read, until ") && said.contains("it is shown this once"),
        "{said}"
    );
    assert_eq!(served.status(key), 200);
    let listed = away.run(&["key", "list"]);
    assert!(listed.contains("nightly") && listed.contains("1 key"), "{listed}");
    let id = away.json(&["key", "list"])["items"][0]["key_id"].as_str().unwrap().to_owned();
    assert_eq!(away.json(&["key", "revoke", &id]), json!({"key_id": id, "revoked": true}));
    assert_eq!(served.status(key), 401);
    let unknown = [there.run(&["key", "revoke", "nobody"]), away.run(&["key", "revoke", "nobody"])];
    assert!(unknown[0] == unknown[1] && unknown[0].starts_with("exit 1\n"), "{unknown:?}");
}

#[test]
fn the_doctor_says_how_it_stands_with_the_server() {
    let there = Session::new();
    let served = Served::start(&there, &[]);
    let mut away = away(&served);
    let doctor = away.json(&["doctor"]);
    let row = |list: &str, name: &str| {
        doctor[list].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(row("settings", "server")["origin"], json!("$ARTEL_SERVER"));
    assert_eq!(row("settings", "token")["value"], json!("set"));
    assert_eq!(row("settings", "[server] publish_skills")["value"], json!("false"));
    assert!(row("settings", "[hubs]")["value"].as_str().unwrap().contains("hosts=[github.com]"));
    for name in ["server", "server: ready", "server: token", "skills"] {
        assert_eq!(row("checks", name)["state"], json!("ok"), "{doctor}");
    }
    let token = row("checks", "server: token");
    assert!(token["detail"].as_str().unwrap().contains("by admin token, may "), "{token}");
    assert!(!doctor.to_string().contains(&served.token.clone().unwrap()), "{doctor}");

    away.set("ARTEL_TOKEN", "somebody-else");
    let told = away.run(&["doctor"]);
    assert!(told.starts_with("exit 1\n") && told.contains("A valid credential is needed"), "{told}");
    away.set("ARTEL_SERVER", "http://127.0.0.1:1");
    let told = away.run(&["doctor"]);
    assert!(told.starts_with("exit 1\n") && told.contains("cannot reach `http://127.0.0.1:1`"), "{told}");
}

#[test]
fn whoever_is_not_let_in_is_told_what_to_do() {
    let there = Session::new();
    let served = Served::start(&there, &[]);
    let server = format!("http://{}", served.address);
    for token in [None, Some("wrong")] {
        let mut session = Session::new();
        session.set("ARTEL_SERVER", &server);
        if let Some(token) = token {
            session.set("ARTEL_TOKEN", token);
        }
        for arguments in [&["skill", "list"][..], &["hub", "list"], &["key", "list"], &["mcp"]] {
            let told = session.run(arguments);
            assert!(told.starts_with("exit 3\n--- stderr\n"), "{arguments:?} {token:?}: {told}");
            assert!(told.contains("hint: `ARTEL_TOKEN` holds"), "{arguments:?} {token:?}: {told}");
        }
    }
    let mut session = Session::new();
    session.set("ARTEL_TOKEN", "two words");
    assert!(session.run(&["--server", &server, "skill", "list"]).starts_with("exit 2\n"));
}

#[test]
fn a_server_that_is_none_is_told() {
    let session = Session::new();
    for (server, code, said) in [
        ("http://127.0.0.1:1", 3, "cannot reach `http://127.0.0.1:1`"),
        ("localhost:7420", 2, "is not an address like"),
        ("ftp://example.org", 2, "reached by http or https"),
        ("http://me:secret@127.0.0.1:1", 2, "holds no name and no password"),
    ] {
        let told = session.run(&["--server", server, "skill", "list"]);
        assert!(told.starts_with(&format!("exit {code}\n")) && told.contains(said), "{server}: {told}");
    }
    let somebody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = somebody.local_addr().unwrap();
    let page = "<html>It works!</html>";
    let answers = std::thread::spawn(move || {
        for stream in somebody.incoming().take(1) {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let length = page.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}"
            );
        }
    });
    let told = session.run(&["--server", &format!("http://{address}"), "skill", "list"]);
    answers.join().unwrap();
    assert!(told.starts_with("exit 3\n") && told.contains("something else than expected"), "{told}");
}

#[test]
fn a_client_speaks_with_a_server_over_stdin_and_stdout() {
    let there = Session::new();
    there.write(
        "skills/make-tea/SKILL.md",
        "---\nname: make-tea\ndescription: Makes tea, when somebody asks for a hot drink.\n---\n\nBoil water first.\n",
    );
    let served = Served::start(&there, &[]);
    let away = away(&served);
    let mut client = Client::start(&away);
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let answer = client.ask(1, "initialize", &hello);
    assert_eq!(answer["serverInfo"]["name"], json!("artel"), "{answer}");
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let tools = client.ask(2, "tools/list", &json!({}));
    assert!(tools.to_string().contains("\"search_skills\""), "{tools}");
    let read = json!({"name": "read_skill", "arguments": {"skill": "make-tea"}});
    let answer = client.ask(3, "tools/call", &read);
    assert!(answer.to_string().contains("Boil water first."), "{answer}");

    // What the server says on its own arrives as well.
    there.write("skills/boil/SKILL.md", "---\nname: boil\ndescription: Boils water.\n---\n\nUse a kettle.\n");
    served.post("/api/skills/refresh", &served.token.clone().unwrap(), "");
    client.hear("notifications/resources/list_changed");
    let (code, _, stderr) = client.leave();
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn whoever_starts_the_relay_by_hand_is_told_what_it_is_for() {
    let there = Session::new();
    let served = Served::start(&there, &[]);
    let (code, stdout, stderr) = Client::start(&away(&served)).leave();
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("hint: `artel mcp` is started by a client"), "{stderr}");
}
