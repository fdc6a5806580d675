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
    /// How to mend it here, where that can be said better than in general.
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
    /// Returns how to mend it: here, or else in general.
    pub fn remedy(&self) -> &str {
        self.hint.as_deref().unwrap_or(self.code.mend())
    }

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
        fields.serialize_field("hint", self.finding.remedy())?;
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
    ($($code:ident = $text:literal, $strict:ident / $lenient:tt, $about:literal, $mend:literal;)*) => {
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

            /// Returns how it is usually mended.
            pub fn mend(self) -> &'static str {
                match self { $(Self::$code => $mend,)* }
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
    MissingFile = "missing-file", Error / Warning, "The folder has no `SKILL.md`, `skill.json` or `skill.yaml`.",
        "add a `SKILL.md`; `artel skill new NAME` makes one that works";
    Unreadable = "unreadable", Error / Error, "A file or folder cannot be read.",
        "give yourself permission to read it, or remove it";
    SpecialFile = "special-file", Error / Error, "A pipe, socket or device where a plain file should be; it is never opened.",
        "replace it by a plain file";
    NotUtf8 = "not-utf8", Error / Error, "A text file is not UTF-8.",
        "save the file as UTF-8";
    NulByte = "nul-byte", Error / Error, "A text file holds a NUL byte.",
        "remove the byte; the file may not be text at all";
    FileTooLarge = "file-too-large", Error / Error, "A file is larger than its limit; it is not read.",
        "make it smaller; long texts belong into files under `references/`";
    ByteOrderMark = "byte-order-mark", Error / Warning, "The file starts with a byte order mark, which several clients take for text.",
        "save the file as UTF-8 without a byte order mark; `--fix` does it";
    LowercaseFileName = "lowercase-file-name", Warning / Warning, "The file is called `skill.md`; most clients only look for `SKILL.md`.",
        "rename it to `SKILL.md`; `--fix` does it";
    TooManyFiles = "too-many-files", Error / Error, "The folder holds more files than a skill may have.",
        "keep generated files elsewhere";
    FolderTooLarge = "folder-too-large", Error / Error, "The files of the folder are larger than a skill may be.",
        "keep large files elsewhere";
    FolderTooDeep = "folder-too-deep", Error / Warning, "Files lie deeper than a skill may nest; they are left out.",
        "move the files up";
    SymlinkEscapes = "symlink-escapes", Error / Warning, "A symbolic link leads out of the skill's folder; it is not followed.",
        "copy the file into the folder";
    SymlinkBroken = "symlink-broken", Error / Warning, "A symbolic link leads nowhere or in a circle.",
        "mend or remove the link";
    PathNotUtf8 = "path-not-utf8", Error / Warning, "A file's name is not UTF-8; the file is left out.",
        "rename the file";
    UnsafePath = "unsafe-path", Error / Warning, "A path in a manifest is absolute or leaves the skill's folder.",
        "give a path below the folder, such as `scripts/run.sh`";
    FrontmatterMissing = "frontmatter-missing", Error / Warning, "`SKILL.md` does not start with YAML frontmatter between `---` lines.",
        "start the file with `---`, `name: ...`, `description: ...`, `---`";
    FrontmatterUnclosed = "frontmatter-unclosed", Error / Error, "The frontmatter has no closing `---` line.",
        "close the frontmatter with a line `---`";
    YamlInvalid = "yaml-invalid", Error / Error, "The YAML cannot be read.",
        "indent with spaces, and quote texts that hold special characters";
    YamlBudget = "yaml-budget", Error / Error, "The YAML is nested too deeply or unfolds to too much.",
        "write it without aliases and deep nesting";
    YamlRepaired = "yaml-repaired", Error / Warning, "The YAML was only readable after quoting a value, as some clients do.",
        "put the value in double quotes; `--fix` does it";
    YamlNotPortable = "yaml-not-portable", Error / none, "The YAML uses what the reference validator refuses or misreads: flow style, anchors, tags, or `---` inside a value.",
        "write plain `key: value` lines, and quote or rephrase the value";
    DuplicateKey = "duplicate-key", Error / Warning, "The same key stands twice; the last one counts.",
        "keep one of them";
    RestrictionRepeated = "restriction-repeated", Error / Error, "A field that restricts the skill stands twice; using the skill with one of them could allow too much.",
        "keep one of them";
    JsonInvalid = "json-invalid", Error / Error, "The JSON cannot be read.",
        "use double quotes, no comments and no comma after the last entry";
    NotAnObject = "not-an-object", Error / Error, "The document is not a mapping of fields.",
        "write fields: `name: value` lines, or a JSON object";
    FieldMissing = "field-missing", Error / Warning, "A required field is missing.",
        "add it";
    FieldType = "field-type", Error / Warning, "A field has the wrong type; it is ignored, or counts as the strictest value where it restricts.",
        "give it a value of that type";
    FieldEmpty = "field-empty", Error / Warning, "A field that needs a text is empty.",
        "write something there, or remove the field";
    FieldUnknown = "field-unknown", Error / Warning, "A field that is not part of the format.",
        "move it under `metadata`, or correct its spelling";
    FieldTooLong = "field-too-long", Error / Warning, "A text is longer than its limit.",
        "say it shorter; details belong into the instructions";
    FieldOutOfRange = "field-out-of-range", Error / Warning, "A number or a list is outside its limits; the nearest allowed value is used.",
        "choose a value within the limits";
    FieldValue = "field-value", Error / Warning, "A field has a value that is not among the allowed ones.",
        "choose one of the allowed values";
    FieldConflict = "field-conflict", Warning / Warning, "`SKILL.md` and the manifest disagree; the manifest counts, and of two switches the stricter one.",
        "make both equal, or keep it in one file";
    NameInvalid = "name-invalid", Error / Warning, "A name breaks the rule for names.",
        "use 1 to 64 lower-case letters, digits and single hyphens; `--fix` does it where it is clear";
    NameLength = "name-length", Warning / none, "A name is unusually short or long.",
        "choose a name of 3 to 50 characters";
    NameMismatch = "name-mismatch", Error / Warning, "The name differs from the folder's name.",
        "rename the folder or the skill; `--fix` renames the folder";
    NameConflict = "name-conflict", Error / Warning, "`SKILL.md` and the manifest give different names.",
        "give both files the name of the folder";
    NameReserved = "name-reserved", Warning / none, "The name holds a word that Claude refuses in an upload.",
        "choose another name if the skill is to be uploaded to Claude";
    DescriptionMarkup = "description-markup", Warning / none, "The description holds XML-like tags, which Claude refuses in an upload.",
        "say it without angle brackets if the skill is to be uploaded to Claude";
    InstructionsEmpty = "instructions-empty", Warning / none, "`SKILL.md` has no instructions.",
        "write what an agent must do";
    VersionInvalid = "version-invalid", Error / Warning, "The version is not a semantic version.",
        "write three numbers: `\"1.2.3\"`";
    VersionIgnored = "version-ignored", Warning / Warning, "`metadata.version` is not a semantic version; `0.0.0` is used.",
        "write three numbers: `\"1.2.3\"`";
    VersionPadded = "version-padded", Warning / Warning, "The version lacks numbers; zeros were added.",
        "write three numbers: `\"1.0.0\"`";
    SchemaInvalid = "schema-invalid", Error / Error, "A JSON Schema is not valid.",
        "correct the schema at the place shown";
    SchemaRemoteRef = "schema-remote-ref", Error / Error, "A JSON Schema refers to another document; schemas are never fetched.",
        "copy the definition into `$defs` and refer to it as `#/$defs/NAME`";
    DependencyInvalid = "dependency-invalid", Error / Warning, "A dependency is not written `name` or `name@requirement`.",
        "write `name` or `name@requirement`, for example `detect@^1.2`";
    DependencySelf = "dependency-self", Error / Warning, "A skill depends on itself.",
        "remove it";
    DependencyUnknown = "dependency-unknown", Error / Warning, "A dependency does not exist.",
        "install it, or remove the dependency";
    DependencyVersion = "dependency-version", Error / Warning, "A dependency exists, but in no version that will do.",
        "ask for a version that exists";
    DependencyCycle = "dependency-cycle", Error / Warning, "Skills depend on each other in a circle.",
        "remove one of these dependencies";
    ScriptMissing = "script-missing", Error / Warning, "A declared script has no file.",
        "create the file, or remove the script from the manifest";
    ScriptNotExecutable = "script-not-executable", Warning / Warning, "A script is not executable, so it cannot run.",
        "run `chmod +x` on it; `--fix` does it";
    ScriptDuplicate = "script-duplicate", Error / Warning, "Two scripts have one name; the first counts.",
        "give one of them another name";
    EntrypointUnknown = "entrypoint-unknown", Error / Warning, "The entrypoint names no script.",
        "name one of the scripts";
    StepInvalid = "step-invalid", Error / Error, "A step cannot be read; the skill must not run without it.",
        "correct the step at the place shown";
    StepDuplicate = "step-duplicate", Error / Error, "Two steps have one id.",
        "give one of them another id";
    StepReference = "step-reference", Error / Error, "A step refers to something it cannot reach.",
        "refer to `${request.FIELD}`, or to `${STEP.output.FIELD}` of a step that this one waits for";
    StepCycle = "step-cycle", Error / Error, "Steps wait for each other in a circle.",
        "remove one of these dependencies";
    StepSkillUnknown = "step-skill-unknown", Error / Warning, "A step runs a skill that does not exist.",
        "install the skill, or name another";
    ToolPatternInvalid = "tool-pattern-invalid", Error / Warning, "An entry of a tool list is not a tool pattern.",
        "write a tool's name, `prefix*`, or `Tool(argument:*)`";
    ForbiddenToolsInvalid = "forbidden-tools-invalid", Error / Error, "`forbidden_tools` cannot be read in full; using the skill without it would allow too much.",
        "write a list of tool names or patterns";
    RuleInvalid = "rule-invalid", Error / Error, "A rule about another skill cannot be read; using the skill without it would allow too much.",
        "write `type`, `skill` and perhaps `reason`";
    RuleSelf = "rule-self", Error / Warning, "A rule names the skill itself.",
        "remove the rule";
    RuleContradiction = "rule-contradiction", Error / Warning, "A skill both requires and excludes another one.",
        "keep one of the two rules";
    ProtocolOutsideAllowed = "protocol-outside-allowed", Warning / Warning, "A protocol step names a tool that the skill may not use.",
        "add the tool to `allowed_tools`, or change the step";
    ToolAllowedAndForbidden = "tool-allowed-and-forbidden", Warning / Warning, "A tool is allowed and forbidden; it stays forbidden.",
        "remove it from one of the lists";
    ConfigInvalid = "config-invalid", Error / Warning, "`config.json` does not fit `config-schema.json`.",
        "correct the value; `artel skill config NAME set KEY=VALUE` checks before it saves";
    DuplicateSkill = "duplicate-skill", Error / Warning, "The same name and version is defined twice; the first counts.",
        "give one of them another name or version";
    VersionGone = "version-gone", Warning / Warning, "The version that was chosen for a skill is gone; the usual one is used.",
        "choose again with `artel skill enable NAME@VERSION`";
    SameSkill = "same-skill", Warning / none, "An earlier folder has the same skill, byte for byte; that one is used.",
        "remove one of them";
    Shadowed = "shadowed", Warning / Warning, "An earlier folder has a skill of this name; this one is not used.",
        "rename one of them if both are wanted";
    DiscoveryLimit = "discovery-limit", Error / Warning, "The search for skills stopped at a limit.",
        "search fewer folders, or raise the limit in `artel.toml`";
    MoreFindings = "more-findings", Error / Error, "There is more wrong with this skill than is shown; it is not used.",
        "mend what is shown, then look again";
    ClientUnloadable = "client-unloadable", Error / none, "A client cannot load this kind of skill.",
        "write a `SKILL.md`; `artel skill export DIR` does it";
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
        assert!(Code::ALL.iter().all(|code| code.about().ends_with('.') && !code.mend().ends_with('.')));
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
                hint: Some("do".to_owned()),
            },
        };
        assert_eq!(
            serde_json::to_string(&diagnostic).unwrap(),
            r#"{"severity":"error","code":"name-invalid","message":"no","path":"a/SKILL.md","line":2,"column":7,"hint":"do"}"#
        );
    }
}
