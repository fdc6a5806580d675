//! Skills to measure with, made up the same every time. Knows what a skill's files look like, and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// How many skills are made.
pub(crate) const SKILLS: usize = 10_000;
/// Skills in one folder, so that parts of them can be measured too.
pub(crate) const SKILLS_PER_GROUP: usize = 1_000;
/// To be raised when other skills are made: what lies on disk is then made again.
const VERSION: &str = "1";
/// Words of a body, which make about 8 KB.
const BODY_WORDS: usize = 1_300;
const BODY_LINE_WORDS: usize = 12;
/// Every tenth skill has a manifest and a script.
const MANIFEST_EVERY: usize = 10;
const WORDS: [&str; 24] = [
    "read", "write", "table", "report", "extract", "file", "when", "user", "asks", "check", "each", "page",
    "convert", "image", "data", "query", "summary", "invoice", "then", "with", "format", "result", "line",
    "column",
];

/// The made-up skills on disk.
pub(crate) struct Skills {
    /// The folder that holds all of them.
    pub(crate) root: PathBuf,
    /// The folders inside it.
    pub(crate) groups: Vec<PathBuf>,
}

/// Makes the skills below `folder`, unless they are there already.
pub(crate) fn make_skills(folder: &Path) -> Result<Skills> {
    let root = folder.join("skills");
    let groups: Vec<PathBuf> =
        (0..SKILLS / SKILLS_PER_GROUP).map(|group| root.join(format!("group-{group}"))).collect();
    let stamp = folder.join("skills-version");
    if fs::read_to_string(&stamp).is_ok_and(|version| version == VERSION) {
        return Ok(Skills { root, groups });
    }
    if root.exists() {
        remove(&root)?;
    }
    println!("making {SKILLS} skills in {}", root.display());
    for number in 0..SKILLS {
        make_skill(&groups[number / SKILLS_PER_GROUP], number)?;
    }
    write(&stamp, VERSION)?;
    Ok(Skills { root, groups })
}

/// Removes a folder that a measurement made.
#[expect(clippy::disallowed_methods, reason = "only the measurements write there, a few folders deep")]
pub(crate) fn remove(folder: &Path) -> Result<()> {
    fs::remove_dir_all(folder).with_context(|| format!("cannot remove `{}`", folder.display()))
}

fn make_skill(group: &Path, number: usize) -> Result<()> {
    let name = format!("skill-{number:05}");
    let folder = group.join(&name);
    let mut random = Random(number as u64);
    create(&folder)?;
    write(&folder.join("SKILL.md"), &skill_md(&name, &mut random))?;
    if number.is_multiple_of(MANIFEST_EVERY) {
        write(&folder.join("skill.json"), &manifest(&name, number))?;
        let script = folder.join("scripts/run.sh");
        create(&folder.join("scripts"))?;
        write(&script, "#!/bin/sh\nprintf '{\"ok\": true}\\n'\n")?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))
            .with_context(|| format!("cannot make `{}` executable", script.display()))?;
    }
    Ok(())
}

fn skill_md(name: &str, random: &mut Random) -> String {
    let description = random.words(20).join(" ");
    let mut text = format!(
        "---\nname: {name}\ndescription: Use it to {description}.\nlicense: MIT\nmetadata:\n  version: \"1.2.3\"\n---\n# {name}\n\n"
    );
    for line in random.words(BODY_WORDS).chunks(BODY_LINE_WORDS) {
        text.push_str(&line.join(" "));
        text.push('\n');
    }
    text
}

/// A manifest with a parameter, a script, and a dependency on the manifest's skill before it.
fn manifest(name: &str, number: usize) -> String {
    let dependencies = match number.checked_sub(MANIFEST_EVERY) {
        Some(before) => format!("\"skill-{before:05}\""),
        None => String::new(),
    };
    format!(
        r#"{{
  "name": "{name}",
  "version": "1.2.3",
  "parameters": {{"type": "object", "properties": {{"path": {{"type": "string"}}}}, "required": ["path"]}},
  "dependencies": [{dependencies}],
  "scripts": [{{"name": "run", "path": "scripts/run.sh"}}],
  "entrypoint": "run"
}}
"#
    )
}

fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))
}

fn write(path: &Path, content: &str) -> Result<()> {
    fs::write(path, content).with_context(|| format!("cannot write `{}`", path.display()))
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn words(&mut self, count: usize) -> Vec<&'static str> {
        (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect()
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_skill_is_made_every_time() {
        let made = || skill_md("skill-00007", &mut Random(7));
        assert_eq!(made(), made());
        assert!((6_000..10_000).contains(&made().len()), "{} bytes", made().len());
        assert_ne!(made(), skill_md("skill-00007", &mut Random(8)));
    }
}
