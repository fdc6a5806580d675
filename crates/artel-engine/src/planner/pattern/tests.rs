//! Requests and the plans they become, with the built-in skills and with skills of other kinds.

use artel_model::plan::PlanMetadata;
use artel_model::skill::Skill;
use insta::assert_snapshot;
use serde_json::json;

use super::PatternPlanner;
use crate::planner::testing::{ask, ask_with, plan_id, shown, skill};

/// Plans with the built-in skills.
fn plans(texts: &[&str]) -> String {
    let mut request = ask("");
    let plan = |text: &&str| {
        request.text = (*text).to_owned();
        format!("> {text}\n{}\n", shown(&PatternPlanner.compose(&request)))
    };
    texts.iter().map(plan).collect()
}

/// Plans with skills of one's own.
fn plans_with(skills: &[Skill], texts: &[&str]) -> String {
    let mut request = ask_with("", skills.to_vec());
    let plan = |text: &&str| {
        request.text = (*text).to_owned();
        let plan = shown(&PatternPlanner.compose(&request));
        format!("> {text}\n{}\n", plan.lines().next().unwrap_or_default())
    };
    texts.iter().map(plan).collect()
}

#[test]
fn a_request_finds_its_skill_and_its_values() {
    assert_snapshot!(plans(&[
        "fetch the cup from the kitchen",
        "Could you please fetch me the remote from the living room?",
        "go to the kitchen at speed 2",
        "navigate to the garage",
        "naviagte to the kitchen",
        "take the cup",
        "roll 2d6",
        "roll two dice",
        "Roll 2d6 + 3 with seed 7",
        "roll a d20",
        "tell me a story about a tired detective in the old harbour",
        "what is the reputation of alice?",
        "update alice's reputation by 5 because she helped with the move",
        "update the reputation of bob by minus ten, reason: he lied",
        "update the reputation of bob by -10 because he lied",
        "remember \"jasmine, no sugar\" as favourite_tea",
        "remember that my favourite tea is jasmine",
        "store key=tea value=\"${HOME}\"",
        "recall my favourite tea",
        "forget favourite_tea",
    ]));
}

#[test]
fn a_request_for_several_things_becomes_several_tools() {
    assert_snapshot!(plans(&[
        "go to the kitchen, then detect what is there",
        "go to the kitchen and detect what is there, then grasp the cup",
        "1. Navigate to the hallway\n2. Detect objects in the hallway\n3. Roll 2d6",
        "fetch the book from the living-room; roll 1d20",
        "detect objects in the kitchen, then go there",
        "roll 2d6, then roll 3d8",
        "I am thirsty. Fetch the cup from the kitchen. Roll 2d6.",
        "grasp the cup and then grasp it again",
    ]));
}

#[test]
fn what_is_not_understood_is_said() {
    assert_snapshot!(plans(&["roll the dice", "what's the weather in Paris?", ""]));
    for text in ["book a flight to Paris", "kitchen", "dance, then fetch the cup from the kitchen", "hello"] {
        let document = PatternPlanner.compose(&ask(text));
        assert!(document.tools.is_empty(), "{text}: {document:?}");
    }
    let partly = PatternPlanner.compose(&ask("fetch the cup from the kitchen, then dance"));
    assert_snapshot!(partly.narrative.unwrap(), @"fetch-object (location: kitchen, object_id: cup). Left out, because no skill fits: `dance`.");
}

#[test]
fn parameters_are_filled_by_their_schemas() {
    let light = skill(
        "light-switch",
        "Switch a light.",
        json!({
            "type": "object",
            "properties": {
                "state": {"enum": ["on", "off"]},
                "room": {"type": "string"},
                "brightness": {"type": "integer", "minimum": 0, "maximum": 100},
                "slow_fade": {"type": "boolean"},
            },
            "required": ["state"],
            "additionalProperties": false,
        }),
    );
    let mail = skill(
        "send-mail",
        "Send a message to somebody.",
        json!({
            "type": "object",
            "properties": {
                "recipient": {"type": "string", "format": "email"},
                "text": {"type": "string"},
            },
            "required": ["recipient", "text"],
        }),
    );
    let travel = skill(
        "book-train",
        "Book a train.",
        json!({
            "type": "object",
            "properties": {
                "from": {"type": "string"},
                "to": {"type": "string"},
                "day": {"type": "string", "format": "date"},
                "seats": {"type": "integer", "minimum": 1, "default": 1},
            },
            "required": ["from", "to", "day", "seats"],
        }),
    );
    let add = skill(
        "add-numbers",
        "Add numbers.",
        json!({
            "type": "object",
            "properties": {"numbers": {"type": "array", "items": {"type": "number"}, "minItems": 2}},
            "required": ["numbers"],
        }),
    );
    let words = skill(
        "count-words",
        "Count words in a file.",
        json!({"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]}),
    );
    assert_snapshot!(plans_with(
        &[light, mail, travel, add, words],
        &[
            "switch on the light in the living room with brightness 40",
            "switch the light off, slow fade",
            "switch the light off without slow fade",
            "switch the light with brightness 400 on",
            "switch the light",
            "send a message to ann@example.com: \"see you at 8\"",
            "book a train from Berlin to New York on 2026-05-01",
            "book a train from Berlin to Paris on 2026-05-01 with seats: 3",
            "book a train to Paris",
            "add 3, 4 and 5",
            "add 3",
            "count words in notes/today.md",
            "count the words",
        ]
    ));
}

#[test]
fn disabled_and_broken_skills_are_not_used() {
    let mut request = ask("fetch the cup from the kitchen");
    request.disabled.insert("fetch-object".parse().unwrap());
    let document = PatternPlanner.compose(&request);
    assert!(!shown(&document).contains("fetch-object:"), "{document:?}");
    assert_eq!(document.disabled_skills, ["fetch-object".parse().unwrap()]);

    // A composite whose step is disabled cannot be run either, which only the check knows.
    let mut request = ask("fetch the cup from the kitchen");
    request.disabled.insert("navigate".parse().unwrap());
    assert!(PatternPlanner.compose(&request).tools.is_empty());
}

#[test]
fn a_plan_says_how_it_came_to_be() {
    let mut request = ask("roll 2d6");
    (request.attempt, request.parent) = (3, Some(plan_id(9)));
    let document = PatternPlanner.compose(&request);
    assert_eq!(document.request_id, plan_id(1));
    assert_eq!(document.metadata, PlanMetadata { generation_attempt: 3, parent_plan_id: Some(plan_id(9)) });
}

#[test]
fn the_same_request_gives_the_same_plan() {
    let plan = || PatternPlanner.compose(&ask("go to the kitchen, then detect what is there"));
    assert_eq!(plan(), plan());
}
