//! What restricts a skill is read in full, or the skill is not used: nothing unreadable allows more.

use artel_catalog::{Keep, Loaded, load_registry_file};
use artel_model::limit::LIST_ITEMS_MAX;

use crate::place::{Place, load};

const START: &str =
    r#""name": "demo", "version": "1.0.0", "description": "Shows one thing. Use when testing.""#;

/// Loads a manifest with the given fields besides those that every skill has.
fn manifest(fields: &str) -> Loaded {
    let place = Place::new();
    place.file("demo/skill.json", format!("{{{START}, {fields}}}"));
    load(&place.root().join("demo"))
}

fn codes(loaded: &Loaded) -> Vec<&'static str> {
    let mut codes: Vec<_> = loaded.findings.iter().map(|finding| finding.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[track_caller]
fn check_refused(fields: &str, code: &str) {
    let loaded = manifest(fields);
    assert_eq!(codes(&loaded), [code], "{fields:.200}");
    assert!(!loaded.is_usable(), "{fields:.200}");
}

#[test]
fn a_list_that_is_too_long_to_be_read_in_full_is_refused() {
    let list = |entry: &str| vec![entry; LIST_ITEMS_MAX + 1].join(",");
    let rule = r#"{"type": "requires", "skill": "other"}"#;
    let steps: Vec<String> =
        (0..=LIST_ITEMS_MAX).map(|n| format!(r#"{{"id": "s{n}", "skill": "x"}}"#)).collect();
    let table = [
        ("forbidden_tools", list("\"Bash\""), "forbidden-tools-invalid"),
        ("compatibility_rules", list(rule), "rule-invalid"),
        ("composability_rules", list(rule), "rule-invalid"),
        ("steps", steps.join(","), "step-invalid"),
    ];
    for (field, entries, code) in table {
        check_refused(&format!("\"{field}\": [{entries}]"), code);
    }
    // Allowing less is harmless.
    let loaded = manifest(&format!("\"allowed_tools\": [{}]", list("\"Read\"")));
    assert_eq!((codes(&loaded), loaded.is_usable()), (vec!["field-out-of-range"], true));
}

#[test]
fn a_restriction_that_stands_twice_is_refused() {
    let step = |field: &str| format!(r#""steps": [{{"id": "a", "skill": "x", {field}}}]"#);
    let rule =
        |field: &str| format!(r#""compatibility_rules": [{{"type": "requires", "skill": "x", {field}}}]"#);
    let table = [
        r#""forbidden_tools": ["Bash"], "forbidden_tools": []"#.to_owned(),
        r#""forbidden_tools": [], "forbiddenTools": ["Bash"]"#.to_owned(),
        r#""forbiddenTools": ["Bash"], "forbiddenTools": []"#.to_owned(),
        r#""compatibility_rules": [], "compatibility_rules": []"#.to_owned(),
        r#""composabilityRules": [], "composability_rules": []"#.to_owned(),
        r#""disable_model_invocation": true, "disable_model_invocation": false"#.to_owned(),
        r#""disable_model_invocation": false, "disableModelInvocation": true"#.to_owned(),
        r#""sandbox": {}, "sandbox": {"network": true}"#.to_owned(),
        r#""sandbox": {"network": false, "network": true}"#.to_owned(),
        r#""allowed_tools": [], "allowed_tools": ["*"]"#.to_owned(),
        r#""error_policy": {"on_failure": "abort"}, "errorPolicy": {"on_failure": "abort"}"#.to_owned(),
        r#""error_policy": {"on_failure": "abort", "onFailure": "abort"}"#.to_owned(),
        r#""steps": [{"id": "a", "skill": "x"}], "steps": [{"id": "a", "skill": "x"}]"#.to_owned(),
        step(r#""approval": true, "approval": false"#),
        step(r#""depends_on": [], "dependsOn": []"#),
        rule(r#""type": "incompatible""#),
    ];
    for fields in table {
        check_refused(&fields, "restriction-repeated");
    }
    let loaded = manifest(r#""timeout": 5, "timeout": 6, "metadata": {"steps": 1, "steps": 2}"#);
    assert_eq!((codes(&loaded), loaded.is_usable()), (vec!["duplicate-key"], true));
}

#[test]
fn a_restriction_that_stands_twice_in_a_skill_md_is_refused() {
    for fields in [
        "allowed-tools: Read\nallowed-tools: Bash",
        "disable-model-invocation: true\ndisable-model-invocation: false",
        "metadata:\n  disable-model-invocation: true\n  disable-model-invocation: false",
    ] {
        let loaded = skill_md(fields, "");
        assert!(codes(&loaded).contains(&"restriction-repeated") && !loaded.is_usable(), "{fields}");
    }
}

#[test]
fn what_stands_twice_in_a_registry_file_is_told_with_its_skill() {
    let place = Place::new();
    let entry = |name: &str, fields: &str| {
        format!(r#"{{"name": "{name}", "version": "1.0.0", "description": "x"{fields}}}"#)
    };
    let entries = [
        entry("one", ""),
        entry("two", r#", "forbidden_tools": ["Bash"], "forbidden_tools": []"#),
        entry("three", r#", "timeout": 1, "timeout": 2"#),
    ];
    let json = place.file("a.skill.json", format!("[{}]", entries.join(",")));
    let yaml = place.file("b.skill.yaml", format!("---\n{}\n", entries.join("\n---\n")));
    for file in [json, yaml] {
        let loaded = load_registry_file(&file, Keep::Everything);
        let told: Vec<_> = loaded.iter().map(|entry| (codes(entry), entry.is_usable())).collect();
        let expected = [(vec![], true), (vec!["restriction-repeated"], false), (vec!["duplicate-key"], true)];
        assert_eq!(told, expected, "{file}");
    }
}

#[test]
fn a_step_that_cannot_be_read_in_full_is_refused() {
    let step = |fields: &str| format!(r#""steps": [{{"id": "first", "skill": "x"}}, {{{fields}}}]"#);
    let policy = |fields: &str| format!(r#""error_policy": {{{fields}}}"#);
    let table = [
        step(r#""id": "ask me!", "skill": "x""#),
        step(r#""id": 5, "skill": "x""#),
        step(r#""id": "", "skill": "x""#),
        step(r#""id": "a", "skill": "x", "approval": "yes""#),
        step(r#""id": "a", "skill": "x", "required": 1"#),
        step(r#""id": "a", "skill": "x", "script": "not a name""#),
        step(r#""id": "a", "skill": "x", "script": 1"#),
        step(r#""id": "a", "skill": "x", "input": []"#),
        step(r#""id": "a", "skill": "x", "depends_on": "first""#),
        step(r#""id": "a", "skill": "x", "depends_on": ["no name"]"#),
        step(r#""id": "a", "skill": 1"#),
        step(r#""id": "a", "skill": """#),
        policy(r#""on_failure": "panic""#),
        policy(r#""max_retries": 1"#),
        policy(r#""on_failure": "retry", "max_retries": "3""#),
        policy(r#""on_failure": "fallback", "fallback": 1"#),
        policy(r#""on_failure": "fallback", "fallback": {"skill": "x", "script": 1}"#),
        policy(r#""on_failure": "fallback", "fallback": {}"#),
        r#""error_policy": "abort""#.to_owned(),
        r#""steps": {}"#.to_owned(),
    ];
    for fields in table {
        check_refused(&fields, "step-invalid");
    }
}

/// Loads a `SKILL.md`, and beside it a manifest unless it is empty.
fn skill_md(fields: &str, manifest: &str) -> Loaded {
    let place = Place::new();
    let start = "name: demo\ndescription: Shows one thing. Use when testing.";
    place.file("demo/SKILL.md", format!("---\n{start}\n{fields}\n---\nDo it.\n"));
    if !manifest.is_empty() {
        place.file("demo/skill.json", manifest);
    }
    load(&place.root().join("demo"))
}

#[test]
fn tools_that_cannot_be_read_are_not_replaced_by_a_wider_list() {
    let tools = |loaded: &Loaded| {
        let tools = &loaded.usable().unwrap().rules.allowed_tools;
        tools.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let wide = "allowed-tools: Read Bash";
    assert_eq!(tools(&skill_md(wide, "{}")), ["Read", "Bash"]);
    for manifest in
        [r#"{"allowed_tools": "Read"}"#, r#"{"allowed_tools": null}"#, r#"{"allowed_tools": [1]}"#]
    {
        let loaded = skill_md(wide, manifest);
        assert_eq!(tools(&loaded), [""; 0], "{manifest}");
        assert!(codes(&loaded).contains(&"field-type"), "{manifest}");
    }
}

#[test]
fn of_two_switches_the_stricter_one_counts_and_an_unreadable_one_is_strict() {
    let (off, on) = ("disable-model-invocation: true", "disable-model-invocation: false");
    let table = [
        ("license: MIT", "{}", true),
        (on, "{}", true),
        (off, "{}", false),
        ("disable-model-invocation: maybe", "{}", false),
        ("disable-model-invocation:", "{}", false),
        ("disable-model-invocation: true\nmetadata:\n  disable-model-invocation: false", "{}", false),
        (on, r#"{"disable_model_invocation": true}"#, false),
        (off, r#"{"disable_model_invocation": false}"#, false),
        ("license: MIT", r#"{"disable_model_invocation": "yes"}"#, false),
        ("license: MIT", r#"{"disable_model_invocation": false}"#, true),
    ];
    for (fields, manifest, expected) in table {
        let loaded = skill_md(fields, manifest);
        assert_eq!(loaded.usable().unwrap().invocation.by_model, expected, "{fields} {manifest}");
    }
    let by_user =
        |fields: &str, manifest: &str| skill_md(fields, manifest).usable().unwrap().invocation.by_user;
    assert!(by_user("license: MIT", "{}"));
    assert!(!by_user("user-invocable: false", r#"{"user_invocable": true}"#));
    assert!(!by_user("license: MIT", r#"{"user_invocable": 1}"#));
}
