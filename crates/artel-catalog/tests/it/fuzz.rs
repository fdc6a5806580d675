//! Random input for every parser. Each target starts from the fixtures, damages them, and checks what must hold for any
//! bytes at all. `docs/fuzzing.md` says how to run them longer.

use artel_catalog::{
    FileEntry, FileTree, Keep, Listing, Loaded, Location, Profile, ReadError, load_registry_file, load_tree,
};
use artel_model::diagnostic::{Code, Finding};
use artel_model::limit::DIAGNOSTICS_PER_SKILL_MAX;
use artel_model::name::SkillName;
use artel_model::setting::{ConfigSchema, EnvAllowList};
use artel_model::tool::{ToolCall, ToolPattern};
use bolero::check;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};

use crate::fixtures::fixtures;
use crate::mutate::{PIECES, Random, damaged};
use crate::place::{GOOD, Place, everything, is_sorted};

/// How often a target runs in CI; `BOLERO_RANDOM_ITERATIONS` overrides it.
const ITERATIONS: usize = 2000;

/// What a fuzzer varies: which text to start from, how to damage it, and bytes of its own.
type Input = (u16, u64, Vec<u8>);

/// Returns the content of every fixture file that `fits` by its name, in the order of paths.
fn corpus(fits: impl Fn(&str) -> bool) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    let mut open = vec![fixtures()];
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir_utf8().unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path().to_owned());
            } else if entry.path().is_file() && fits(entry.file_name()) {
                files.push(entry.path().to_owned());
            }
        }
    }
    files.sort();
    assert!(!files.is_empty());
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Makes bytes out of an input: a damaged text, one with foreign bytes inside, or only those bytes.
fn bytes(corpus: &[Vec<u8>], input: &Input) -> Vec<u8> {
    let (index, seed, noise) = input;
    let mut random = Random::new(*seed);
    let original = &corpus[usize::from(*index) % corpus.len()];
    match (std::str::from_utf8(original), random.below(8)) {
        (_, 0) => noise.clone(),
        (Ok(text), 1..6) => damaged(text, &mut random).into_bytes(),
        (Ok(_) | Err(_), _) => {
            let at = random.below(original.len() + 1);
            [&original[..at], &noise[..noise.len().min(16)], &original[at..]].concat()
        }
    }
}

/// A skill's folder in memory.
struct Memory<'a>(&'a [(&'a str, &'a [u8])]);

impl FileTree for Memory<'_> {
    fn listing(&self) -> Listing {
        let entry = |(path, content): &(&str, &[u8])| FileEntry {
            path: Utf8PathBuf::from(*path),
            size: content.len() as u64,
            is_executable: path.starts_with("scripts/"),
            is_link: false,
            modified: None,
        };
        Listing { files: self.0.iter().map(entry).collect(), ..Listing::default() }
    }

    fn read(&self, path: &Utf8Path, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
        let file = self.0.iter().find(|(name, _)| path == *name);
        match file {
            None => Err(ReadError::Missing(path.to_owned())),
            Some((_, content)) if content.len() as u64 > bytes_max => {
                Err(ReadError::TooLarge { path: path.to_owned(), bytes_max })
            }
            Some((_, content)) => Ok(content.to_vec()),
        }
    }
}

/// Loads files as the folder `demo`, and checks what must hold whatever they say.
#[track_caller]
fn load(files: &[(&str, &[u8])]) -> Loaded {
    let tree = Memory(files);
    let load = || load_tree(&tree, tree.listing(), Location::Folder("demo".into()), Keep::Everything);
    let loaded = load();
    assert_eq!(everything(&loaded), everything(&load()), "two loads differ");
    check_loaded(&loaded);
    let find = |path: &Utf8Path| files.iter().find(|(name, _)| path == Utf8Path::new("demo").join(name));
    let told = Profile::ALL.into_iter().flat_map(|profile| profile.diagnose(&loaded));
    for finding in told.map(|diagnostic| diagnostic.finding) {
        let content = find(&finding.path).map_or(&[][..], |(_, content)| content);
        check_position(&finding, content);
    }
    let has_skill_md = files.iter().any(|(name, _)| *name == "SKILL.md");
    if Profile::Spec.accepts(&loaded) {
        assert!(Profile::Lenient.accepts(&loaded) && loaded.is_usable(), "strict, but not lenient");
        assert!(!has_skill_md || Profile::SkillsRef.accepts(&loaded), "strict, but not the reference");
    }
    loaded
}

#[track_caller]
fn check_loaded(loaded: &Loaded) {
    assert!(is_sorted(&loaded.findings), "{:#?}", loaded.findings);
    assert!(loaded.findings.len() <= DIAGNOSTICS_PER_SKILL_MAX + 1);
    for finding in &loaded.findings {
        assert!(!finding.message.is_empty() && finding.message.chars().count() < 1000, "{finding:?}");
    }
    assert!(loaded.skill.is_some() || !loaded.findings.is_empty(), "no skill, and nobody says why");
    if let Some(skill) = loaded.skill.as_ref().filter(|_| loaded.is_usable()) {
        assert_eq!(skill.name.as_str().parse::<SkillName>().as_ref(), Ok(&skill.name));
        assert!(!skill.description.trim().is_empty());
    }
}

/// A place must be in the file, or right after its end.
#[track_caller]
fn check_position(finding: &Finding, content: &[u8]) {
    let Some(position) = finding.position else { return };
    let lines = content.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 2;
    assert!(position.line >= 1 && position.column >= 1, "{finding:?}");
    assert!(position.line as usize <= lines, "{finding:?} is behind line {lines}");
    assert!(position.column as usize <= content.len() + 2, "{finding:?}");
}

#[test]
fn frontmatter() {
    let corpus = corpus(|name| name.eq_ignore_ascii_case("skill.md"));
    let run = |bytes: &[u8]| drop(load(&[("SKILL.md", bytes)]));
    corpus.iter().for_each(|bytes| run(bytes));
    check!().with_iterations(ITERATIONS).with_type::<Input>().for_each(|input| run(&bytes(&corpus, input)));
}

#[test]
fn repair_keeps_the_text() {
    check!().with_iterations(ITERATIONS).with_type::<(u64, u8)>().for_each(|(seed, words)| {
        let mut random = Random::new(*seed);
        let text: String = (0..=words % 8).map(|_| *random.pick(PIECES)).collect();
        let text = text.replace(['\n', '\r'], " ");
        let file = format!("---\nname: demo\ndescription: {text}\n---\nDo it.\n");
        let loaded = load(&[("SKILL.md", file.as_bytes())]);
        if loaded.findings.iter().any(|finding| finding.code == Code::YamlRepaired) {
            assert_eq!(loaded.skill.unwrap().description, text.trim(), "{text:?}");
        }
    });
}

#[test]
fn manifest_json() {
    let corpus = corpus(|name| name == "skill.json");
    let run = |bytes: &[u8]| {
        load(&[("scripts/run.sh", b"#!/bin/sh\n"), ("skill.json", bytes)]);
        load(&[("SKILL.md", GOOD.as_bytes()), ("skill.json", bytes)]);
    };
    corpus.iter().for_each(|bytes| run(bytes));
    check!().with_iterations(ITERATIONS).with_type::<Input>().for_each(|input| run(&bytes(&corpus, input)));
}

#[test]
fn manifest_yaml() {
    // YAML contains JSON, so both make good beginnings.
    let corpus = corpus(|name| matches!(name, "skill.yaml" | "skill.json"));
    let run = |bytes: &[u8]| drop(load(&[("skill.yaml", bytes)]));
    corpus.iter().for_each(|bytes| run(bytes));
    check!().with_iterations(ITERATIONS).with_type::<Input>().for_each(|input| run(&bytes(&corpus, input)));
}

#[test]
fn registry_file() {
    let corpus = corpus(|name| name.ends_with(".skill.yaml") || name.ends_with(".skill.json"));
    let place = Place::new();
    let run = |bytes: &[u8]| {
        for name in ["x.skill.yaml", "x.skill.json"] {
            let file = place.file(name, bytes);
            let load = || load_registry_file(&file, Keep::Everything);
            let entries = load();
            assert!(!entries.is_empty(), "a file without skills must say so");
            let texts = |entries: &[Loaded]| entries.iter().map(everything).collect::<Vec<_>>();
            assert_eq!(texts(&entries), texts(&load()));
            entries.iter().for_each(check_loaded);
            let findings = entries.iter().flat_map(|entry| &entry.findings);
            findings.for_each(|finding| check_position(finding, bytes));
        }
    };
    corpus.iter().for_each(|bytes| run(bytes));
    check!()
        .with_iterations(ITERATIONS / 2)
        .with_type::<Input>()
        .for_each(|input| run(&bytes(&corpus, input)));
}

#[test]
fn tool_patterns_and_calls() {
    const NAMES: &[&str] = &["Bash", "entity.", "a/b", "x", "*", "_", "\u{e9}", " "];
    const ARGUMENTS: &[&str] =
        &["git", "log", "*", ":*", " ", "rm -rf ~", ";", "$(", ")", "(", "\n", "x", ":"];
    let text = |seed: u64| {
        let mut random = Random::new(seed);
        let mut row = |pieces: &[&'static str], count: usize| {
            (0..random.below(count)).map(|_| *random.pick(pieces)).collect::<String>()
        };
        let (name, argument) = (row(NAMES, 4), row(ARGUMENTS, 5));
        if argument.is_empty() { name } else { format!("{name}({argument})") }
    };
    check!().with_iterations(20_000).with_type::<(u64, u64, u64)>().for_each(|(one, other, call)| {
        let Ok(call) = text(*call).parse::<ToolCall>() else { return };
        let Ok(one) = text(*one).parse::<ToolPattern>() else { return };
        assert_eq!(one.to_string().parse().as_ref(), Ok(&one), "{one} is read as another pattern");
        assert!(one.covers(&one));
        if one.allows(&call) {
            assert!(one.forbids(&call), "{one} allows {call:?} but would not forbid it");
        }
        let Ok(other) = text(*other).parse::<ToolPattern>() else { return };
        for both in one.intersect(&other).iter().filter(|both| both.allows(&call)) {
            assert!(one.allows(&call) && other.allows(&call), "{both} of {one} and {other} allows {call:?}");
        }
        if one.covers(&other) && other.allows(&call) {
            assert!(one.allows(&call), "{one} covers {other}, which allows {call:?}");
        }
    });
}

#[test]
fn settings() {
    let schemas = corpus(|name| name == "config-schema.json");
    let configs = corpus(|name| name == "config.json");
    let run = |schema: &[u8], config: &[u8]| {
        load(&[("SKILL.md", GOOD.as_bytes()), ("config-schema.json", schema), ("config.json", config)]);
        let schema =
            serde_json::from_slice::<Value>(schema).ok().and_then(|schema| ConfigSchema::parse(schema).ok());
        let config = serde_json::from_slice::<Map<String, Value>>(config).ok();
        if let (Some(schema), Some(config)) = (schema, config) {
            check_secrets(&schema, &config);
        }
    };
    schemas.iter().for_each(|schema| configs.iter().for_each(|config| run(schema, config)));
    check!().with_iterations(ITERATIONS / 2).with_type::<(Input, Input)>().for_each(|(schema, config)| {
        run(&bytes(&schemas, schema), &bytes(&configs, config));
    });
}

/// What comes from the environment must not be shown.
#[track_caller]
fn check_secrets(schema: &ConfigSchema, config: &Map<String, Value>) {
    const SECRET: &str = "s3cret-from-the-environment";
    let shown = match schema.resolve(config, &EnvAllowList::new(["*"]), |_| Some(SECRET.to_owned())) {
        Ok(effective) => format!("{effective:?} {}", Value::Object(effective.masked())),
        Err(problems) => format!("{problems:?}"),
    };
    assert!(!shown.contains(SECRET), "{shown}");
    assert_eq!(schema.check(config), schema.check(config));
}
