//! Texts that were made to do harm: small ones that unfold, deep ones, long ones, and more of them than anybody reads.

use std::fmt::Write as _;

use artel_catalog::{Keep, Profile, check_set, load_registry_file};
use artel_model::diagnostic::Code;
use artel_model::limit::{DIAGNOSTICS_PER_SKILL_MAX, REGISTRY_FILE_SKILLS_MAX};

use crate::place::{
    GOOD, Place, assert_short_messages, check, is_sorted, load, must_return, peak_memory_kib,
};

/// Small texts that unfold to much, or nest without end.
fn bombs() -> Vec<(&'static str, String)> {
    let levels = |line: &dyn Fn(u8) -> String| (b'b'..=b'j').map(line).collect::<String>();
    let nine = |name: u8| vec![format!("*{}", char::from(name - 1)); 9];
    let lists = levels(&|name| format!("{0}: &{0} [{1}]\n", char::from(name), nine(name).join(", ")));
    let mappings = levels(&|name| {
        let entries =
            nine(name).iter().enumerate().map(|(i, alias)| format!("k{i}: {alias}")).collect::<Vec<_>>();
        format!("{0}: &{0} {{{1}}}\n", char::from(name), entries.join(", "))
    });
    let block = levels(&|name| format!("{0}: &{0}\n  - {1}\n", char::from(name), nine(name).join("\n  - ")));
    vec![
        ("lists of aliases", format!("a: &a [x, x]\n{lists}")),
        ("mappings of aliases", format!("a: &a {{x: x}}\n{mappings}")),
        ("blocks of aliases", format!("a: &a\n  - x\n{block}")),
        (
            "one long text many times",
            format!("a: &a {}\nb: [{}]\n", "x".repeat(60_000), vec!["*a"; 49].join(", ")),
        ),
        ("an alias inside its anchor", "a: &a [*a, *a]\n".to_owned()),
        ("an alias of nothing", "a: *b\n".to_owned()),
        ("many aliases", format!("a: &a x\nb: [{}]\n", vec!["*a"; 5000].join(", "))),
        ("open brackets", format!("a: {}", "[".repeat(100_000))),
        ("closed brackets", format!("a: {}{}\n", "[".repeat(5000), "]".repeat(5000))),
        ("open braces", format!("a: {}", "{a: ".repeat(50_000))),
        ("lists in lists", format!("a:\n  {}x\n", "- ".repeat(20_000))),
        (
            "deep mappings",
            (0..300).fold(String::new(), |text, level| format!("{text}{}a:\n", " ".repeat(level))),
        ),
        ("questions", format!("{}a\n", "? ".repeat(20_000))),
    ]
}

#[test]
fn a_bomb_does_not_go_off_in_the_frontmatter() {
    for (name, bomb) in bombs() {
        let place = Place::new();
        place.file("demo/SKILL.md", format!("---\nname: demo\ndescription: Boom.\n{bomb}\n---\nDo it.\n"));
        let loaded = load(&place.root().join("demo"));
        let codes: Vec<Code> = loaded.findings.iter().map(|finding| finding.code).collect();
        if name.starts_with("an alias") {
            // It stands for nothing, so it is taken for a text whose quotes were forgotten.
            assert_eq!(codes, [Code::FieldUnknown, Code::YamlRepaired], "{name}");
            continue;
        }
        assert!(matches!(codes[..], [Code::YamlBudget | Code::YamlInvalid]), "{name}: {codes:?}");
        assert!(!loaded.is_usable() && Profile::accepting(&loaded).is_empty(), "{name}");
    }
    assert!(peak_memory_kib().is_none_or(|peak| peak < 512 * 1024));
}

#[test]
fn a_bomb_does_not_go_off_in_a_manifest_or_a_registry_file() {
    for (name, bomb) in bombs() {
        let place = Place::new();
        place.file(
            "demo/skill.yaml",
            format!("name: demo\nversion: 1.0.0\ndescription: Boom.\nmetadata:\n{bomb}"),
        );
        let file = place.file("many.skill.yaml", format!("name: demo\ndescription: Boom.\n---\n{bomb}"));
        let entries = must_return(move || load_registry_file(&file, Keep::Everything));
        let loaded = load(&place.root().join("demo"));
        // A manifest may hold more than a frontmatter, so what stays small is merely an unknown field.
        let is_small = matches!(name, "one long text many times" | "mappings of aliases" | "deep mappings");
        assert!(is_small || !loaded.is_usable(), "{name}: {:?}", place.told(&loaded.findings));
        assert!(
            !loaded.findings.is_empty() && entries.iter().any(|entry| !entry.findings.is_empty()),
            "{name}"
        );
    }
    assert!(peak_memory_kib().is_none_or(|peak| peak < 512 * 1024));
}

#[test]
fn one_line_of_a_megabyte_is_refused() {
    let long = "x".repeat(1 << 20);
    let table = [
        (format!("name: demo\ndescription: {long}\n"), Code::YamlBudget),
        (format!("name: demo\ndescription: \"{long}\"\n"), Code::YamlBudget),
        (format!("name: demo\ndescription: Long.\n{long}: 1\n"), Code::YamlInvalid),
        (format!("name: demo\ndescription: Long.\n\"{long}\": 1\n"), Code::YamlInvalid),
        (long.clone(), Code::YamlBudget),
        (format!("# {long}\nname: {long}\n"), Code::YamlBudget),
        (format!("{} x\n", "a: ".repeat(300_000)), Code::YamlInvalid),
    ];
    for (yaml, code) in table {
        let place = Place::new();
        place.file("demo/SKILL.md", format!("---\n{yaml}\n---\nDo it.\n"));
        let loaded = load(&place.root().join("demo"));
        let codes: Vec<Code> = loaded.findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [code]);
        assert!(!loaded.is_usable());
        assert_short_messages(&loaded);
    }
}

#[test]
fn json_that_nests_without_end_is_refused() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        for text in [open.repeat(100_000), format!("{}1{}", open.repeat(100_000), close.repeat(100_000))] {
            let place = Place::new();
            place.file("demo/skill.json", &text);
            check(&place, &["json-invalid demo/skill.json"]);
            let file = place.file("x.skill.json", &text);
            assert_eq!(load_registry_file(&file, Keep::Everything)[0].findings[0].code, Code::JsonInvalid);
        }
    }
}

#[test]
fn a_key_of_a_megabyte_is_told_shortly() {
    let place = Place::new();
    let key = "k".repeat(1_000_000);
    let start = "\"name\": \"demo\", \"version\": \"1.0.0\", \"description\": \"Shows one thing.\"";
    place.file("demo/skill.json", format!("{{{start}, \"{key}\": 1}}"));
    assert_short_messages(&check(&place, &["field-unknown demo/skill.json"]));
    place.file("demo/skill.json", format!("{{{start}, \"timeout\": \"{key}\"}}"));
    assert_short_messages(&check(&place, &["field-type demo/skill.json"]));
    for field in ["name", "version", "entrypoint"] {
        let long = key.replace('k', "K");
        place.file("demo/skill.json", format!("{{\"description\": \"x\", \"{field}\": \"{long}\"}}"));
        assert_short_messages(&load(&place.root().join("demo")));
    }
    for list in ["dependencies", "tags", "allowed_tools", "forbidden_tools", "steps", "scripts"] {
        place.file("demo/skill.json", format!("{{{start}, \"{list}\": [\"{key}\"]}}"));
        assert_short_messages(&load(&place.root().join("demo")));
    }
}

#[test]
fn a_long_key_hides_no_other_finding() {
    let place = Place::new();
    let key = "k".repeat(2000);
    let text = format!(
        "{{\n\"name\": \"demo\", \"version\": \"1.0.0\", \"description\": \"x\",\n\"metadata\": {{\"{key}\": 1}},\n\
         \"priority\": 1,\n\"priority\": 2}}"
    );
    place.file("demo/skill.json", text);
    let loaded = check(&place, &["duplicate-key demo/skill.json"]);
    assert_eq!(loaded.findings[0].position.map(|position| (position.line, position.column)), Some((5, 1)));
}

#[test]
fn more_findings_than_anybody_reads_are_counted() {
    let place = Place::new();
    for fields in [10_000, 100_000] {
        let mut text = "{\"name\": \"demo\", \"version\": \"1.0.0\", \"description\": \"x\"".to_owned();
        for index in 0..fields {
            write!(text, ",\"{index}\":1").unwrap();
        }
        text.push('}');
        place.file("demo/skill.json", &text);
        let loaded = load(&place.root().join("demo"));
        assert!(!loaded.is_usable());
        assert_eq!(loaded.findings.len(), DIAGNOSTICS_PER_SKILL_MAX + 1);
        let last = loaded.findings.iter().find(|finding| finding.code == Code::MoreFindings).unwrap();
        let left_out = fields - DIAGNOSTICS_PER_SKILL_MAX;
        assert_eq!(last.message, format!("{left_out} more findings are not shown"));
    }
}

#[test]
fn fields_in_two_spellings_are_told_in_time() {
    let place = Place::new();
    let mut text = "{\"name\": \"demo\", \"version\": \"1.0.0\", \"description\": \"x\"".to_owned();
    for index in 0..25_000 {
        write!(text, ",\"a{index}_b\":1,\"a{index}B\":1").unwrap();
    }
    text.push('}');
    place.file("demo/skill.json", &text);
    let loaded = load(&place.root().join("demo"));
    assert!(!loaded.is_usable() && loaded.findings.len() == DIAGNOSTICS_PER_SKILL_MAX + 1);
}

#[test]
fn a_registry_file_ends_at_its_limit() {
    let place = Place::new();
    let documents = |count: usize| "--- {name: demo, description: x}\n".repeat(count);
    let file = place.file("many.skill.yaml", documents(REGISTRY_FILE_SKILLS_MAX + 5));
    let entries = must_return(move || load_registry_file(&file, Keep::Descriptions));
    assert_eq!(entries.len(), REGISTRY_FILE_SKILLS_MAX + 1);
    assert_eq!(place.told(&entries[REGISTRY_FILE_SKILLS_MAX].findings), ["yaml-budget many.skill.yaml"]);

    let list = vec!["1"; REGISTRY_FILE_SKILLS_MAX + 5].join(",");
    let file = place.file("many.skill.json", format!("[{list}]"));
    let entries = must_return(move || load_registry_file(&file, Keep::Descriptions));
    assert_eq!(entries.len(), REGISTRY_FILE_SKILLS_MAX + 1);
    let last = &entries[REGISTRY_FILE_SKILLS_MAX].findings;
    assert_eq!(place.told(last), ["field-out-of-range many.skill.json"]);
}

#[test]
fn what_is_wrong_with_a_registry_file_is_capped_too() {
    let place = Place::new();
    let file = place.file("many.skill.json", format!("{{\"name\": \"demo\"{}}}", ",\"a\":1".repeat(100_000)));
    let entries = must_return(move || load_registry_file(&file, Keep::Everything));
    for entry in &entries {
        assert!(entry.findings.len() <= DIAGNOSTICS_PER_SKILL_MAX + 1, "{} findings", entry.findings.len());
        assert!(is_sorted(&entry.findings));
    }
}

#[test]
fn skills_that_all_need_each_other_are_told_in_time() {
    let place = Place::new();
    let skills = 4000;
    let entry = |index: usize| {
        let before = (0..index).rev().step_by(97).map(|other| format!("\"skill-{other}\"")).take(50);
        let after = (index + 1 < skills).then(|| format!("\"skill-{}\"", index + 1));
        let needed: Vec<String> = before.chain(after).collect();
        let needed = needed.join(",");
        format!(r#"{{"name":"skill-{index}","version":"1.0.0","description":"x","dependencies":[{needed}]}}"#)
    };
    let entries: Vec<String> = (0..skills).map(entry).collect();
    let file = place.file("many.skill.json", format!("[{}]", entries.join(",\n")));
    let found = must_return(move || {
        let mut roots = [load_registry_file(&file, Keep::Descriptions)];
        check_set(&mut roots, &[]);
        roots[0].iter().flat_map(|loaded| loaded.findings.clone()).collect::<Vec<_>>()
    });
    let codes: Vec<Code> = found.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::DependencyCycle]);
    assert_eq!(found[0].message, "circular dependency: skill-0 \u{2192} skill-1 \u{2192} skill-0");
    assert!(peak_memory_kib().is_none_or(|peak| peak < 512 * 1024));
}

#[test]
fn dependencies_that_do_not_exist_are_told_within_the_limit() {
    let place = Place::new();
    let names: Vec<String> = (0..1000).map(|index| format!("\"none-{index}\"")).collect();
    let fields = "\"name\": \"demo\", \"version\": \"1.0.0\", \"description\": \"x\"";
    place.file("demo/skill.json", format!("{{{fields}, \"dependencies\": [{}]}}", names.join(",\n")));
    let mut roots = [vec![load(&place.root().join("demo"))]];
    check_set(&mut roots, &[]);
    let findings = &roots[0][0].findings;
    assert_eq!(findings.len(), DIAGNOSTICS_PER_SKILL_MAX + 1);
    assert!(is_sorted(findings));
    assert_eq!(findings.last().unwrap().message, "800 more findings are not shown");
    assert_eq!(findings[0].message, "`demo` depends on `none-0`, which does not exist");
}

#[test]
fn aliases_of_aliases_stay_within_the_depth() {
    let list = |inner: &str| format!("{}{inner}{}", "[".repeat(60), "]".repeat(60));
    let chain: String =
        (1..50).map(|n| format!("  a{n}: &a{n} {}\n", list(&format!("*a{}", n - 1)))).collect();
    let place = Place::new();
    place.file("demo/skill.yaml", format!("name: demo\ndescription: x\nmetadata:\n  a0: &a0 x\n{chain}"));
    assert!(!check(&place, &["yaml-budget demo/skill.yaml"]).is_usable());
}

#[test]
fn marks_that_are_never_closed_are_told_in_time() {
    let place = Place::new();
    let step =
        |input: &str| format!(r#""steps": [{{"id": "a", "skill": "x", "input": {{"x": "{input}"}}}}]"#);
    let start = "\"name\": \"demo\", \"version\": \"1.0.0\"";
    let markup = "<a".repeat(500_000);
    place.file("demo/skill.json", format!("{{{start}, \"description\": \"{markup}\"}}"));
    assert!(check(&place, &["field-too-long demo/skill.json"]).is_usable());
    let steps = step(&"${".repeat(500_000));
    place.file("demo/skill.json", format!("{{{start}, \"description\": \"x\", {steps}}}"));
    assert!(!check(&place, &["step-reference demo/skill.json"]).is_usable());
}

#[test]
fn hostile_settings_are_told() {
    let schema =
        "{\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"string\", \"pattern\": \"^(a+)+$\"}}}";
    let remote = "{\"$ref\": \"https://example.org/schema.json\"}";
    let table = [
        (schema, "[".repeat(100_000), "json-invalid demo/config.json"),
        (schema, "[]".to_owned(), "not-an-object demo/config.json"),
        (schema, "{\"a\": 1}".to_owned(), "config-invalid demo/config.json"),
        (schema, format!("{{\"a\": \"{}b\"}}", "a".repeat(100_000)), "config-invalid demo/config.json"),
        (schema, "{\"a\": \"${UNCLOSED\"}".to_owned(), "config-invalid demo/config.json"),
        (schema, "{\"a\": \"\u{0}\"}".to_owned(), "nul-byte demo/config.json"),
        (remote, "{}".to_owned(), "schema-remote-ref demo/config-schema.json"),
        ("{\"pattern\": \"(\"}", "{}".to_owned(), "schema-invalid demo/config-schema.json"),
    ];
    for (schema, config, expected) in table {
        let place = Place::new();
        place.file("demo/SKILL.md", GOOD);
        place.file("demo/config-schema.json", schema);
        place.file("demo/config.json", &config);
        let loaded = load(&place.root().join("demo"));
        let told = place.told(&loaded.findings);
        assert!(told.contains(&expected.to_owned()), "{schema} {config:.40}: {told:?}");
        assert_short_messages(&loaded);
    }
}

#[test]
fn a_schema_that_refers_to_itself_is_checked_in_time() {
    let place = Place::new();
    place.file("demo/SKILL.md", GOOD);
    place
        .file("demo/config-schema.json", r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}"##);
    place.file("demo/config.json", r#"{"a": {"a": {"a": 1}}}"#);
    assert!(check(&place, &[]).is_usable());
}
