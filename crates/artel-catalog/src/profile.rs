//! Profiles: how much weight a finding has, depending on who asks.

use std::fmt;
use std::str::FromStr;

use artel_model::diagnostic::{Code, Diagnostic, Finding, Severity};

use crate::client::Client;
use crate::load::Loaded;

/// By whose rules skills are judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Profile {
    /// The open format and our own, by the letter.
    Spec,
    /// The verdicts of the reference validator.
    SkillsRef,
    /// What Claude takes.
    Claude,
    /// What Codex loads.
    Codex,
    /// As artel loads skills for use.
    Lenient,
}

/// A text that names no profile.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("there is no profile `{0}`: choose spec, skills-ref, claude, codex or lenient")]
pub struct UnknownProfile(String);

impl Profile {
    /// Every profile, the strictest first.
    pub const ALL: [Self; 5] = [Self::Spec, Self::SkillsRef, Self::Claude, Self::Codex, Self::Lenient];

    /// Returns the name of the profile.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::SkillsRef => "skills-ref",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Lenient => "lenient",
        }
    }

    /// Grades what was found about one skill. Skills must have been loaded with everything kept.
    pub fn diagnose(self, loaded: &Loaded) -> Vec<Diagnostic> {
        let grade = |finding: &Finding, severity| Diagnostic { severity, finding: finding.clone() };
        match self {
            Self::Spec => {
                loaded.findings.iter().map(|finding| grade(finding, finding.code.weight().strict)).collect()
            }
            Self::Lenient => lenient(loaded),
            Self::SkillsRef => by_client(loaded, Client::SkillsRef),
            Self::Claude => by_client(loaded, Client::Claude),
            Self::Codex => by_client(loaded, Client::Codex),
        }
    }

    /// Says whether the skill passes.
    pub fn accepts(self, loaded: &Loaded) -> bool {
        self.diagnose(loaded).iter().all(|diagnostic| diagnostic.severity != Severity::Error)
    }

    /// Returns the profiles that a skill passes.
    pub fn accepting(loaded: &Loaded) -> Vec<Self> {
        // Where there is no skill, there is nothing to load.
        let accepts = |profile: &Self| loaded.skill.is_some() && profile.accepts(loaded);
        Self::ALL.into_iter().filter(accepts).collect()
    }
}

fn lenient(loaded: &Loaded) -> Vec<Diagnostic> {
    let severity = |finding: &Finding| {
        let in_skill_md = finding.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("skill.md"));
        // Clients keep what they do not know.
        if finding.code == Code::FieldUnknown && in_skill_md { None } else { finding.code.weight().lenient }
    };
    let mut diagnostics: Vec<Diagnostic> = loaded
        .findings
        .iter()
        .filter_map(|finding| Some(Diagnostic { severity: severity(finding)?, finding: finding.clone() }))
        .collect();
    // What leaves nothing to use is an error, unless there was no skill in the first place.
    let has_error = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let no_skill = |code| matches!(code, Code::MissingFile | Code::SymlinkEscapes);
    if loaded.skill.is_none() && !has_error {
        for diagnostic in diagnostics.iter_mut().filter(|diagnostic| !no_skill(diagnostic.finding.code)) {
            diagnostic.severity = Severity::Error;
        }
    }
    diagnostics
}

/// What the client says are errors; what we would say besides are warnings.
fn by_client(loaded: &Loaded, client: Client) -> Vec<Diagnostic> {
    let Some(clients) = &loaded.clients else { return vec![not_judged(loaded)] };
    let refused = clients.of_client(client);
    let said = |finding: &Finding| {
        refused.iter().any(|other| {
            other.code == finding.code && other.position.map(|p| p.line) == finding.position.map(|p| p.line)
        })
    };
    let errors =
        refused.iter().map(|finding| Diagnostic { severity: Severity::Error, finding: finding.clone() });
    let warnings = loaded.findings.iter().filter(|finding| !said(finding));
    let warnings =
        warnings.map(|finding| Diagnostic { severity: Severity::Warning, finding: finding.clone() });
    errors.chain(warnings).collect()
}

/// What was loaded without asking the clients is not accepted by them.
fn not_judged(loaded: &Loaded) -> Diagnostic {
    let finding = Finding {
        code: Code::ClientUnloadable,
        message: "the skill was not judged by this client's rules".to_owned(),
        path: loaded.location.to_string().into(),
        position: None,
        hint: None,
    };
    Diagnostic { severity: Severity::Error, finding }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Self, UnknownProfile> {
        let known = Self::ALL.into_iter().find(|profile| profile.as_str() == text);
        known.ok_or_else(|| UnknownProfile(text.to_owned()))
    }
}
