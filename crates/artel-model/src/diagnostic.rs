//! What is to be said about a skill's files: findings with stable codes, graded into diagnostics, never exceptions.

use std::fmt;

use camino::Utf8PathBuf;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// One thing found in a file or folder, not yet graded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The stable code.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// The file or folder.
    pub path: Utf8PathBuf,
    /// Where in the file; absent when it is about the whole.
    pub position: Option<Position>,
    /// How to mend it.
    pub hint: Option<String>,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Position {
    /// Lines from 1.
    pub line: u32,
    /// Characters from 1.
    pub column: u32,
}

impl Position {
    /// The beginning of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// A finding with the weight that a profile gives it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub finding: Finding,
}

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth mending.
    Warning,
    /// Not acceptable.
    Error,
}

impl Severity {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Finding {
    /// Orders findings for people: by file, then place, then code.
    pub fn sort_key(&self) -> (&Utf8PathBuf, Option<Position>, &'static str, &str) {
        (&self.path, self.position, self.code.as_str(), &self.message)
    }
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Diagnostic", 7)?;
        fields.serialize_field("severity", &self.severity)?;
        fields.serialize_field("code", self.finding.code.as_str())?;
        fields.serialize_field("message", &self.finding.message)?;
        fields.serialize_field("path", &self.finding.path)?;
        fields.serialize_field("line", &self.finding.position.map(|position| position.line))?;
        fields.serialize_field("column", &self.finding.position.map(|position| position.column))?;
        fields.serialize_field("hint", &self.finding.hint)?;
        fields.end()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a code weighs in strict validation and in lenient discovery.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Weight {
    /// When a person asks for validation.
    pub strict: Severity,
    /// When skills are loaded for use; `None` where clients do not care.
    pub lenient: Option<Severity>,
}

macro_rules! codes {
    ($($code:ident = $text:literal, $strict:ident / $lenient:tt, $about:literal;)*) => {
        /// The stable codes of findings.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Code {
            $(#[doc = $about] $code,)*
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$code),*];

            /// Returns the text that stands for the code everywhere.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$code => $text,)* }
            }

            /// Returns what the code means.
            pub fn about(self) -> &'static str {
                match self { $(Self::$code => $about,)* }
            }

            /// Returns how the code weighs.
            pub fn weight(self) -> Weight {
                match self { $(Self::$code => Weight { strict: Severity::$strict, lenient: codes!(@ $lenient) },)* }
            }
        }
    };
    (@ Error) => { Some(Severity::Error) };
    (@ Warning) => { Some(Severity::Warning) };
    (@ none) => { None };
}

codes! {
    MissingFile = "missing-file", Error / Warning, "The folder has no `SKILL.md`, `skill.json` or `skill.yaml`.";
    Unreadable = "unreadable", Error / Error, "A file or folder cannot be read.";
    SpecialFile = "special-file", Error / Error, "A pipe, socket or device where a plain file should be; it is never opened.";
    NotUtf8 = "not-utf8", Error / Error, "A text file is not UTF-8.";
    NulByte = "nul-byte", Error / Error, "A text file holds a NUL byte.";
    FileTooLarge = "file-too-large", Error / Error, "A file is larger than its limit; it is not read.";
    ByteOrderMark = "byte-order-mark", Error / Warning, "The file starts with a byte order mark, which several clients take for text.";
    LowercaseFileName = "lowercase-file-name", Warning / Warning, "The file is called `skill.md`; most clients only look for `SKILL.md`.";
    TooManyFiles = "too-many-files", Error / Error, "The folder holds more files than a skill may have.";
    FolderTooLarge = "folder-too-large", Error / Error, "The files of the folder are larger than a skill may be.";
    FolderTooDeep = "folder-too-deep", Error / Warning, "Files lie deeper than a skill may nest; they are left out.";
    SymlinkEscapes = "symlink-escapes", Error / Warning, "A symbolic link leads out of the skill's folder; it is not followed.";
    SymlinkBroken = "symlink-broken", Error / Warning, "A symbolic link leads nowhere or in a circle.";
    PathNotUtf8 = "path-not-utf8", Error / Warning, "A file's name is not UTF-8; the file is left out.";
    UnsafePath = "unsafe-path", Error / Warning, "A path in a manifest is absolute or leaves the skill's folder.";
    FrontmatterMissing = "frontmatter-missing", Error / Warning, "`SKILL.md` does not start with YAML frontmatter between `---` lines.";
    FrontmatterUnclosed = "frontmatter-unclosed", Error / Error, "The frontmatter has no closing `---` line.";
    YamlInvalid = "yaml-invalid", Error / Error, "The YAML cannot be read.";
    YamlBudget = "yaml-budget", Error / Error, "The YAML is nested too deeply or unfolds to too much.";
    YamlRepaired = "yaml-repaired", Error / Warning, "The YAML was only readable after quoting a value, as some clients do.";
    YamlNotPortable = "yaml-not-portable", Error / none, "The YAML uses what the reference validator refuses or misreads: flow style, anchors, tags, or `---` inside a value.";
    DuplicateKey = "duplicate-key", Error / Warning, "The same key stands twice; the last one counts.";
    RestrictionRepeated = "restriction-repeated", Error / Error, "A field that restricts the skill stands twice; using the skill with one of them could allow too much.";
    JsonInvalid = "json-invalid", Error / Error, "The JSON cannot be read.";
    NotAnObject = "not-an-object", Error / Error, "The document is not a mapping of fields.";
    FieldMissing = "field-missing", Error / Warning, "A required field is missing.";
    FieldType = "field-type", Error / Warning, "A field has the wrong type; it is ignored, or counts as the strictest value where it restricts.";
    FieldEmpty = "field-empty", Error / Warning, "A field that needs a text is empty.";
    FieldUnknown = "field-unknown", Error / Warning, "A field that is not part of the format.";
    FieldTooLong = "field-too-long", Error / Warning, "A text is longer than its limit.";
    FieldOutOfRange = "field-out-of-range", Error / Warning, "A number or a list is outside its limits; the nearest allowed value is used.";
    FieldValue = "field-value", Error / Warning, "A field has a value that is not among the allowed ones.";
    FieldConflict = "field-conflict", Warning / Warning, "`SKILL.md` and the manifest disagree; the manifest counts, and of two switches the stricter one.";
    NameInvalid = "name-invalid", Error / Warning, "A name breaks the rule for names.";
    NameLength = "name-length", Warning / none, "A name is unusually short or long.";
    NameMismatch = "name-mismatch", Error / Warning, "The name differs from the folder's name.";
    NameConflict = "name-conflict", Error / Warning, "`SKILL.md` and the manifest give different names.";
    NameReserved = "name-reserved", Warning / none, "The name holds a word that Claude reserves.";
    DescriptionMarkup = "description-markup", Warning / none, "The description holds XML-like tags, which Claude refuses.";
    InstructionsEmpty = "instructions-empty", Warning / none, "`SKILL.md` has no instructions.";
    VersionInvalid = "version-invalid", Error / Warning, "The version is not a semantic version.";
    VersionIgnored = "version-ignored", Warning / Warning, "`metadata.version` is not a semantic version; `0.0.0` is used.";
    VersionPadded = "version-padded", Warning / Warning, "The version lacks numbers; zeros were added.";
    SchemaInvalid = "schema-invalid", Error / Error, "A JSON Schema is not valid.";
    SchemaRemoteRef = "schema-remote-ref", Error / Error, "A JSON Schema refers to another document; schemas are never fetched.";
    DependencyInvalid = "dependency-invalid", Error / Warning, "A dependency is not written `name` or `name@requirement`.";
    DependencySelf = "dependency-self", Error / Warning, "A skill depends on itself.";
    DependencyUnknown = "dependency-unknown", Error / Warning, "A dependency does not exist.";
    DependencyVersion = "dependency-version", Error / Warning, "A dependency exists, but in no version that will do.";
    DependencyCycle = "dependency-cycle", Error / Warning, "Skills depend on each other in a circle.";
    ScriptMissing = "script-missing", Error / Warning, "A declared script has no file.";
    ScriptNotExecutable = "script-not-executable", Warning / Warning, "A script is not executable, so it cannot run.";
    ScriptDuplicate = "script-duplicate", Error / Warning, "Two scripts have one name; the first counts.";
    EntrypointUnknown = "entrypoint-unknown", Error / Warning, "The entrypoint names no script.";
    StepInvalid = "step-invalid", Error / Error, "A step cannot be read; the skill must not run without it.";
    StepDuplicate = "step-duplicate", Error / Error, "Two steps have one id.";
    StepReference = "step-reference", Error / Error, "A step refers to something it cannot reach.";
    StepCycle = "step-cycle", Error / Error, "Steps wait for each other in a circle.";
    StepSkillUnknown = "step-skill-unknown", Error / Warning, "A step runs a skill that does not exist.";
    ToolPatternInvalid = "tool-pattern-invalid", Error / Warning, "An entry of a tool list is not a tool pattern.";
    ForbiddenToolsInvalid = "forbidden-tools-invalid", Error / Error, "`forbidden_tools` cannot be read in full; using the skill without it would allow too much.";
    RuleInvalid = "rule-invalid", Error / Error, "A rule about another skill cannot be read; using the skill without it would allow too much.";
    RuleSelf = "rule-self", Error / Warning, "A rule names the skill itself.";
    RuleContradiction = "rule-contradiction", Error / Warning, "A skill both requires and excludes another one.";
    ProtocolOutsideAllowed = "protocol-outside-allowed", Warning / Warning, "A protocol step names a tool that the skill may not use.";
    ToolAllowedAndForbidden = "tool-allowed-and-forbidden", Warning / Warning, "A tool is allowed and forbidden; it stays forbidden.";
    ConfigInvalid = "config-invalid", Error / Warning, "`config.json` does not fit `config-schema.json`.";
    DuplicateSkill = "duplicate-skill", Error / Warning, "The same name and version is defined twice; the first counts.";
    Shadowed = "shadowed", Warning / Warning, "An earlier folder has a skill of this name; this one is not used.";
    DiscoveryLimit = "discovery-limit", Error / Warning, "The search for skills stopped at a limit.";
    MoreFindings = "more-findings", Error / Error, "There is more wrong with this skill than is shown; it is not used.";
    ClientUnloadable = "client-unloadable", Error / none, "A client cannot load this kind of skill.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_explained() {
        let mut texts: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Code::ALL.len());
        assert!(Code::ALL.iter().all(|code| code.about().ends_with('.')));
    }

    #[test]
    fn discovery_is_never_stricter_than_validation() {
        for code in Code::ALL {
            let weight = code.weight();
            assert!(weight.lenient <= Some(weight.strict), "{code}");
        }
    }

    #[test]
    fn a_diagnostic_is_flat_json() {
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            finding: Finding {
                code: Code::NameInvalid,
                message: "no".to_owned(),
                path: "a/SKILL.md".into(),
                position: Some(Position { line: 2, column: 7 }),
                hint: None,
            },
        };
        assert_eq!(
            serde_json::to_string(&diagnostic).unwrap(),
            r#"{"severity":"error","code":"name-invalid","message":"no","path":"a/SKILL.md","line":2,"column":7,"hint":null}"#
        );
    }
}
