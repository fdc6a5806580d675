//! What would be mended in one skill's folder: reads it and changes nothing.

use std::os::unix::fs::MetadataExt;

use artel_model::limit::{MANIFEST_BYTES_MAX, SKILL_MD_BYTES_MAX};
use artel_model::name::SkillName;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use super::change::{Fix, Obstacle, Unfixed};
use super::metadata::move_fields;
use super::name::{WrittenName, meant_name, write_name};
use super::quote::{Quoting, quote};
use crate::document::{Budget, Document, Part, parse_json, parse_yaml};
use crate::read::split;
use crate::source::{DiskTree, FileEntry, FileTree, Listing};
use crate::text::decode;

/// What would be mended in one skill's folder, and what would not.
#[derive(Clone, Debug)]
pub struct FixPlan {
    /// The folder.
    pub folder: Utf8PathBuf,
    /// What is mended, in the order in which it is done.
    pub fixes: Vec<Fix>,
    /// What is left to a person.
    pub left: Vec<Unfixed>,
    pub(super) edits: Vec<Edit>,
}

/// A file's content before and after.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) path: Utf8PathBuf,
    pub(super) before: Vec<u8>,
    pub(super) after: String,
}

impl FixPlan {
    /// Says whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.fixes.is_empty()
    }
}

/// Decides what can be mended in the skill's folder at `folder`. Nothing is changed.
pub fn plan_fixes(folder: &Utf8Path) -> FixPlan {
    let tree = DiskTree::new(folder);
    let listing = tree.listing();
    let mut plan =
        FixPlan { folder: folder.to_owned(), fixes: Vec::new(), left: Vec::new(), edits: Vec::new() };
    let find = |names: &[&str]| names.iter().find_map(|name| listing.file(name));
    let skill_md_entry = find(&["SKILL.md", "skill.md"]);
    let manifest_entry = find(&["skill.json", "skill.yaml", "skill.yml"]);
    let mut skill_md = skill_md_entry.and_then(|entry| Source::read(&tree, entry, SKILL_MD_BYTES_MAX));
    let mut manifest = manifest_entry.and_then(|entry| Source::read(&tree, entry, MANIFEST_BYTES_MAX));

    if let Some(source) = &mut skill_md {
        plan.quote(source);
    }
    // A file that cannot be read may give another name.
    let all_read =
        skill_md.is_some() == skill_md_entry.is_some() && manifest.is_some() == manifest_entry.is_some();
    if all_read {
        plan.fix_name(skill_md.as_mut(), manifest.as_mut());
    }
    if let Some(source) = &mut skill_md {
        plan.move_fields(source);
    }
    plan.make_executable(&tree, &listing, manifest.as_ref());
    let is_lowercase = skill_md.as_ref().is_some_and(|source| source.path == "skill.md" && !source.is_link);
    let others =
        find(&["prompt.md"]).into_iter().chain(find(&["config-schema.json"])).chain(find(&["config.json"]));
    let others = others.filter_map(|entry| Source::read(&tree, entry, MANIFEST_BYTES_MAX));
    for source in skill_md.into_iter().chain(manifest).chain(others) {
        plan.finish(source);
    }
    if is_lowercase {
        plan.rename_file("skill.md", "SKILL.md");
    }
    plan.fixes.sort_by_key(order);
    plan
}

/// Edits come first and the folder's name last, so that every path is good when its turn comes.
fn order(fix: &Fix) -> u8 {
    match fix {
        Fix::ByteOrderMarkRemoved { .. }
        | Fix::Quoted { .. }
        | Fix::NameChanged { .. }
        | Fix::FieldMoved { .. } => 0,
        Fix::MadeExecutable { .. } => 1,
        Fix::FileRenamed { .. } => 2,
        Fix::FolderRenamed { .. } => 3,
    }
}

/// A text file while it is being mended.
struct Source {
    path: Utf8PathBuf,
    is_link: bool,
    before: Vec<u8>,
    /// What it will hold.
    text: String,
    fixes: Vec<Fix>,
}

impl Source {
    /// Reads a file; nothing unless it is text. A byte order mark is taken away at once.
    fn read(tree: &DiskTree, entry: &FileEntry, bytes_max: u64) -> Option<Self> {
        let before = tree.read(&entry.path, bytes_max).ok()?;
        let text = decode(before.clone()).ok()?;
        let path = entry.path.clone();
        let mark = text.had_byte_order_mark.then(|| Fix::ByteOrderMarkRemoved { path: path.clone() });
        Some(Self {
            path,
            is_link: entry.is_link,
            before,
            text: text.content,
            fixes: mark.into_iter().collect(),
        })
    }

    fn frontmatter(&self) -> Option<&str> {
        split(&self.text).ok().map(|frontmatter| frontmatter.yaml)
    }

    /// Replaces the frontmatter; everything around it stays, byte for byte.
    fn set_frontmatter(&mut self, yaml: &str) {
        let Ok(frontmatter) = split(&self.text) else { return };
        let start = self.text.find('\n').map_or(self.text.len(), |at| at + 1);
        let end = start + frontmatter.yaml.len();
        self.text.replace_range(start..end, yaml);
    }

    /// Returns the name that the file gives, if any; nothing when that cannot be told for sure.
    fn name(&self) -> Option<Option<WrittenName>> {
        let document = match self.path.extension() {
            Some("json") => Document::from_json(parse_json(&self.text).ok()?, &self.text),
            Some("md") => {
                Document::from_yaml(parse_yaml(self.frontmatter()?, Budget::FRONTMATTER).ok()?.0, 1)
            }
            _ => Document::from_yaml(parse_yaml(&self.text, Budget::DOCUMENT).ok()?.0, 0),
        };
        let fields = document.value.as_object()?;
        if document.repeated_keys().iter().any(|(key, _)| key == "name") {
            return None;
        }
        let text = fields.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
        let position = document.position("/name", Part::Value);
        Some(text.map(|text| WrittenName { text: text.to_owned(), position }))
    }

    /// Returns the text with another name; nothing when the name is written in a way that does not allow it.
    fn with_name(&self, written: &WrittenName, name: &SkillName) -> Option<String> {
        let text = write_name(&self.text, written, name)?;
        let renamed =
            Self { path: self.path.clone(), is_link: false, before: Vec::new(), text, fixes: Vec::new() };
        let is_right = renamed.name()?.is_some_and(|found| found.text == name.as_str());
        is_right.then_some(renamed.text)
    }

    /// Returns the paths of the scripts that a manifest declares.
    fn declared_scripts(&self) -> Vec<Utf8PathBuf> {
        let value = if self.path.extension() == Some("json") {
            parse_json(&self.text).ok()
        } else {
            parse_yaml(&self.text, Budget::DOCUMENT).ok().map(|(node, _)| node.to_value())
        };
        let scripts = value.as_ref().and_then(|value| value.get("scripts")).and_then(Value::as_array);
        let paths = scripts.into_iter().flatten().filter_map(|script| script.get("path")?.as_str());
        paths.map(|path| Utf8PathBuf::from(path.trim_start_matches("./"))).collect()
    }
}

impl FixPlan {
    fn leave(&mut self, path: &Utf8Path, line: Option<u32>, obstacle: Obstacle) {
        self.left.push(Unfixed { path: path.to_owned(), line, obstacle });
    }

    fn quote(&mut self, source: &mut Source) {
        match source.frontmatter().map(quote) {
            Some(Quoting::Done(quoted)) => {
                source.set_frontmatter(&quoted.yaml);
                let path = &source.path;
                let fix = |line: u32| Fix::Quoted { path: path.clone(), line: line + 1 };
                source.fixes.extend(quoted.lines.into_iter().map(fix));
            }
            Some(Quoting::TooMuch) => self.leave(&source.path, None, Obstacle::TooMuch),
            Some(Quoting::NotNeeded | Quoting::Unreadable) | None => {}
        }
    }

    /// Gives the files and the folder the name that was meant: all of them or none.
    fn fix_name(&mut self, skill_md: Option<&mut Source>, manifest: Option<&mut Source>) {
        let written = |source: &Option<&mut Source>| source.as_ref().map_or(Some(None), |s| s.name());
        let (Some(in_skill_md), Some(in_manifest)) = (written(&skill_md), written(&manifest)) else { return };
        let meant = meant_name(in_skill_md.as_ref(), in_manifest.as_ref());
        let named: Vec<(&mut Source, WrittenName)> = [(skill_md, in_skill_md), (manifest, in_manifest)]
            .into_iter()
            .filter_map(|(source, name)| source.zip(name))
            .collect();
        let name = match meant {
            Ok(Some(name)) => name,
            Ok(None) => return,
            Err(obstacle) => return self.leave_name(&named, obstacle),
        };
        let folder_fix = match self.folder_fix(&name) {
            Ok(fix) => fix,
            Err(obstacle) => return self.leave(Utf8Path::new(""), None, obstacle),
        };
        let mut changes = Vec::new();
        for (source, written) in named {
            if written.text.trim() == name.as_str() {
                continue;
            }
            let Some(text) = source.with_name(&written, &name).filter(|_| !source.is_link) else {
                let line = Some(written.position.line);
                let unclear = Obstacle::NameUnclear(written.text);
                let obstacle = if source.is_link { Obstacle::Link } else { unclear };
                return self.leave(&source.path, line, obstacle);
            };
            changes.push((source, text, written.text));
        }
        for (source, text, from) in changes {
            source.text = text;
            source.fixes.push(Fix::NameChanged { path: source.path.clone(), from, to: name.clone() });
        }
        self.fixes.extend(folder_fix);
    }

    /// Leaves a name, told at the file that gives the unclear one.
    fn leave_name(&mut self, named: &[(&mut Source, WrittenName)], obstacle: Obstacle) {
        let is_unclear = |name: &WrittenName| obstacle == Obstacle::NameUnclear(name.text.clone());
        let place = named.iter().find(|(_, name)| is_unclear(name)).or_else(|| named.first());
        if let Some((source, name)) = place {
            self.leave(&source.path, Some(name.position.line), obstacle);
        }
    }

    fn move_fields(&mut self, source: &mut Source) {
        let Some(moved) = source.frontmatter().map(move_fields) else { return };
        for (line, obstacle) in moved.left {
            self.leave(&source.path, Some(line + 1), obstacle);
        }
        source.set_frontmatter(&moved.yaml);
        let path = &source.path;
        source
            .fixes
            .extend(moved.fields.into_iter().map(|field| Fix::FieldMoved { path: path.clone(), field }));
    }

    /// Scripts that the manifest declares are meant to run, and so is what names its interpreter.
    fn make_executable(&mut self, tree: &DiskTree, listing: &Listing, manifest: Option<&Source>) {
        let declared = manifest.map(Source::declared_scripts).unwrap_or_default();
        let names_interpreter = |file: &FileEntry| {
            let content = tree.read(&file.path, file.size.max(2));
            content.is_ok_and(|content| content.starts_with(b"#!"))
        };
        for file in listing.files.iter().filter(|file| !file.is_executable) {
            let in_scripts = file.path.parent() == Some(Utf8Path::new("scripts"));
            let is_script = declared.contains(&file.path) || (in_scripts && names_interpreter(file));
            if !is_script {
                continue;
            }
            if file.is_link {
                self.leave(&file.path, None, Obstacle::Link);
            } else {
                self.fixes.push(Fix::MadeExecutable { path: file.path.clone() });
            }
        }
    }

    /// Takes what became of a file into the plan.
    fn finish(&mut self, source: Source) {
        if source.fixes.is_empty() {
            return;
        }
        if source.is_link {
            return self.leave(&source.path, None, Obstacle::Link);
        }
        self.fixes.extend(source.fixes);
        self.edits.push(Edit { path: source.path, before: source.before, after: source.text });
    }

    fn rename_file(&mut self, from: &str, to: &str) {
        if is_taken(&self.folder.join(to), &self.folder.join(from)) {
            return self.leave(Utf8Path::new(from), None, Obstacle::Taken(to.into()));
        }
        self.fixes.push(Fix::FileRenamed { from: from.into(), to: to.into() });
    }

    /// Returns how the folder gets the name, if it has another one, or why it cannot.
    fn folder_fix(&self, name: &SkillName) -> Result<Option<Fix>, Obstacle> {
        let Some(folder_name) = self.folder.file_name() else { return Ok(None) };
        if folder_name.nfkc().eq(name.as_str().chars()) {
            return Ok(None);
        }
        // A slash at the end would show what a link leads to instead of the link.
        let folder = self.folder.with_file_name(folder_name);
        let target = self.folder.with_file_name(name.as_str());
        if folder.is_symlink() {
            Err(Obstacle::Link)
        } else if folder.join(".git").symlink_metadata().is_ok() {
            Err(Obstacle::Repository)
        } else if is_taken(&target, &folder) {
            Err(Obstacle::Taken(target))
        } else {
            Ok(Some(Fix::FolderRenamed { from: folder_name.to_owned(), to: name.clone() }))
        }
    }
}

/// Says whether something other than `own` lies at `path`. Where case does not matter, both can be the same.
pub(super) fn is_taken(path: &Utf8Path, own: &Utf8Path) -> bool {
    let Ok(there) = path.symlink_metadata() else { return false };
    let own = own.symlink_metadata();
    own.is_ok_and(|own| (own.dev(), own.ino()) != (there.dev(), there.ino()))
}
