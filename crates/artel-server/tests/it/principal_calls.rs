//! Calls that a principal makes at random, as data: made from a seed, performed against a server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use serde_json::{Value, json};
use uuid::Uuid;

use crate::client::{Answered, Client};
use crate::place::Place;
use crate::plans::plan;
use crate::skills_place::{EVIL, skill_path};

/// Names that skills of both principals share; the first two are skills of the server.
pub(crate) const NAMES: [&str; 4] = ["bake", "fails", "brew", "burn"];
/// Skills that are run: one of them counts in its data how often.
const RUN: [&str; 5] = ["bake", "counts", "fails", "brew", "burn"];
/// Requests that are wrong in some way: a method, a path, a body.
const BAD: [(&str, &str, &str); 8] = [
    ("POST", "/api/skills", "{\"name\":1}"),
    ("POST", "/api/runs", "{\"skill\":\"../bake\"}"),
    ("POST", "/api/runs", "[[[["),
    ("POST", "/api/agents", "{\"driver\":\"odd\"}"),
    ("POST", "/api/messages", "{\"sender_id\":\"system\",\"recipient_id\":\"broadcast\"}"),
    ("DELETE", "/api/skills/default%2Fbake", ""),
    ("GET", "/api/skills?page_size=99999", ""),
    ("POST", "/api/skills/refresh", ""),
];
/// Chance that can be repeated.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

/// One call. `which` chooses among the things that the principal has made so far.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Save { name: &'static str, is_team: bool, is_evil: bool },
    Change { which: usize },
    PutFile { which: usize },
    Delete { which: usize },
    Run { name: &'static str, key: Option<usize> },
    Spawn { workspace: bool },
    SpawnSkill,
    Terminate { which: usize },
    Send { message_id: Option<usize> },
    Publish { message_id: Option<usize> },
    ReadMail { which: usize },
    Chat,
    MakeKey,
    RevokeKey { which: usize },
    Search { name: &'static str },
    Bad { which: usize },
}

impl Call {
    /// Draws a call.
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let name = NAMES[dice.roll(NAMES.len())];
        let which = dice.roll(8);
        let sometimes = |dice: &mut Dice| (dice.roll(2) == 0).then(|| dice.roll(2));
        match dice.roll(18) {
            0..=2 => Self::Save { name, is_team: dice.roll(2) == 0, is_evil: dice.roll(3) == 0 },
            3 => Self::Change { which },
            4 => Self::PutFile { which },
            5 => Self::Delete { which },
            6 | 7 => Self::Run { name: RUN[dice.roll(RUN.len())], key: sometimes(dice) },
            8 => Self::Spawn { workspace: dice.roll(2) == 0 },
            9 => Self::SpawnSkill,
            10 => Self::Terminate { which },
            11 => Self::Send { message_id: sometimes(dice) },
            12 => Self::Publish { message_id: sometimes(dice) },
            13 => Self::ReadMail { which },
            14 => Self::Chat,
            15 if dice.roll(2) == 0 => Self::MakeKey,
            15 => Self::RevokeKey { which },
            16 => Self::Search { name },
            _ => Self::Bad { which },
        }
    }
}

/// Who calls, and what they have made.
pub(crate) struct Actor {
    pub(crate) client: Client,
    /// The team that the principal shows skills to.
    team: &'static str,
    /// A word that is in everything of theirs.
    word: &'static str,
    pub(crate) skills: Vec<String>,
    pub(crate) runs: Vec<String>,
    pub(crate) agents: Vec<String>,
    pub(crate) keys: Vec<String>,
    messages: usize,
}

impl Actor {
    pub(crate) fn new(client: Client, team: &'static str, word: &'static str) -> Self {
        let (skills, runs, agents, keys) = Default::default();
        Self { client, team, word, skills, runs, agents, keys, messages: 0 }
    }

    /// Makes a call, and waits for what it sets going.
    pub(crate) async fn perform(&mut self, place: &Place, call: &Call) -> Answered {
        let client = self.client.clone();
        match call {
            Call::Save { name, is_team, is_evil } => {
                let answer = client.post("/api/skills", self.draft(name, *is_team, *is_evil)).await;
                keep(&mut self.skills, &answer.body["id"]);
                answer
            }
            Call::Change { which } => {
                let draft = self.draft("brew", which % 2 == 0, which % 3 == 0);
                client.call("PUT", &self.skill(*which), &[], Some(&draft)).await
            }
            Call::PutFile { which } => {
                let path = format!("{}/files/word.txt", self.skill(*which));
                client.call("PUT", &path, &[], Some(&json!(self.word))).await
            }
            Call::Delete { which } => client.call("DELETE", &self.skill(*which), &[], None).await,
            Call::Run { name, key } => self.run(name, *key).await,
            Call::Spawn { workspace } => {
                let mut wish = json!({"driver": "external", "name": "scout"});
                if *workspace {
                    wish["workspace_id"] = "desk".into();
                }
                self.spawn(place, wish).await
            }
            Call::SpawnSkill => self.spawn(place, json!({"skill": "bake"})).await,
            Call::Terminate { which } => client.tell(&format!("{}/terminate", self.agent(*which))).await,
            Call::Send { message_id } => self.send(*message_id, json!({})).await,
            Call::Publish { message_id } => self.send(*message_id, json!({"topic": "work.done"})).await,
            Call::ReadMail { which } => client.get(&format!("{}/mailbox", self.agent(*which))).await,
            Call::Chat => client.post("/api/chat", json!({"message": "/skills"})).await,
            Call::MakeKey => {
                let wish = json!({"label": self.word, "scopes": ["catalog:read"]});
                let answer = client.post("/api/catalog-api-keys", wish).await;
                keep(&mut self.keys, &answer.body["record"]["key_id"]);
                answer
            }
            Call::RevokeKey { which } => {
                let key = pick(&self.keys, *which).unwrap_or("nothing");
                client.call("DELETE", &format!("/api/catalog-api-keys/{key}"), &[], None).await
            }
            Call::Search { name } => client.get(&format!("/api/skills?q={name}+{}", self.word)).await,
            Call::Bad { which } => {
                let (method, path, body) = BAD[which % BAD.len()];
                client.send_text(method, path, "application/json", body).await
            }
        }
    }

    fn draft(&self, name: &str, is_team: bool, is_evil: bool) -> Value {
        let word = self.word;
        let (visibility, teams) =
            if is_team { ("team", json!([self.team])) } else { ("personal", json!([])) };
        let script = if is_evil { EVIL } else { "#!/bin/bash\necho fine\n" };
        json!({
            "name": name, "description": format!("A cake {word}."), "content": format!("Cake, cake {word}."),
            "visibility": visibility, "team_ids": teams,
            "files": [{"path": "scripts/run.sh", "text": script}, {"path": "word.txt", "text": word}],
        })
    }

    fn skill(&self, which: usize) -> String {
        skill_path(pick(&self.skills, which).unwrap_or("agent_skills/01890a5d-ac96-774b-bcce-b302099a8057"))
    }

    fn agent(&self, which: usize) -> String {
        let id = pick(&self.agents, which).unwrap_or("01890a5d-ac96-774b-bcce-b302099a8057");
        format!("/api/agents/{id}")
    }

    /// Runs a skill, and waits until that is over.
    async fn run(&mut self, name: &str, key: Option<usize>) -> Answered {
        let key = key.map(|key| format!("key-{key}"));
        let headers: Vec<(&str, &str)> = key.iter().map(|key| ("Idempotency-Key", key.as_str())).collect();
        let body = json!({"plan": plan(name, json!({"word": self.word}))});
        let started = self.client.call("POST", "/api/runs", &headers, Some(&body)).await;
        if let Some(id) = started.body["run_id"].as_str() {
            self.client.stream(&format!("/api/runs/{id}/events"), None).await.rest().await;
            if !self.runs.iter().any(|known| known == id) {
                self.runs.push(id.to_owned());
            }
            return self.client.get(&format!("/api/runs/{id}")).await;
        }
        started
    }

    async fn spawn(&mut self, place: &Place, wish: Value) -> Answered {
        let is_driven = wish.get("skill").is_some();
        let spawned = self.client.post("/api/agents", wish).await;
        keep(&mut self.agents, &spawned.body["agent"]["agent_id"]);
        if let (true, Some(id)) = (is_driven, spawned.body["agent"]["agent_id"].as_str()) {
            place.agents.wait(id.parse().unwrap()).await.unwrap();
        }
        spawned
    }

    /// Sends a message between two agents of the principal, or publishes an event.
    async fn send(&mut self, message_id: Option<usize>, more: Value) -> Answered {
        let agent =
            |place: usize| pick(&self.agents, place).unwrap_or("01890a5d-ac96-774b-bcce-b302099a8057");
        let mut message = json!({"sender_id": agent(0), "message_type": "event", "payload": {"word": self.word, "n": self.messages}});
        match more["topic"].as_str() {
            Some(topic) => message["topic"] = topic.into(),
            None => message["recipient_id"] = agent(1).into(),
        }
        if let Some(id) = message_id {
            // The same for both principals: an id is its sender's.
            let id = u128::try_from(id).unwrap_or_default();
            message["message_id"] = Uuid::from_u128(id + 1).to_string().into();
        }
        self.messages += 1;
        self.client.post("/api/messages", message).await
    }
}

fn keep(list: &mut Vec<String>, id: &Value) {
    list.extend(id.as_str().map(str::to_owned));
}

fn pick(list: &[String], which: usize) -> Option<&str> {
    (!list.is_empty()).then(|| list[which % list.len()].as_str())
}
