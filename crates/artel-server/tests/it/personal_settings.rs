//! Settings that callers have of their own: two people use one skill through every way in, each with their own values over
//! the operator's, and neither they nor an administrator see those of another.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use artel_app::Reread;
use serde_json::{Value, json};

use crate::client::{Answered, Client};
use crate::place::{Place, TestSkill};
use crate::skills_place::skill_path;
use crate::ways::Way;

/// A script that tells the settings it got.
const TELL: &str = r#"config=$(grep -o '"config":{[^}]*}')
echo '{"version":"0","type":"done","ok":true,"output":{'"$config"'}}'"#;
const SKILL: &str = "tell-settings";
const SCHEMA: &str = r#"{"type": "object", "properties": {
    "address": {"type": "string"},
    "style": {"type": "string", "enum": ["warm", "formal", "noir"], "x-personal": true},
    "token": {"type": "string", "format": "password"}}}"#;
const BASE: &str = r#"{"address": "https://good", "style": "warm", "token": "operators"}"#;

async fn place() -> Place {
    let skill = TestSkill(SKILL, json!({"description": "Tells settings."}), TELL);
    let place = Place::open(&[skill]).await;
    for (file, text) in [("config-schema.json", SCHEMA), ("config.json", BASE)] {
        std::fs::write(place.path("skills").join(SKILL).join(file), text).unwrap();
    }
    place.catalogs.refresh(Reread::Folders).await.unwrap();
    place.catalogs.rebuild_supervisor();
    place
}

fn path(rest: &str) -> String {
    format!("{}/{rest}", skill_path(&format!("default/{SKILL}")))
}

async fn change(client: &Client, change: Value) -> Answered {
    client.call("PATCH", &path("config/personal"), &[], Some(&change)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_have_their_own_settings_through_every_way_in() {
    let place = place().await;
    let people = [place.person("../ann").await, place.person("bob").await, place.person("eve").await];
    change(&people[0], json!({"set": {"style": "noir", "token": "anns-own"}})).await.expect(200);
    change(&people[1], json!({"set": {"style": "formal"}})).await.expect(200);
    let settings =
        |style: &str, token: &str| json!({"address": "https://good", "style": style, "token": token});
    let expected =
        [settings("noir", "anns-own"), settings("formal", "operators"), settings("warm", "operators")];
    for way in Way::ALL {
        for (person, expected) in people.iter().zip(&expected) {
            assert_eq!(way.output(person, &place, SKILL).await["config"], *expected, "{way:?}");
        }
    }
    change(&people[0], json!({"unset": ["style", "token"]})).await.expect(200);
    assert_eq!(Way::Run.output(&people[0], &place, SKILL).await["config"], expected[2]);
    let left: Vec<_> = std::fs::read_dir(place.path("data/skill-settings")).unwrap().flatten().collect();
    let left: Vec<_> = std::fs::read_dir(left[0].path()).unwrap().collect();
    assert_eq!(left.len(), 1, "of ann nothing is left: {left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_caller_sees_the_values_of_another() {
    let place = place().await;
    let (ann, bob) = (place.person("ann").await, place.person("bob").await);
    let before =
        [bob.get(&path("config")).await.expect(200), place.admin.get(&path("config")).await.expect(200)];
    let own = change(&ann, json!({"set": {"style": "noir", "token": "anns-own"}})).await.expect(200);
    assert_eq!(own["items"][1]["personal"], json!("noir"), "{own}");
    assert_eq!(
        (&own["items"][1]["value"], &own["items"][1]["may_be_personal"]),
        (&json!("warm"), &json!(true))
    );
    assert_eq!(own["items"][2]["personal"], json!("********"));
    assert_eq!(own["effective"]["style"], json!("noir"));
    assert!(!own.to_string().contains("anns-own"));
    let after =
        [bob.get(&path("config")).await.expect(200), place.admin.get(&path("config")).await.expect(200)];
    assert_eq!(before, after);
    // What is for everyone stays the administrator's, and the audit log has names only.
    ann.call("PATCH", &path("config"), &[], Some(&json!({}))).await.refused(403, "forbidden");
    let audit = place.admin.get("/api/audit").await.expect(200);
    assert_eq!(audit["items"][0]["summary"], json!("changed personal settings: style, token"));
    assert_eq!(std::fs::read_to_string(place.path("skills").join(SKILL).join("config.json")).unwrap(), BASE);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operators_secret_goes_nowhere_else_and_names_no_variable() {
    let place = place().await;
    let ann = place.person("ann").await;
    let refused = change(&ann, json!({"set": {"address": "https://evil"}})).await;
    assert!(refused.text.contains("x-personal"), "{}", refused.text);
    refused.refused(422, "invalid_settings");
    for value in ["${ARTEL_ADMIN_TOKEN}", "a${HOME}", "${"] {
        change(&ann, json!({"set": {"token": value}})).await.refused(422, "invalid_settings");
    }
    change(&ann, json!({"set": {"style": "loud"}})).await.refused(422, "invalid_settings");
    change(&ann, json!({"set": {"colour": "red"}})).await.refused(422, "unknown_setting");
    change(&ann, json!({"unset": ["style"]})).await.refused(422, "not_set");
    change(&ann, json!({"set": {"token": "x".repeat(70_000)}})).await.refused(422, "invalid_settings");
    assert!(!place.path("data/skill-settings").exists());
    // A skill that is closed later: what was saved under its earlier schema is not used.
    change(&ann, json!({"set": {"style": "noir"}})).await.expect(200);
    let closed = SCHEMA.replace("\"x-personal\": true", "\"x-personal\": false");
    std::fs::write(place.path("skills").join(SKILL).join("config-schema.json"), closed).unwrap();
    place.catalogs.refresh(Reread::Folders).await.unwrap();
    assert_eq!(Way::Run.output(&ann, &place, SKILL).await["config"]["style"], json!("warm"));
    change(&ann, json!({"set": {"token": "own"}})).await.expect(200);
}
