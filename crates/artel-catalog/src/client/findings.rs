//! The clients we know, and why they would not load a skill.

use artel_model::diagnostic::{Code, Finding};
use camino::Utf8Path;

use super::skill_md::SkillMdFile;
use super::{claude, codex, skills_ref};

/// A client that reads skills.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Client {
    /// The reference validator of agentskills.io.
    SkillsRef,
    /// Claude Code and Claude's upload rules.
    Claude,
    /// OpenAI's Codex.
    Codex,
}

/// Why each client would refuse a skill; nothing where it would not.
#[derive(Clone, Debug)]
pub struct ClientFindings {
    skills_ref: Vec<Finding>,
    claude: Vec<Finding>,
    codex: Vec<Finding>,
}

impl ClientFindings {
    pub(crate) fn of(file: &SkillMdFile) -> Self {
        Self { skills_ref: skills_ref::check(file), claude: claude::check(file), codex: codex::check(file) }
    }

    /// No client but artel reads registry files.
    pub(crate) fn of_registry_file(path: &Utf8Path) -> Self {
        let finding = Finding {
            code: Code::ClientUnloadable,
            message: "only artel reads registry files; other clients need a folder with `SKILL.md`"
                .to_owned(),
            path: path.to_owned(),
            position: None,
            hint: Some("`artel skill export DIR` writes such folders".to_owned()),
        };
        let findings = vec![finding];
        Self { skills_ref: findings.clone(), claude: findings.clone(), codex: findings }
    }

    /// Returns why a client would refuse the skill.
    pub fn of_client(&self, client: Client) -> &[Finding] {
        match client {
            Client::SkillsRef => &self.skills_ref,
            Client::Claude => &self.claude,
            Client::Codex => &self.codex,
        }
    }
}
