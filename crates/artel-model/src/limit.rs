//! Every limit artel has, in one place.
//!
//! Reaching a limit is a diagnostic, a typed error or a queue, never a crash. `docs/limits.md` is generated from the
//! table at the end of this file.

/// One row of the table of limits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit {
    /// The constant's name.
    pub name: &'static str,
    /// The constant's value.
    pub value: u64,
    /// What is limited, and what happens at the limit.
    pub about: &'static str,
}

macro_rules! limits {
    ($($name:ident: $type:ty = $value:expr, $about:literal;)*) => {
        $(#[doc = $about] pub const $name: $type = $value;)*

        /// Every limit, in the order of this file.
        pub const ALL: &[Limit] = &[$(Limit { name: stringify!($name), value: $name as u64, about: $about }),*];
    };
}

limits! {
    NAME_CHARS_MAX: usize = 64, "Characters in a skill's, script's or step's name; a longer name is refused.";
    NAME_CHARS_USUAL_MIN: usize = 3, "A shorter skill name draws a warning.";
    NAME_CHARS_USUAL_MAX: usize = 50, "A longer skill name draws a warning.";
    DESCRIPTION_CHARS_MAX: usize = 1024, "Characters in a description.";
    COMPATIBILITY_CHARS_MAX: usize = 500, "Characters in `compatibility`.";
    DISPLAY_NAME_CHARS_MAX: usize = 100, "Characters in `display_name`.";
    AUTHOR_CHARS_MAX: usize = 100, "Characters in `author`.";
    TAGS_MAX: usize = 10, "Tags of one skill.";
    TAG_CHARS_MAX: usize = 30, "Characters in one tag.";
    PRIORITY_MAX: u64 = 100, "The highest priority; the default is 50.";
    TIMEOUT_S_MAX: u64 = 3600, "Seconds one attempt may take; at least 1, by default 30.";
    RETRIES_MAX: u64 = 5, "Retries of a skill after its first try.";
    BACKOFF_MS_MAX: u64 = 30_000, "Milliseconds before a retry.";
    LIST_ITEMS_MAX: usize = 1000, "Entries of one list in a manifest (dependencies, scripts, steps, tools, rules).";
    TOOL_NAME_BYTES_MAX: usize = 256, "Bytes of a tool's name or pattern.";
    TOOL_STARS_MAX: usize = 8, "Wildcards in one tool pattern.";
    TOOL_INTERSECTION_MAX: usize = 64, "Patterns kept when two sets of tool patterns are intersected; the rest is not allowed.";
    MERGE_DEPTH_MAX: usize = 128, "Nesting of a state patch.";
    SCHEMA_BYTES_MAX: usize = 256 * 1024, "Bytes of one JSON Schema.";
    SCHEMA_REGEX_BYTES_MAX: usize = 1024 * 1024, "Bytes of one compiled `pattern` of a JSON Schema.";
    SCHEMA_ERRORS_MAX: usize = 50, "Violations of a schema that are reported for one document.";
    SKILL_MD_BYTES_MAX: u64 = 10 * 1024 * 1024, "Bytes of `SKILL.md`.";
    MANIFEST_BYTES_MAX: u64 = 1024 * 1024, "Bytes of `skill.json`, `skill.yaml`, `config.json`, `config-schema.json` and `prompt.md`.";
    REGISTRY_FILE_BYTES_MAX: u64 = 10 * 1024 * 1024, "Bytes of a `*.skill.yaml` or `*.skill.json` file.";
    REGISTRY_FILE_SKILLS_MAX: usize = 10_000, "Skills defined in one registry file.";
    SKILL_FILES_MAX: usize = 1000, "Files in one skill's folder.";
    SKILL_BYTES_MAX: u64 = 50 * 1024 * 1024, "Bytes of all files in one skill's folder.";
    SKILL_DEPTH_MAX: usize = 16, "Levels of folders inside a skill; deeper files are left out.";
    FRONTMATTER_DEPTH_MAX: usize = 16, "Nesting of the YAML frontmatter.";
    FRONTMATTER_NODES_MAX: usize = 2000, "Values in the YAML frontmatter, aliases expanded.";
    FRONTMATTER_TEXT_BYTES_MAX: usize = 64 * 1024, "Bytes of all text in the YAML frontmatter, aliases expanded.";
    DOCUMENT_DEPTH_MAX: usize = 64, "Nesting of a YAML or JSON manifest.";
    DOCUMENT_NODES_MAX: usize = 100_000, "Values in a YAML manifest, aliases expanded.";
    DOCUMENT_TEXT_BYTES_MAX: usize = 16 * 1024 * 1024, "Bytes of all text in a YAML manifest, aliases expanded.";
    ALIASES_MAX: usize = 50, "YAML aliases in one document.";
    DISCOVERY_FOLDERS_MAX: usize = 200_000, "Folders visited in one search for skills; the walk stops there and says so.";
    DISCOVERY_DEPTH_MAX: usize = 10, "Levels below a skills folder that are searched.";
    DIAGNOSTICS_PER_SKILL_MAX: usize = 200, "Diagnostics kept for one skill; the last one says how many were left out.";
    SEARCH_RESULTS_MAX: usize = 200, "Results of one search.";
    SEARCH_QUERY_CHARS_MAX: usize = 400, "Characters of a search that are read; the rest is cut, and that is said.";
    SEARCH_QUERY_WORDS_MAX: usize = 16, "Different words of a search; the rest is cut, and that is said.";
    SEARCH_BODY_BYTES_MAX: usize = 64 * 1024, "Bytes of a skill's instructions that are searched.";
    SEARCH_FIELD_BYTES_MAX: usize = 8 * 1024, "Bytes of a skill's name, title, description and tags that are searched, each.";
    SEARCH_TERM_BYTES_MAX: usize = 64, "Bytes of one searched word; longer ones are cut alike everywhere.";
    WATCH_EVENTS_MAX: usize = 1024, "Changes of files that may wait to be told; more say nothing more.";
    SELECT_MAX: usize = 50, "Skills that one selection returns.";
    SET_SKILLS_MAX: usize = 1000, "Skills in one composed set.";
    SET_WARNINGS_MAX: usize = 1000, "Warnings about one set of skills; the last one says that there may be more.";
    IDENTITY_CHARS_MAX: usize = 200, "Characters in the name of a user or a team.";
    STEP_ID_CHARS_MAX: usize = 200, "Characters in the id of a tool in a plan, or of a step of a run.";
    PLAN_TOOLS_MAX: usize = 10_000, "Tools in one plan, the steps of composites included.";
    PLAN_BYTES_MAX: usize = 16 * 1024 * 1024, "Bytes of one plan document.";
    PLAN_INPUT_BYTES_MAX: usize = 1024 * 1024, "Bytes of one tool's input in a plan, written as JSON.";
    PLAN_INPUTS_BYTES_MAX: usize = 64 * 1024 * 1024, "Bytes of all inputs of one plan, defaults and the steps of composites included.";
    PLAN_NEEDS_MAX: usize = 1_000_000, "Dependencies in one plan, those of the steps of composites included.";
    PLAN_PROBLEMS_MAX: usize = 1000, "Problems of a plan that are reported; the last one says how many were left out.";
    PLAN_RETRIES_MAX: u32 = 10, "Retries of a tool in a plan after its first try; by default 3.";
    COMPOSITE_DEPTH_MAX: usize = 8, "Composites inside composites.";
    ATTEMPTS_MAX: u32 = 100, "Attempts at one step, those that were interrupted included.";
    EVENTS_PER_ATTEMPT_MAX: usize = 10_000, "Events that one attempt may write.";
    EVENT_LINE_BYTES_MAX: usize = 1024 * 1024, "Bytes of one event.";
    EVENT_BYTES_PER_ATTEMPT_MAX: usize = 64 * 1024 * 1024, "Bytes that one attempt may write to stdout.";
    STDERR_BYTES_MAX: usize = 64 * 1024, "Bytes of stderr that are kept of one attempt; the last ones.";
    OFFENDING_TEXT_CHARS_MAX: usize = 200, "Characters of a line against the tool protocol that are quoted.";
    ASSET_BYTES_MAX: u64 = 256 * 1024 * 1024, "Bytes of one asset; a larger one is against the tool protocol.";
    ASSET_BYTES_PER_ATTEMPT_MAX: u64 = 1024 * 1024 * 1024, "Bytes of all assets of one attempt.";
    RUN_DEADLINE_MS: u64 = 60_000, "Milliseconds a whole run may take; `[run] deadline_ms` says otherwise.";
    GRACE_MS: u64 = 5_000, "Milliseconds between SIGTERM and SIGKILL; `[run] grace_ms` says otherwise.";
    RUNS_MAX: usize = 1000, "Runs that go on at once in one process; further ones wait. `[run] runs` says otherwise.";
    SCRIPT_CPU_S: u64 = 600, "Seconds of processor time of one attempt; `[script_limits] cpu_s` says otherwise.";
    SCRIPT_MEMORY_BYTES: u64 = 2 * 1024 * 1024 * 1024, "Bytes of memory of one attempt; `[script_limits] memory_bytes` says otherwise.";
    SCRIPT_OPEN_FILES: u64 = 1024, "Open files of one process; `[script_limits] open_files` says otherwise.";
    SCRIPT_PROCESSES: u64 = 128, "Processes and threads of one attempt; `[script_limits] processes` says otherwise.";
    SCRIPT_FILE_BYTES: u64 = 1024 * 1024 * 1024, "Bytes of one file that a script writes; `[script_limits] file_bytes` says otherwise.";
    SCRIPT_FOLDER_BYTES: u64 = 4 * 1024 * 1024 * 1024, "Bytes in the folders that a script owns; `[script_limits] folder_bytes` says otherwise.";
    PARAMS_BYTES_MAX: usize = 1024 * 1024, "Bytes of the parameters of a skill that is run, written as JSON.";
    AGENTS_MAX: usize = 1000, "Agents that are idle, running or paused at once; `[agents] max_agents` says otherwise.";
    AGENT_CHILDREN_MAX: u32 = 5, "Living children of one agent; what it was spawned with may say less.";
    AGENT_DEPTH_MAX: u32 = 3, "Agents below agents: how far from the first one; `[agents] max_depth` says otherwise.";
    AGENT_NAME_CHARS_MAX: usize = 100, "Characters in an agent's name.";
    AGENT_TASK_BYTES_MAX: usize = 64 * 1024, "Bytes of an agent's task.";
    AGENT_ERROR_CHARS_MAX: usize = 1000, "Characters kept of an agent's last error; the rest is cut.";
    AGENT_ERROR_LOG_MAX: usize = 100, "Errors kept of one agent; the last ones.";
    AGENT_METADATA_KEYS_MAX: usize = 20, "Keys in an agent's metadata.";
    AGENT_METADATA_BYTES_MAX: usize = 64 * 1024, "Bytes of an agent's metadata, written as JSON.";
    AGENT_RESULTS_MAX: usize = 200, "Results kept of one agent; the last ones.";
    AGENT_RESULTS_BYTES_MAX: usize = 1024 * 1024, "Bytes of the results kept of one agent; the last ones that fit.";
    AGENT_ENTITIES_MAX: usize = 10_000, "Entities made by one agent that are listed; the last ones.";
    AGENT_OUTPUT_LINE_BYTES_MAX: usize = 64 * 1024, "Bytes of one piece of an agent program's output; a longer line is cut into pieces.";
    AGENT_OUTPUT_BYTES_MAX: usize = 16 * 1024 * 1024, "Bytes kept of what an agent's program says; more is counted, not kept.";
    AGENT_TURNS_MAX: u32 = 50, "Answers of a model in one piece of an agent's work; `[llm] turns` says otherwise.";
    MESSAGE_PAYLOAD_BYTES_MAX: usize = 256 * 1024, "Bytes of a message's payload, written as JSON.";
    MESSAGE_TTL_S_MAX: u32 = 3600, "Seconds a message may wait; at least 1, by default 60.";
    MAILBOX_MAX: usize = 10_000, "Messages in one agent's mailbox; the sender of a further one is told MAILBOX_FULL.";
    DEAD_LETTERS_MAX: usize = 100_000, "Dead letters kept; the oldest go first, and are still counted.";
    TOPIC_CHARS_MAX: usize = 200, "Characters in a topic.";
    TOPIC_TOKENS_MAX: usize = 16, "Parts of a topic.";
    TOPIC_REPLAY_MAX: usize = 1000, "Events of topics kept for those who come late.";
    SUBSCRIPTION_QUEUE_MAX: usize = 10_000, "Events that wait for one subscriber; further ones are refused and counted.";
    REQUEST_TIMEOUT_MS_MAX: u64 = 3_600_000, "Milliseconds that somebody waits for a reply; by default 30,000.";
    CONFIG_VALUE_BYTES_MAX: usize = 64 * 1024, "Bytes of one configured value after environment variables are filled in.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete_and_has_no_zero() {
        assert!(ALL.len() > 40);
        for limit in ALL {
            assert!(limit.value > 0, "{} is zero", limit.name);
            assert!(limit.about.ends_with('.'), "{} has no sentence", limit.name);
        }
    }
}
