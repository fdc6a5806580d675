//! One skill out of the drafts of its files, with what is wrong between them.

use artel_model::composite::{Composite, ErrorPolicy};
use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::limit::{NAME_CHARS_USUAL_MAX, NAME_CHARS_USUAL_MIN};
use artel_model::name::{LocalName, SkillName};
use artel_model::rule::Rules;
use artel_model::schema::Schema;
use artel_model::skill::{About, Attempts, Interface, Invocation, PRIORITY_DEFAULT, Script, Skill};
use artel_model::skill::{BACKOFF_MS_DEFAULT, TIMEOUT_S_DEFAULT};
use artel_model::version::Version;
use camino::{Utf8Path, Utf8PathBuf};
use unicode_normalization::UnicodeNormalization;

use super::draft::{At, DeclaredScript, Draft};
use crate::source::FileEntry;

/// What a skill is made of.
pub(crate) struct Parts<'a> {
    /// The folder's name; a registry file has none.
    pub(crate) folder: Option<&'a str>,
    /// The fields of `SKILL.md`, and its path.
    pub(crate) skill_md: Option<(Draft, &'a Utf8Path)>,
    /// The fields of the manifest, and its path.
    pub(crate) manifest: Option<(Draft, &'a Utf8Path)>,
    /// The instructions, for a description when there is none.
    pub(crate) instructions: &'a str,
    pub(crate) files: &'a [FileEntry],
    /// Links that lead out of the folder.
    pub(crate) escaping: &'a [Utf8PathBuf],
}

/// A skill, and where its parts stand for what is found out later.
#[derive(Clone, Debug)]
pub(crate) struct Assembly {
    pub(crate) skill: Skill,
    pub(crate) places: Places,
}

/// Where the parts of a skill stand that other skills matter for.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) name: (Utf8PathBuf, Position),
    pub(crate) manifest: Option<Utf8PathBuf>,
    pub(crate) dependencies: Vec<Position>,
    pub(crate) steps: Vec<Position>,
    pub(crate) fallback: Option<Position>,
}

/// Puts a skill together; nothing when it cannot even be named.
pub(crate) fn assemble(parts: Parts<'_>, findings: &mut Vec<Finding>) -> Option<Assembly> {
    let Parts { folder, skill_md, manifest, instructions, files, escaping } = parts;
    let (skill_md, skill_md_path) = skill_md.map_or((None, None), |(draft, path)| (Some(draft), Some(path)));
    let (manifest, manifest_path) = manifest.map_or((None, None), |(draft, path)| (Some(draft), Some(path)));
    let main_path = skill_md_path.or(manifest_path)?;
    let (skill_md, manifest) = (skill_md.unwrap_or_default(), manifest.unwrap_or_default());

    let paths = MainPaths { skill_md: skill_md_path, manifest: manifest_path };
    let written = choose_name(folder, &skill_md, &manifest, &paths, findings);
    let name_path =
        if written.is_some_and(|(from, _)| from == From::Manifest) { manifest_path } else { skill_md_path };
    let name_path = name_path.unwrap_or(main_path);
    let name_position = written.map_or(Position::START, |(_, name)| name.position);
    let conflicting = findings.iter().any(|finding| finding.code == Code::NameConflict);
    let name = check_name(written.map(|(_, name)| name), folder, name_path, conflicting, findings)?;

    report_conflicts(&skill_md, &manifest, manifest_path, findings);
    let description =
        manifest.description.as_ref().or(skill_md.description.as_ref()).map(|text| text.value.clone());
    let description =
        description.or_else(|| first_paragraph(instructions)).unwrap_or_else(|| name.as_str().to_owned());

    let scripts = gather_scripts(&manifest.scripts, files, escaping, manifest_path, findings);
    let entrypoint = choose_entrypoint(manifest.entrypoint.as_ref(), &scripts, manifest_path, findings);
    let places = Places {
        name: (name_path.to_owned(), name_position),
        manifest: manifest_path.map(Utf8Path::to_owned),
        dependencies: manifest.dependencies.iter().flatten().map(|entry| entry.position).collect(),
        steps: manifest.steps.iter().flatten().map(|entry| entry.position).collect(),
        fallback: manifest.fallback_position,
    };
    let skill = build(name, description, skill_md, manifest, scripts, entrypoint);
    Some(Assembly { skill, places })
}

/// Where the two files are that say what a skill is.
struct MainPaths<'a> {
    skill_md: Option<&'a Utf8Path>,
    manifest: Option<&'a Utf8Path>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum From {
    SkillMd,
    Manifest,
}

/// Where both files give a name, they must agree; the one that fits the folder counts.
fn choose_name<'a>(
    folder: Option<&str>,
    skill_md: &'a Draft,
    manifest: &'a Draft,
    paths: &MainPaths<'_>,
    findings: &mut Vec<Finding>,
) -> Option<(From, &'a At<String>)> {
    match (&skill_md.name, &manifest.name) {
        (Some(one), Some(other)) if one.value != other.value => {
            let fits_folder = |name: &At<String>| Some(name.value.as_str()) == folder;
            let (wrong, right, path) = if fits_folder(other) {
                (one, (From::Manifest, other), paths.skill_md)
            } else if fits_folder(one) {
                (other, (From::SkillMd, one), paths.manifest)
            } else {
                (other, (From::Manifest, other), paths.manifest)
            };
            if let Some(path) = path {
                let message = format!("SKILL.md says `{}`, the manifest says `{}`", one.value, other.value);
                let hint = Some("give both files the folder's name".to_owned());
                findings.push(finding(Code::NameConflict, path, wrong.position, message, hint));
            }
            Some(right)
        }
        (Some(one), _) => Some((From::SkillMd, one)),
        (None, Some(other)) => Some((From::Manifest, other)),
        (None, None) => None,
    }
}

/// Checks a name against the rule and the folder; returns the nearest usable one.
fn check_name(
    written: Option<&At<String>>,
    folder: Option<&str>,
    path: &Utf8Path,
    conflicting: bool,
    findings: &mut Vec<Finding>,
) -> Option<SkillName> {
    let from_folder = || folder.and_then(SkillName::slug);
    let Some(written) = written else { return from_folder() };
    let text = written.value.trim();
    let mut report =
        |code, message, hint| findings.push(finding(code, path, written.position, message, hint));
    let parsed = text.parse::<SkillName>();
    match &parsed {
        Ok(_) => {
            let chars = text.chars().count();
            if !(NAME_CHARS_USUAL_MIN..=NAME_CHARS_USUAL_MAX).contains(&chars) {
                let usual = format!("{NAME_CHARS_USUAL_MIN} to {NAME_CHARS_USUAL_MAX}");
                report(
                    Code::NameLength,
                    format!("`{text}` is {chars} long, {usual} characters are usual"),
                    None,
                );
            }
        }
        Err(error) => {
            let hint = SkillName::slug(text).map(|slug| format!("call it `{slug}`"));
            let shown: String = text.chars().take(80).collect();
            report(Code::NameInvalid, format!("`{shown}` is not a skill's name: {error}"), hint);
        }
    }
    let lower = text.to_lowercase();
    if let Some(word) = ["anthropic", "claude"].into_iter().find(|word| lower.contains(word)) {
        report(Code::NameReserved, format!("`{text}` holds the reserved word `{word}`"), None);
    }
    if let Some(folder) = folder.filter(|folder| !conflicting && !is_same_name(folder, text)) {
        let hint = match SkillName::slug(text) {
            Some(slug) if slug.as_str() == folder => format!("call the skill `{slug}`, like its folder"),
            Some(slug) => format!("rename the folder to `{slug}`, or call the skill `{folder}`"),
            None => format!("call the skill `{folder}`"),
        };
        report(
            Code::NameMismatch,
            format!("the skill is called `{text}`, its folder `{folder}`"),
            Some(hint),
        );
    }
    parsed.ok().or_else(|| SkillName::slug(text)).or_else(from_folder)
}

/// Compares names as the open format does: look-alikes that Unicode calls compatible are the same.
fn is_same_name(one: &str, other: &str) -> bool {
    one == other || one.nfkc().eq(other.nfkc())
}

fn report_conflicts(
    skill_md: &Draft,
    manifest: &Draft,
    path: Option<&Utf8Path>,
    findings: &mut Vec<Finding>,
) {
    let Some(path) = path else { return };
    let mut differ = |field: &str, one: &str, position: Position, hint: &str| {
        let message = format!("`{field}` differs from SKILL.md, which says `{}`", short(one));
        findings.push(finding(Code::FieldConflict, path, position, message, Some(hint.to_owned())));
    };
    let switches = [
        ("disable_model_invocation", &skill_md.disable_model_invocation, &manifest.disable_model_invocation),
        ("user_invocable", &skill_md.user_invocable, &manifest.user_invocable),
    ];
    for (field, one, other) in switches {
        if let (Some(one), Some(other)) = (one, other)
            && one.value != other.value
        {
            let hint = "make both equal, or keep it in one file; the stricter one counts";
            differ(field, &one.value.to_string(), other.position, hint);
        }
    }
    let mut compare = |field: &str, one: Option<String>, other: Option<(String, Position)>| {
        if let (Some(one), Some((other, position))) = (one, other)
            && one != other
        {
            differ(field, &one, position, "make both equal, or keep it in one file; this file counts");
        }
    };
    let text = |value: &Option<At<String>>| value.as_ref().map(|at| at.value.clone());
    let placed = |value: &Option<At<String>>| value.as_ref().map(|at| (at.value.clone(), at.position));
    compare("description", text(&skill_md.description), placed(&manifest.description));
    compare(
        "version",
        skill_md.version.as_ref().map(|at| at.value.to_string()),
        manifest.version.as_ref().map(|at| (at.value.to_string(), at.position)),
    );
    compare("license", text(&skill_md.license), placed(&manifest.license));
    compare("compatibility", text(&skill_md.compatibility), placed(&manifest.compatibility));
    compare("author", text(&skill_md.author), placed(&manifest.author));
    compare("homepage", text(&skill_md.homepage), placed(&manifest.homepage));
    compare("display_name", text(&skill_md.display_name), placed(&manifest.display_name));
    let list = |tags: &At<Vec<String>>| tags.value.join(", ");
    compare(
        "tags",
        skill_md.tags.as_ref().map(list),
        manifest.tags.as_ref().map(|tags| (list(tags), tags.position)),
    );
    let tools = |tools: &At<Vec<_>>| {
        let texts: Vec<String> = tools.value.iter().map(artel_model::tool::ToolPattern::to_string).collect();
        texts.join(" ")
    };
    compare(
        "allowed_tools",
        skill_md.allowed_tools.as_ref().map(tools),
        manifest.allowed_tools.as_ref().map(|at| (tools(at), at.position)),
    );
}

/// Declared scripts first, then every other file directly in `scripts/`, by path.
fn gather_scripts(
    declared: &[DeclaredScript],
    files: &[FileEntry],
    escaping: &[Utf8PathBuf],
    path: Option<&Utf8Path>,
    findings: &mut Vec<Finding>,
) -> Vec<Script> {
    let mut scripts: Vec<Script> = Vec::new();
    let file_at = |path: &Utf8Path| files.iter().find(|file| file.path == path);
    for script in declared {
        let mut report = |code, message: String, hint: &str| {
            if let Some(path) = path {
                findings.push(finding(code, path, script.position, message, Some(hint.to_owned())));
            }
        };
        let Some(file) = file_at(&script.path) else {
            if escaping.contains(&script.path) {
                let message = format!("`{}` is a link that leads out of the skill's folder", script.path);
                report(Code::UnsafePath, message, "copy the file into the folder");
            } else {
                let message = format!("there is no file `{}`", script.path);
                report(Code::ScriptMissing, message, "create it, or remove the script from the manifest");
            }
            continue;
        };
        if !file.is_executable {
            let message = format!("`{}` is not executable", script.path);
            report(Code::ScriptNotExecutable, message, &format!("run `chmod +x {}`", script.path));
        }
        scripts.push(Script {
            name: script.name.clone(),
            path: script.path.clone(),
            is_executable: file.is_executable,
            description: script.description.clone(),
            parameters_schema: script.parameters.clone(),
            returns_schema: script.returns.clone(),
            timeout: script.timeout_s,
        });
    }
    for file in files.iter().filter(|file| file.path.parent() == Some(Utf8Path::new("scripts"))) {
        let name: Option<LocalName> = file.path.file_stem().and_then(|stem| stem.parse().ok());
        let is_known = |script: &Script| Some(&script.name) == name.as_ref() || script.path == file.path;
        if let Some(name) = name.clone().filter(|_| !scripts.iter().any(is_known)) {
            scripts.push(Script {
                name,
                path: file.path.clone(),
                is_executable: file.is_executable,
                description: None,
                parameters_schema: None,
                returns_schema: None,
                timeout: None,
            });
        }
    }
    scripts
}

/// The declared entrypoint, else the only script, else `run` or `main`.
fn choose_entrypoint(
    declared: Option<&At<LocalName>>,
    scripts: &[Script],
    path: Option<&Utf8Path>,
    findings: &mut Vec<Finding>,
) -> Option<LocalName> {
    let named =
        |name: &str| scripts.iter().find(|script| script.name.as_str() == name).map(|s| s.name.clone());
    if let Some(declared) = declared {
        let found = named(declared.value.as_str());
        if let (None, Some(path)) = (&found, path) {
            let names: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
            let hint = if names.is_empty() {
                "the skill has no scripts".to_owned()
            } else {
                format!("scripts are: {}", names.join(", "))
            };
            let message = format!("the entrypoint `{}` is no script of this skill", declared.value);
            findings.push(finding(Code::EntrypointUnknown, path, declared.position, message, Some(hint)));
        }
        return found;
    }
    match scripts {
        [only] => Some(only.name.clone()),
        _ => named("run").or_else(|| named("main")),
    }
}

fn build(
    name: SkillName,
    description: String,
    skill_md: Draft,
    manifest: Draft,
    scripts: Vec<Script>,
    entrypoint: Option<LocalName>,
) -> Skill {
    let text = |one: Option<At<String>>, other: Option<At<String>>| one.or(other).map(|at| at.value);
    let mut metadata = skill_md.metadata;
    metadata.extend(manifest.metadata);
    let steps = manifest.steps.map(|steps| steps.into_iter().map(|step| step.value).collect());
    // Where both files have a switch, the stricter one counts.
    let disabled = [&manifest.disable_model_invocation, &skill_md.disable_model_invocation];
    let invocable = [&manifest.user_invocable, &skill_md.user_invocable];
    Skill {
        name,
        version: manifest.version.or(skill_md.version).map_or(Version::new(0, 0, 0), |at| at.value),
        description,
        about: About {
            display_name: text(manifest.display_name, skill_md.display_name),
            author: text(manifest.author, skill_md.author),
            license: text(manifest.license, skill_md.license),
            homepage: text(manifest.homepage, skill_md.homepage),
            compatibility: text(manifest.compatibility, skill_md.compatibility),
            tags: manifest.tags.or(skill_md.tags).map(|at| at.value).unwrap_or_default(),
            capabilities: manifest.capabilities.unwrap_or_default(),
            priority: manifest.priority.and_then(|p| u8::try_from(p).ok()).unwrap_or(PRIORITY_DEFAULT),
            metadata,
        },
        invocation: Invocation {
            by_model: !disabled.into_iter().flatten().any(|switch| switch.value),
            by_user: invocable.into_iter().flatten().all(|switch| switch.value),
        },
        interface: Interface {
            parameters: manifest.parameters.unwrap_or_else(Schema::any_object),
            returns: manifest.returns,
        },
        attempts: Attempts {
            timeout_s: manifest.timeout_s.unwrap_or(TIMEOUT_S_DEFAULT),
            max_retries: manifest.max_retries.unwrap_or(0),
            backoff_ms: manifest.backoff_ms.unwrap_or(BACKOFF_MS_DEFAULT),
            idempotent: manifest.idempotent.unwrap_or(false),
        },
        dependencies: manifest.dependencies.unwrap_or_default().into_iter().map(|at| at.value).collect(),
        scripts,
        entrypoint,
        composite: steps.map(|steps| Composite {
            steps,
            on_failure: manifest.error_policy.unwrap_or(ErrorPolicy::Abort),
        }),
        rules: Rules {
            allowed_tools: manifest
                .allowed_tools
                .or(skill_md.allowed_tools)
                .map(|at| at.value)
                .unwrap_or_default(),
            forbidden_tools: manifest.forbidden_tools.unwrap_or_default(),
            execution_protocol: manifest.execution_protocol.unwrap_or_default(),
            preconditions: manifest.preconditions.unwrap_or_default(),
            postconditions: manifest.postconditions.unwrap_or_default(),
            output_contract: manifest.output_contract,
            compatibility_rules: manifest.compatibility_rules,
            composability_rules: manifest.composability_rules,
        },
        sandbox: manifest.sandbox.unwrap_or_default(),
        data_scope: manifest.data_scope.unwrap_or_default(),
    }
}

/// Returns the first paragraph that is not a heading, on one line and not too long.
pub(crate) fn first_paragraph(body: &str) -> Option<String> {
    let body = body.replace("\r\n", "\n");
    let paragraph =
        body.split("\n\n").map(str::trim).find(|text| !text.is_empty() && !text.starts_with('#'))?;
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    Some(words.join(" ").chars().take(artel_model::limit::DESCRIPTION_CHARS_MAX).collect())
}

fn finding(
    code: Code,
    path: &Utf8Path,
    position: Position,
    message: String,
    hint: Option<String>,
) -> Finding {
    Finding { code, message, path: path.to_owned(), position: Some(position), hint }
}

fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() {
        cut.push_str("...");
    }
    cut
}
