//! Nobody sees, counts, ranks or tells apart what is not theirs to see: people save, change and delete skills at random,
//! and whoever sees nothing of it must get the same answers as before, to the byte.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::client::{Answered, Client};
use crate::place::{Place, TestSkill, done};
use crate::plans::plan;
use crate::skills_place::{EVIL, member, names, skill_path, without_id};

/// People and their teams; the last one is an administrator, who sees other people's skills no more than anybody else.
const PEOPLE: [(&str, &[&str]); 5] =
    [("ann", &["red"]), ("bob", &["red", "blue"]), ("cid", &["blue"]), ("dan", &[]), ("admin", &[])];
/// Names that skills share; the first is that of a skill of the server.
const NAMES: [&str; 4] = ["bake", "boil", "brew", "burn"];
/// Changes that are made.
const STEPS: usize = 30;
/// An id that nothing has.
const NOTHING: &str = "agent_skills/01890a5d-ac96-774b-bcce-b302099a8057";

/// Chance that can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }
}

/// A skill that somebody saved.
#[derive(Clone)]
struct Kept {
    id: String,
    name: &'static str,
    owner: usize,
    secret: String,
    visibility: String,
    teams: BTreeSet<&'static str>,
}

impl Kept {
    fn is_seen_by(&self, person: usize) -> bool {
        match self.visibility.as_str() {
            "global" => true,
            "team" => PEOPLE[person].1.iter().any(|team| self.teams.contains(team)),
            _ => self.owner == person,
        }
    }
}

struct World {
    place: Place,
    clients: Vec<Client>,
    dice: Dice,
    kept: Vec<Kept>,
    /// The names of the skills of the server.
    common: BTreeSet<String>,
    /// Words that were ever in a skill, and who has ever been allowed to see them.
    secrets: Vec<(String, BTreeSet<usize>)>,
}

impl World {
    async fn open(start: u64) -> Self {
        let place = Place::open_with(&[TestSkill("mill", json!({}), &done("{}"))], |config| {
            config.requests_per_second = 1_000_000;
            config.request_burst = 1_000_000;
        })
        .await;
        let mut clients = Vec::new();
        for (user, teams) in &PEOPLE[..PEOPLE.len() - 1] {
            clients.push(member(&place, user, teams).await);
        }
        clients.push(place.admin.clone());
        let list = place.admin.get("/api/skills").await.expect(200);
        let common = names(&list).into_iter().map(str::to_owned).collect();
        Self { place, clients, dice: Dice(start), kept: Vec::new(), common, secrets: Vec::new() }
    }

    /// Thinks of a skill that somebody may save.
    fn draft(&mut self, owner: usize, name: &'static str) -> (Value, Kept) {
        let mine = PEOPLE[owner].1;
        let is_admin = owner == PEOPLE.len() - 1;
        let (visibility, teams) = match self.dice.roll(4) {
            0 if is_admin => ("global", BTreeSet::new()),
            1 if is_admin => ("team", BTreeSet::from(["red"])),
            0 | 1 if !mine.is_empty() => ("team", BTreeSet::from([mine[self.dice.roll(mine.len())]])),
            _ => ("personal", BTreeSet::new()),
        };
        // Some have the same files as those of others.
        let secret = match self.dice.roll(3) {
            0 => format!("common{name}"),
            _ => format!("secret{}x{}", self.secrets.len(), self.dice.roll(1 << 20)),
        };
        let script = if self.dice.roll(2) == 0 { EVIL } else { "#!/bin/bash\necho fine\n" };
        let draft = json!({
            "name": name, "description": format!("A cake {secret}."), "content": format!("Cake, cake {secret}."),
            "visibility": visibility, "team_ids": teams,
            "files": [{"path": "scripts/run.sh", "text": script}, {"path": "word.txt", "text": secret}],
        });
        let (id, visibility) = (String::new(), visibility.to_owned());
        (draft, Kept { id, name, owner, secret, visibility, teams })
    }

    /// Changes something; returns what was there before and what is there after.
    async fn step(&mut self) -> (Option<Kept>, Option<Kept>) {
        let place = (self.kept.len() > 2 && self.dice.roll(2) == 0).then(|| self.dice.roll(self.kept.len()));
        let before = place.map(|place| self.kept.remove(place));
        let Some(old) = before.clone() else {
            let (owner, name) = (self.dice.roll(PEOPLE.len()), NAMES[self.dice.roll(NAMES.len())]);
            let (draft, mut kept) = self.draft(owner, name);
            let made = self.clients[owner].post("/api/skills", draft).await.expect(201);
            kept.id = made["id"].as_str().unwrap().to_owned();
            self.keep(kept.clone());
            return (None, Some(kept));
        };
        let path = skill_path(&old.id);
        if self.dice.roll(2) == 0 {
            let gone = self.clients[old.owner].call("DELETE", &path, &[], None).await;
            assert_eq!(gone.status, 204, "{}", gone.text);
            return (before, None);
        }
        let (draft, kept) = self.draft(old.owner, old.name);
        self.clients[old.owner].call("PUT", &path, &[], Some(&draft)).await.expect(200);
        let kept = Kept { id: old.id, ..kept };
        self.keep(kept.clone());
        (before, Some(kept))
    }

    fn keep(&mut self, kept: Kept) {
        let seen = (0..PEOPLE.len()).filter(|person| kept.is_seen_by(*person));
        match self.secrets.iter_mut().find(|(secret, _)| *secret == kept.secret) {
            Some((_, people)) => people.extend(seen),
            None => self.secrets.push((kept.secret.clone(), seen.collect())),
        }
        self.kept.push(kept);
    }

    /// Everything that somebody can find out without knowing an id.
    async fn told(&self, person: usize) -> Vec<String> {
        let client = &self.clients[person];
        let mut told = Vec::new();
        let lists = [
            "/api/skills?include_content=true",
            "/api/skills?page_size=1&page=2",
            "/api/skills?q=cake",
            "/api/skills?q=secret",
            "/api/skills?visibility=personal",
            "/api/skills?scan_status=flagged",
        ];
        for path in lists {
            let mut answer = client.get(path).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            if person == PEOPLE.len() - 1 {
                // Administrators are told the number of the catalog, which is one for all.
                answer.body["meta"]["generation"] = Value::Null;
            }
            told.push(format!("{path} {} {}", answer.header("etag"), answer.body));
        }
        if person != PEOPLE.len() - 1 {
            for path in ["/api/scan-findings", "/api/scan-findings?limit=1"] {
                told.push(format!("{path} {}", client.get(path).await.expect(200)));
            }
        }
        told.push(
            client.get("/api/skills/supervisor-status").await.expect(200)["skills_loaded_count"].to_string(),
        );
        for name in NAMES {
            let checked = client.post("/api/plans/validate", plan(name, json!({}))).await;
            told.push(format!("{name} {} {}", checked.status, without_id(&checked)));
        }
        told
    }

    /// Checks that somebody gets what is theirs, and no word of anything else.
    async fn check(&self, person: usize, told: &[String]) {
        let client = &self.clients[person];
        let mine: Vec<&Kept> = self.kept.iter().filter(|kept| kept.is_seen_by(person)).collect();
        let list = client.get("/api/skills").await.expect(200);
        let expected: BTreeSet<&str> =
            mine.iter().map(|kept| kept.name).chain(self.common.iter().map(String::as_str)).collect();
        let listed: BTreeSet<&str> = names(&list).into_iter().collect();
        assert_eq!((&listed, &list["meta"]["total"]), (&expected, &json!(expected.len())));
        for skill in list["skills"].as_array().unwrap() {
            let id = skill["id"].as_str().unwrap();
            let name = skill["name"].as_str().unwrap();
            let is_mine = mine.iter().any(|kept| kept.id == id);
            assert_eq!(is_mine, !self.common.contains(name), "nobody hides a skill of the server: {id}");
        }
        let is_admin = person == PEOPLE.len() - 1;
        for (secret, people) in &self.secrets {
            let is_told = told.iter().any(|text| text.contains(secret.as_str()));
            assert!(!is_told || people.contains(&person), "{} was told of {secret}", PEOPLE[person].0);
        }
        for name in NAMES.iter().filter(|name| !expected.contains(*name)) {
            let refused = client.post("/api/runs", json!({"skill": name})).await;
            let unknown = client.post("/api/runs", json!({"skill": "bent"})).await;
            same(&refused, &unknown, name, "bent");
        }
        for kept in self.kept.iter().filter(|kept| !kept.is_seen_by(person)) {
            self.check_hidden(client, kept, is_admin).await;
        }
    }

    /// Checks that a skill that is not theirs to see is for somebody as if it were not there.
    async fn check_hidden(&self, client: &Client, kept: &Kept, is_admin: bool) {
        let (there, nowhere) = (skill_path(&kept.id), skill_path(NOTHING));
        for inside in ["", "/files/SKILL.md", "/files/word.txt", "/files/odd"] {
            let paths = (format!("{there}{inside}"), format!("{nowhere}{inside}"));
            same(&client.get(&paths.0).await, &client.get(&paths.1).await, &kept.id, NOTHING);
        }
        let word = client.get(&format!("/api/skills?q={}", kept.secret)).await.expect(200);
        assert!(!word.to_string().contains(&kept.id));
        // Administrators look after what people save, so they may change what is not listed to them.
        if is_admin {
            return;
        }
        let draft = json!({"name": "bent", "description": "Bent.", "content": "Bent."});
        for (method, inside, body) in
            [("GET", "/history", None), ("PUT", "", Some(&draft)), ("DELETE", "", None)]
        {
            let paths = (format!("{there}{inside}"), format!("{nowhere}{inside}"));
            let refused = client.call(method, &paths.0, &[("if-match", "\"9\"")], body).await;
            let unknown = client.call(method, &paths.1, &[("if-match", "\"9\"")], body).await;
            same(&refused, &unknown, &kept.id, NOTHING);
        }
        let found = client.get(&format!("/api/scan-findings?skill_id={}", kept.id)).await.expect(200);
        assert_eq!((&found["items"], &found["next"]), (&json!([]), &Value::Null));
    }
}

/// Checks that two answers are the same but for what was asked about.
#[track_caller]
fn same(one: &Answered, other: &Answered, asked_one: &str, asked_other: &str) {
    let text = |answer: &Answered, asked: &str| {
        let headers: Vec<&str> = answer.headers.keys().map(reqwest::header::HeaderName::as_str).collect();
        format!("{} {headers:?} {}", answer.status, without_id(answer)).replace(asked, "it")
    };
    assert_eq!(text(one, asked_one), text(other, asked_other));
    assert!(one.status >= 400, "{}", one.text);
}

async fn nobody_learns_of_what_is_not_theirs(start: u64) {
    let mut world = World::open(start).await;
    let mut before = Vec::new();
    for person in 0..PEOPLE.len() {
        before.push(world.told(person).await);
    }
    let mut unmoved = 0;
    for step in 0..STEPS {
        let (old, kept) = world.step().await;
        for (person, known) in before.iter_mut().enumerate() {
            let told = world.told(person).await;
            let has_seen = [&old, &kept].into_iter().flatten().any(|skill| skill.is_seen_by(person));
            if !has_seen {
                unmoved += 1;
                assert_eq!(told, *known, "start {start}, step {step}: {}", PEOPLE[person].0);
            }
            *known = told;
            world.check(person, known).await;
        }
    }
    assert!(unmoved > STEPS, "most changes are none of most people's business");
    world.place.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_learns_of_what_is_not_theirs_in_one_world() {
    nobody_learns_of_what_is_not_theirs(1_592_590_337).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_learns_of_what_is_not_theirs_in_another_world() {
    nobody_learns_of_what_is_not_theirs(0x9e37_79b9_7f4a_7c15).await;
}
