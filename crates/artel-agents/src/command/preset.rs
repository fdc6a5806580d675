//! The clients that artel knows, as data: how each is started without a person, where it looks for skills, what tells it what
//! it may do. docs/agents-clients.md says the same in words.

use artel_catalog::ExportTarget;
use artel_engine::process::Network;

use super::permissions::{MakePermissions, of_any};
use super::{claude, codex, goose, opencode};

/// A client.
pub(super) struct Preset {
    /// What agents call it.
    pub(super) name: &'static str,
    /// Its program.
    pub(super) program: &'static str,
    /// Its arguments before those about permissions.
    pub(super) before: &'static [&'static str],
    /// Its arguments about the model, when one is named.
    pub(super) model: &'static [&'static str],
    /// Its last arguments.
    pub(super) after: &'static [&'static str],
    /// Where in its work folder it looks for skills.
    pub(super) skills: &'static str,
    /// How skills are written for it.
    pub(super) target: ExportTarget,
    /// What tells it what it may do.
    pub(super) permissions: MakePermissions,
    /// Arguments that would lift the permissions.
    pub(super) lifting: &'static [&'static str],
    /// Variables that it needs for its model, passed when they are there.
    pub(super) keys: &'static [&'static str],
    /// Variables that it gets; `{private}` is a folder of its own.
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// What it keeps in a home folder, to be read where the operator shares one.
    pub(super) settings: &'static [&'static str],
    /// The network that it needs, and for what.
    pub(super) network: NetworkNeed,
    /// How its answer is found in what it writes.
    pub(super) answer: AnswerForm,
}

/// The network that a client needs.
pub(super) struct NetworkNeed {
    /// What it gets, unless the operator gives less.
    pub(super) network: Network,
    /// What for.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by people, and compared with the documentation"))]
    pub(super) reason: &'static str,
}

/// How an answer is found in what a program writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum AnswerForm {
    /// All of it, or the last line.
    Plain,
    /// The last line is an object of type `result` whose `result` is the answer.
    ClaudeStream,
}

/// In one word, so that no name of a model can be taken for an option.
const MODEL: &[&str] = &["--model={model}"];

/// Every client reads its task from its standard input, where no text of it can be taken for an option.
const PRESETS: &[Preset] = &[
    Preset {
        name: "claude",
        program: "claude",
        before: &[
            "--print",
            "--output-format",
            "stream-json",
            "--verbose",
            "--permission-mode",
            "dontAsk",
            "--setting-sources",
            "project",
            "--strict-mcp-config",
        ],
        model: MODEL,
        after: &[],
        skills: ".claude/skills",
        target: ExportTarget::Claude,
        permissions: claude::permissions,
        lifting: claude::LIFTING,
        keys: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_MODEL",
            "AWS_ACCESS_KEY_ID",
            "AWS_PROFILE",
            "AWS_REGION",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ],
        variables: &[("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")],
        settings: &[".claude", ".claude.json"],
        network: NetworkNeed {
            network: Network::Allowed,
            reason: "its model: `api.anthropic.com`, Bedrock or Vertex",
        },
        answer: AnswerForm::ClaudeStream,
    },
    Preset {
        name: "codex",
        program: "codex",
        before: &[
            "exec",
            "--skip-git-repo-check",
            "--ephemeral",
            "--ignore-user-config",
            "--ignore-rules",
            "--color",
            "never",
        ],
        model: MODEL,
        after: &["-"],
        skills: ".agents/skills",
        target: ExportTarget::Codex,
        permissions: codex::permissions,
        lifting: codex::LIFTING,
        keys: &[
            "CODEX_API_KEY",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "OPENAI_ORGANIZATION",
            "OPENAI_PROJECT",
        ],
        variables: &[],
        settings: &[".codex"],
        network: NetworkNeed {
            network: Network::Allowed,
            reason: "its model: `api.openai.com`, or where `OPENAI_BASE_URL` says",
        },
        answer: AnswerForm::Plain,
    },
    Preset {
        name: "goose",
        program: "goose",
        before: &["run", "--no-session", "--quiet"],
        model: MODEL,
        after: &["--instructions", "-"],
        skills: ".agents/skills",
        target: ExportTarget::Agents,
        permissions: goose::permissions,
        lifting: goose::LIFTING,
        keys: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_HOST",
            "DATABRICKS_HOST",
            "DATABRICKS_TOKEN",
            "GOOGLE_API_KEY",
            "GOOSE_MODEL",
            "GOOSE_PROVIDER",
            "GROQ_API_KEY",
            "OLLAMA_HOST",
            "OPENAI_API_KEY",
            "OPENAI_BASE_PATH",
            "OPENAI_HOST",
            "OPENROUTER_API_KEY",
        ],
        variables: &[
            ("GOOSE_DISABLE_KEYRING", "1"),
            ("GOOSE_MODE", "approve"),
            ("GOOSE_PATH_ROOT", "{private}/goose"),
        ],
        settings: &[".config/goose", ".local/share/goose"],
        network: NetworkNeed {
            network: Network::Allowed,
            reason: "its model, at the provider that its variables name",
        },
        answer: AnswerForm::Plain,
    },
    Preset {
        name: "opencode",
        program: "opencode",
        before: &["run"],
        model: MODEL,
        after: &[],
        skills: ".opencode/skills",
        target: ExportTarget::Agents,
        permissions: opencode::permissions,
        lifting: opencode::LIFTING,
        keys: &[
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "GROQ_API_KEY",
            "OPENAI_API_KEY",
            "OPENCODE_API_KEY",
            "OPENROUTER_API_KEY",
        ],
        variables: &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_CLAUDE_CODE", "1"),
            ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1"),
            ("XDG_CONFIG_HOME", "{private}/config"),
        ],
        settings: &[".config/opencode", ".local/share/opencode"],
        network: NetworkNeed {
            network: Network::Allowed,
            reason: "its model, at the provider that its variables name",
        },
        answer: AnswerForm::Plain,
    },
];

/// What holds for a program that artel does not know.
pub(super) const ANY: Preset = Preset {
    name: "",
    program: "",
    before: &[],
    model: &[],
    after: &[],
    skills: ".agents/skills",
    target: ExportTarget::Agents,
    permissions: of_any,
    lifting: &[],
    keys: &[],
    variables: &[],
    settings: &[],
    network: NetworkNeed {
        network: Network::Allowed,
        reason: "the owner of this machine named it, and its model is somewhere",
    },
    answer: AnswerForm::Plain,
};

/// The names of the clients that artel knows.
pub const CLIENTS: [&str; 4] = ["claude", "codex", "goose", "opencode"];

/// Finds a client by its name.
pub(super) fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_are_those_that_are_named() {
        assert_eq!(PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>(), CLIENTS);
        assert!(find("claude").is_some() && find("").is_none());
    }

    #[test]
    fn what_each_client_needs_the_network_for_is_documented() {
        let manual = include_str!("../../../../docs/agents-clients.md");
        for Preset { name, network, .. } in PRESETS {
            let row = format!("| {name} | {} |", network.reason);
            assert!(
                network.network == Network::Denied || manual.contains(&row),
                "the manual has no row `{row}`"
            );
        }
        assert!(!ANY.network.reason.is_empty());
    }
}
