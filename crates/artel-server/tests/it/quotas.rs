//! How much one user may have: skills, agents and runs. Administrators are not counted, and others are not held up.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_model::quota::Quotas;
use serde_json::{Value, json};

use crate::client::{Answered, Client};
use crate::place::{Place, TestSkill, done_when_told};
use crate::skills_place::{member, names, skill_path};

const SKILLS: &str = "/api/skills";

async fn place(quotas: Quotas) -> Place {
    let waits = done_when_told();
    Place::open_with_quotas(&[TestSkill("wait", json!({}), &waits)], quotas).await
}

fn draft(name: &str, bytes: usize) -> Value {
    json!({"name": name, "description": "Does it.", "content": "x".repeat(bytes)})
}

#[track_caller]
fn exceeded(answer: &Answered, status: u16, quota: &str, limit: u64) {
    answer.refused(status, "quota_exceeded");
    let details = &answer.body["details"];
    assert_eq!((&details["quota"], &details["limit"]), (&json!(quota), &json!(limit)), "{}", answer.text);
    assert!(details["used"].is_u64(), "{}", answer.text);
}

/// Does the same many times at once, and returns how often each status came.
async fn at_once(client: &Client, path: &str, bodies: Vec<Value>) -> Vec<u16> {
    let calls: Vec<_> = bodies
        .into_iter()
        .map(|body| {
            let (client, path) = (client.clone(), path.to_owned());
            tokio::spawn(async move { client.post(&path, body).await.status })
        })
        .collect();
    let mut statuses = Vec::new();
    for call in calls {
        statuses.push(call.await.unwrap());
    }
    statuses.sort_unstable();
    statuses
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_saves_so_many_skills_and_bytes() {
    let place = place(Quotas { saved_skills: 3, saved_bytes: 40_000, ..Quotas::default() }).await;
    let (ann, bob) = (member(&place, "ann", &[]).await, member(&place, "bob", &[]).await);
    let many = (0..8).map(|number| draft(&format!("skill{number}"), 10)).collect();
    assert_eq!(at_once(&ann, SKILLS, many).await, [201, 201, 201, 409, 409, 409, 409, 409]);
    exceeded(&ann.post(SKILLS, draft("more", 10)).await, 409, "saved_skills", 3);
    bob.post(SKILLS, draft("more", 10)).await.expect(201);
    let listed = ann.get(&format!("{SKILLS}?source=agent_skills")).await.expect(200);
    let (one, large) = (names(&listed)[0].to_owned(), 39_000);
    let id = &listed["skills"][0]["id"];
    let path = skill_path(id.as_str().unwrap());
    let put = async |bytes: usize| ann.call("PUT", &path, &[], Some(&draft(&one, bytes))).await;
    put(large).await.expect(200);
    put(large).await.expect(200);
    exceeded(&put(40_000).await, 413, "saved_bytes", 40_000);
    assert_eq!(ann.call("DELETE", &path, &[], None).await.status, 204);
    ann.post(SKILLS, draft("again", 10)).await.expect(201);
    for number in 0..5 {
        place.admin.post(SKILLS, draft(&format!("admin{number}"), 20_000)).await.expect(201);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_so_many_runs_and_agents() {
    let place = place(Quotas { runs: 2, agents: 2, ..Quotas::default() }).await;
    let (ann, bob) = (member(&place, "ann", &[]).await, member(&place, "bob", &[]).await);
    let run = json!({"skill": "wait"});
    let statuses = at_once(&ann, "/api/runs", vec![run.clone(); 6]).await;
    assert_eq!(statuses[2..], [429; 4], "{statuses:?}");
    assert!(statuses[..2].iter().all(|status| *status < 300), "{statuses:?}");
    let refused = ann.post("/api/runs", run.clone()).await;
    exceeded(&refused, 429, "runs", 2);
    assert_eq!(refused.header("retry-after"), "1");
    assert!(bob.post("/api/runs", run.clone()).await.status < 300);
    assert!(place.admin.post("/api/runs", run).await.status < 300);

    let agent = json!({"name": "worker", "driver": "external"});
    let statuses = at_once(&ann, "/api/agents", vec![agent.clone(); 5]).await;
    assert_eq!(statuses[2..], [409; 3], "{statuses:?}");
    assert!(statuses[..2].iter().all(|status| *status < 300), "{statuses:?}");
    exceeded(&ann.post("/api/agents", agent.clone()).await, 409, "agents", 2);
    assert!(bob.post("/api/agents", agent).await.status < 300);
    place.go("wait");
}
