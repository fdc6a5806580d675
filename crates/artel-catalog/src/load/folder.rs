//! One skill out of its folder.

use std::sync::Arc;

use artel_model::diagnostic::{Code, Finding, Position};
use artel_model::limit::{MANIFEST_BYTES_MAX, SKILL_MD_BYTES_MAX};
use artel_model::schema::SchemaErrorKind;
use artel_model::setting::ConfigSchema;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value};

use super::files::read_text;
use super::loaded::{Loaded, Location};
use super::options::Keep;
use crate::client::{ClientFindings, SkillMdFile};
use crate::document::{Budget, Document, FeatureKind, Part, YamlErrorKind, parse_json, parse_yaml};
use crate::read::{
    Draft, ManifestRole, Parts, Reader, SplitError, assemble, first_paragraph, is_restriction,
    read_frontmatter, read_manifest, repair, split,
};
use crate::source::{DiskTree, FileTree, Listing};

/// Loads the skill in the folder at `path`.
pub fn load_folder(path: &Utf8Path, keep: Keep) -> Loaded {
    let tree = DiskTree::new(path);
    let listing = tree.listing();
    load_tree(&tree, listing, Location::Folder(path.to_owned()), keep)
}

/// Loads the skill whose files are `listing`.
pub fn load_tree(tree: &dyn FileTree, listing: Listing, location: Location, keep: Keep) -> Loaded {
    let root = location.path().map_or_else(|| Utf8PathBuf::from(location.to_string()), Utf8Path::to_owned);
    let mut folder = Folder { tree, root: &root, findings: Vec::new() };
    let mut loaded = folder.load(&listing, location.clone(), keep);
    loaded.add_findings(folder.findings.into_iter().chain(listing.findings));
    loaded.files = listing.files;
    loaded
}

struct Folder<'a> {
    tree: &'a dyn FileTree,
    root: &'a Utf8Path,
    findings: Vec<Finding>,
}

/// The text of a `SKILL.md`.
struct Body {
    text: String,
    /// Where the instructions start in the text.
    start: usize,
}

impl Body {
    fn instructions(&self) -> &str {
        self.text[self.start..].trim()
    }
}

/// The files that say what a skill is.
struct MainFiles {
    skill_md: Option<&'static str>,
    manifest: Option<&'static str>,
}

impl MainFiles {
    fn of(listing: &Listing) -> Self {
        let find = |names: &[&'static str]| names.iter().copied().find(|name| listing.file(name).is_some());
        Self {
            skill_md: find(&["SKILL.md", "skill.md"]),
            manifest: find(&["skill.json", "skill.yaml", "skill.yml"]),
        }
    }
}

impl Folder<'_> {
    fn load(&mut self, listing: &Listing, location: Location, keep: Keep) -> Loaded {
        let mut loaded = Loaded::nothing(location);
        if keep == Keep::Everything {
            let file = SkillMdFile::read(self.tree, listing, self.root);
            loaded.clients = Some(ClientFindings::of(&file));
        }
        match MainFiles::of(listing) {
            MainFiles { skill_md: None, manifest: None } => {
                let is_main = |finding: &Finding| {
                    matches!(finding.code, Code::SpecialFile | Code::SymlinkEscapes)
                        && finding.path.parent() == Some(self.root)
                        && finding.path.file_name().is_some_and(DiskTree::is_skill_file)
                };
                if !listing.findings.iter().any(is_main) {
                    self.report_missing_file();
                }
            }
            main => self.load_main(listing, &main, keep, &mut loaded),
        }
        loaded
    }

    fn load_main(&mut self, listing: &Listing, main: &MainFiles, keep: Keep, loaded: &mut Loaded) {
        let folder_name = self.root.file_name().map(|name| name.trim_start_matches("built-in:").to_owned());
        let (skill_md, body) = main.skill_md.and_then(|name| self.skill_md(name)).unzip();
        let known =
            skill_md.as_ref().and_then(|draft: &Draft| draft.name.as_ref()).map(|name| name.value.clone());
        let role = if main.skill_md.is_some() { ManifestRole::BesideSkillMd } else { ManifestRole::Alone };
        let known = known.or_else(|| folder_name.clone());
        let manifest = main.manifest.and_then(|name| self.manifest(name, role, known.as_deref()));
        self.settings(listing, loaded);

        let body: Option<Body> = body.filter(|body: &Body| !body.instructions().is_empty());
        let prompt = if body.is_none() && listing.file("prompt.md").is_some() {
            self.text("prompt.md", MANIFEST_BYTES_MAX)
        } else {
            None
        };
        let instructions = body.as_ref().map(Body::instructions).or(prompt.as_deref()).unwrap_or_default();
        let md_path = main.skill_md.map(|name| self.root.join(name));
        if let (Some(_), Some(path), true) = (&skill_md, &md_path, instructions.trim().is_empty()) {
            let message = "there are no instructions after the frontmatter";
            self.report_whole(Code::InstructionsEmpty, path.clone(), message);
        }
        // A file that cannot be read must not be replaced by what the other one says: it may forbid something.
        let is_broken =
            main.skill_md.is_some() != skill_md.is_some() || main.manifest.is_some() != manifest.is_some();
        if is_broken {
            return;
        }
        let manifest_path = main.manifest.map(|name| self.root.join(name));
        let parts = Parts {
            folder: folder_name.as_deref(),
            skill_md: skill_md.zip(md_path.as_deref()),
            manifest: manifest.zip(manifest_path.as_deref()),
            instructions,
            files: &listing.files,
            escaping: &listing.escaping,
        };
        if let Some(assembly) = assemble(parts, &mut self.findings) {
            loaded.skill = Some(Arc::new(assembly.skill));
            loaded.places = Some(assembly.places);
        }
        loaded.instructions = (keep != Keep::Descriptions).then(|| Arc::from(instructions));
    }

    fn skill_md(&mut self, name: &str) -> Option<(Draft, Body)> {
        let path = self.root.join(name);
        if name == "skill.md" {
            let message = "the file should be called `SKILL.md`: most clients do not find it otherwise";
            self.report_whole(Code::LowercaseFileName, path.clone(), message);
        }
        let text = self.text(name, SKILL_MD_BYTES_MAX)?;
        let frontmatter = match split(&text) {
            Ok(frontmatter) => frontmatter,
            Err(error) => return self.without_frontmatter(&path, text, error),
        };
        let fence = text.lines().next().unwrap_or_default();
        if fence.chars().any(|c| !matches!(c, '-' | ' ')) {
            let what = "a tab or another odd space after `---`";
            self.report_not_portable(&path, Position { line: 1, column: 4 }, what);
        }
        let start = text.len() - frontmatter.body.len();
        let draft = self.frontmatter(&path, frontmatter.yaml)?;
        Some((draft, Body { text, start }))
    }

    /// A file without frontmatter can still be used when its first paragraph says what it is about.
    fn without_frontmatter(
        &mut self,
        path: &Utf8Path,
        text: String,
        error: SplitError,
    ) -> Option<(Draft, Body)> {
        let hint = "start the file with `---`, `name: …`, `description: …`, `---`";
        let (code, message) = match error {
            SplitError::Missing => {
                (Code::FrontmatterMissing, "the file does not start with YAML frontmatter")
            }
            SplitError::Unclosed => {
                (Code::FrontmatterUnclosed, "the frontmatter is not closed by a `---` line")
            }
        };
        self.report(code, path, Position::START, message.to_owned(), Some(hint));
        let is_usable = error == SplitError::Missing && first_paragraph(&text).is_some();
        is_usable.then(|| (Draft::default(), Body { text, start: 0 }))
    }

    fn frontmatter(&mut self, path: &Utf8Path, yaml: &str) -> Option<Draft> {
        let (node, features) = match parse_yaml(yaml, Budget::FRONTMATTER) {
            Ok(parsed) => parsed,
            Err(error) => {
                let mended = match &error.kind {
                    YamlErrorKind::Syntax(_) | YamlErrorKind::Key => repair(yaml),
                    YamlErrorKind::Budget(_) | YamlErrorKind::SecondDocument => None,
                };
                let parsed =
                    mended.as_ref().and_then(|mended| parse_yaml(&mended.yaml, Budget::FRONTMATTER).ok());
                let (Some(mended), Some(parsed)) = (mended, parsed) else {
                    let position = Position { line: error.position.line + 1, ..error.position };
                    self.report_yaml(path, position, &error.kind);
                    return None;
                };
                for place in mended.places {
                    let position = Position { line: place.line + 1, ..place };
                    let message = "this value must be in quotes to be read".to_owned();
                    let hint = "put it in double quotes; `artel skill validate --fix` does it";
                    self.report(Code::YamlRepaired, path, position, message, Some(hint));
                }
                parsed
            }
        };
        let document = Document::from_yaml(node, 1);
        if !matches!(document.value, Value::Object(_) | Value::Null) {
            let position = document.position("", Part::Value);
            let message = "the frontmatter must be a mapping of fields".to_owned();
            self.report(Code::NotAnObject, path, position, message, Some("write one `name: value` a line"));
            return None;
        }
        for feature in &features {
            let position = Position { line: feature.position.line + 1, ..feature.position };
            let what = match feature.kind {
                FeatureKind::FlowStyle => "a list or mapping in brackets",
                FeatureKind::Anchor => "an anchor",
                FeatureKind::Alias => "an alias",
                FeatureKind::Tag => "a tag",
                FeatureKind::Tab => "a tab outside quotes",
                FeatureKind::LineBreak => "a line break that is not one in every YAML",
                FeatureKind::EarlyEnd => "`...` with nothing to end",
                FeatureKind::ByteOrderMark => "a byte order mark before the fields",
                FeatureKind::Indentation => "a mapping indented unlike the one before it",
                FeatureKind::MergeKey => "the key `<<`",
            };
            self.report_not_portable(path, position, what);
        }
        if let Some(position) = hyphens_inside(yaml) {
            self.report_not_portable(path, position, "`---` inside a value");
        }
        let (draft, findings) = read_frontmatter(Reader::new(path, &document));
        self.findings.extend(findings);
        Some(draft)
    }

    fn manifest(&mut self, name: &str, role: ManifestRole, known: Option<&str>) -> Option<Draft> {
        let path = self.root.join(name);
        let text = self.text(name, MANIFEST_BYTES_MAX)?;
        let document = self.document(&path, &text)?;
        let mut reader = Reader::new(&path, &document);
        reader.report_repetitions(&document.repetitions(), |repetition| is_restriction(repetition.field));
        let (draft, findings) = read_manifest(reader, "", role, known);
        self.findings.extend(findings);
        draft
    }

    /// Reads a JSON or YAML document by the name of its file.
    fn document<'t>(&mut self, path: &Utf8Path, text: &'t str) -> Option<Document<'t>> {
        if path.extension() == Some("json") {
            return match parse_json(text) {
                Ok(value) => Some(Document::from_json(value, text)),
                Err(error) => {
                    self.report(Code::JsonInvalid, path, error.position, error.message, None);
                    None
                }
            };
        }
        match parse_yaml(text, Budget::DOCUMENT) {
            Ok((node, _)) => Some(Document::from_yaml(node, 0)),
            Err(error) => {
                self.report_yaml(path, error.position, &error.kind);
                None
            }
        }
    }

    /// Reads `config-schema.json` and `config.json`, and checks one against the other.
    fn settings(&mut self, listing: &Listing, loaded: &mut Loaded) {
        if listing.file("config-schema.json").is_some() {
            loaded.config_schema = self.config_schema();
        }
        if listing.file("config.json").is_none() {
            return;
        }
        let path = self.root.join("config.json");
        let Some(text) = self.text("config.json", MANIFEST_BYTES_MAX) else { return };
        let Some(document) = self.document(&path, &text) else { return };
        let mut reader = Reader::new(&path, &document);
        reader.report_repetitions(&document.repetitions(), |_| false);
        let Value::Object(config) = &document.value else {
            let message = "the settings must be an object".to_owned();
            reader.report(Code::NotAnObject, "", Part::Value, message, None);
            self.findings.extend(reader.findings);
            return;
        };
        if let Some(schema) = &loaded.config_schema {
            report_config(&mut reader, schema, config);
        }
        self.findings.extend(reader.findings);
        loaded.config = Some(config.clone());
    }

    fn config_schema(&mut self) -> Option<ConfigSchema> {
        let path = self.root.join("config-schema.json");
        let text = self.text("config-schema.json", MANIFEST_BYTES_MAX)?;
        let document = self.document(&path, &text)?;
        match ConfigSchema::parse(document.value.clone()) {
            Ok(schema) => Some(schema),
            Err(error) => {
                let code = match &error.kind {
                    SchemaErrorKind::RemoteReference(_) => Code::SchemaRemoteRef,
                    SchemaErrorKind::Invalid(_) | SchemaErrorKind::TooLarge => Code::SchemaInvalid,
                };
                let position = document.position(&error.pointer, Part::Value);
                self.report(code, &path, position, error.kind.to_string(), None);
                None
            }
        }
    }

    fn text(&mut self, name: &str, bytes_max: u64) -> Option<String> {
        read_text(self.tree, name, &self.root.join(name), bytes_max, &mut self.findings)
    }

    fn report(
        &mut self,
        code: Code,
        path: &Utf8Path,
        position: Position,
        message: String,
        hint: Option<&str>,
    ) {
        let hint = hint.map(str::to_owned);
        self.findings.push(Finding { code, message, path: path.to_owned(), position: Some(position), hint });
    }

    fn report_whole(&mut self, code: Code, path: Utf8PathBuf, message: &str) {
        self.report(code, &path, Position::START, message.to_owned(), None);
    }

    fn report_missing_file(&mut self) {
        self.findings.push(Finding {
            code: Code::MissingFile,
            message: "the folder holds no skill".to_owned(),
            path: self.root.to_owned(),
            position: None,
            hint: Some("`artel skill new NAME` makes one that works".to_owned()),
        });
    }

    fn report_yaml(&mut self, path: &Utf8Path, position: Position, kind: &YamlErrorKind) {
        let code = match kind {
            YamlErrorKind::Budget(_) => Code::YamlBudget,
            YamlErrorKind::Syntax(_) | YamlErrorKind::Key | YamlErrorKind::SecondDocument => {
                Code::YamlInvalid
            }
        };
        self.report(code, path, position, kind.to_string(), None);
    }

    fn report_not_portable(&mut self, path: &Utf8Path, position: Position, what: &str) {
        let message = format!("{what} is refused or misread by the reference validator");
        let hint = "write plain `key: value` lines, and quote or rephrase the value";
        self.report(Code::YamlNotPortable, path, position, message, Some(hint));
    }
}

/// Finds `---` in the frontmatter, where a client that splits at it would cut.
fn hyphens_inside(yaml: &str) -> Option<Position> {
    let at = yaml.find("---")?;
    let place = crate::text::end_of(&yaml[..at]);
    Some(Position { line: place.line + 1, ..place })
}

fn report_config(reader: &mut Reader<'_>, schema: &ConfigSchema, config: &Map<String, Value>) {
    for problem in schema.check(config) {
        let mut pointer = String::new();
        if config.contains_key(&problem.field) {
            artel_model::schema::push_pointer(&mut pointer, &problem.field);
        }
        let message = match problem.field.as_str() {
            "" => problem.message,
            field => format!("`{field}`: {}", problem.message),
        };
        reader.report(Code::ConfigInvalid, &pointer, Part::Value, message, None);
    }
}
