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
    HEALTH_PRINCIPALS_MIN: usize = 3, "Principals whose runs of a skill must fail, without a success of any principal since, before others see it as degraded or failed.";
    HEALTH_PROBE_MS: u64 = 600_000, "Milliseconds after which a skill in `permanentFailure` may be tried again; twice as long after each further failure.";
    HEALTH_PROBE_CLAIM_MS: u64 = 600_000, "Milliseconds that one run has for itself to try a skill again that failed; then another run may.";
    HEALTH_KEPT_MS: u64 = 30 * 24 * 3600 * 1000, "Milliseconds that failures of files are kept which no source has any more.";
    HEALTH_PROBE_DOUBLINGS_MAX: u32 = 6, "How often that time doubles.";
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
    AGENT_WORD_BYTES_MAX: usize = 200, "Bytes of the name of an agent's model, workspace or client.";
    COMMAND_WORDS_MAX: usize = 200, "Words of the command line of an agent's program.";
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
    PERSONAL_SETTINGS_BYTES_MAX: u64 = 64 * 1024, "Bytes of one caller's own settings of one skill; more is refused.";
    CONFIG_VALUE_BYTES_MAX: usize = 64 * 1024, "Bytes of one configured value after environment variables are filled in.";
    CATALOG_PAGE_SIZE: usize = 50, "Skills on one page of the catalog when nobody says how many.";
    CATALOG_PAGE_SIZE_MAX: usize = 200, "Skills on one page of the catalog.";
    CATALOG_VIEWS_MAX: usize = 256, "Different views of one catalog that are kept; others are made again when somebody asks.";
    CATALOG_INDEXES_MAX: usize = 64, "Search indexes of views that are kept; others are built again when somebody searches.";
    CATALOG_INDEX_BYTES_MAX: usize = 512 * 1024 * 1024, "Bytes of all search indexes of views that are kept.";
    INCLUDED_FILE_BYTES_MAX: u64 = 1024 * 1024, "Bytes of one file whose content comes with a skill (`include_content=true`); a larger one is read on its own.";
    INCLUDED_BYTES_MAX: u64 = 8 * 1024 * 1024, "Bytes of the contents of files that come with skills in one answer (`include_content=true`); `contents_left_out` counts the rest.";
    CUSTOM_SKILL_BYTES_USUAL_MAX: usize = 5 * 1024 * 1024, "Bytes of all files of a saved skill; a larger one draws a warning.";
    CUSTOM_SKILL_BYTES_MAX: usize = 16 * 1024 * 1024, "Bytes of all files of a saved skill; a larger one is refused.";
    CUSTOM_SKILL_FILES_MAX: usize = 1000, "Files of a saved skill, its instructions included.";
    CUSTOM_ZIP_RATIO_MAX: usize = 200, "How many times larger than an uploaded archive its files may be; from 1 MiB on.";
    CUSTOM_PATH_CHARS_MAX: usize = 200, "Characters in the path of a saved skill's file.";
    CUSTOM_METADATA_BYTES_MAX: usize = 32 * 1024, "Bytes of a saved skill's metadata, written as JSON.";
    CUSTOM_TEAMS_MAX: usize = 100, "Teams that a saved skill is for.";
    CUSTOM_PROBLEMS_MAX: usize = 100, "Problems of a skill that somebody saves that are reported; the last one says how many were left out.";
    BUS_SUBSCRIPTIONS_MAX: usize = 1_000_000, "Subscriptions of one bus.";
    BUS_BELLS_MAX: usize = 1_000_000, "Agents of one bus that wait to be woken by a message.";
    BUS_RINGS_WAITING_MAX: usize = 100_000, "Agents that have mail and of whom others are not told through Redis yet; for more of them nobody elsewhere is woken.";
    BUS_SEEN_MESSAGES_MAX: usize = 65_536, "Ids of messages that are remembered so that none is delivered twice.";
    BUS_REQUESTS_WAITING_MAX: usize = 100_000, "Requests of one bus that wait for an answer.";
    BUS_STREAM_LEN: usize = 20_000, "Messages that Redis keeps for those who read late, about.";
    BUS_STREAM_LEN_MAX: usize = 60_000, "The most messages that Redis may keep; all of them are remembered as seen.";
    BUS_REPLY_STREAM_LEN_MAX: usize = 20_000, "Answers that Redis keeps for one bus, about.";
    SCAN_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024, "Bytes of one file that is scanned; here and at the limits of scanning below, more makes the verdict incomplete.";
    SCAN_CODE_BYTES_MAX: usize = 2 * 1024 * 1024, "Bytes of one script, or block of code, that is parsed when it is scanned.";
    SCAN_PARSE_STEPS_MAX: usize = 2_000_000, "How often the parser of a script may report progress before it is stopped; it does so every hundred operations.";
    SCAN_TREE_DEPTH_MAX: usize = 150, "Levels of a script's syntax tree that are followed.";
    SCAN_FLOW_STEPS_MAX: usize = 200_000, "Values that are computed while following the data of one file.";
    SCAN_VALUE_CHARS_MAX: usize = 8 * 1024, "Characters of a value that are kept while following data.";
    SCAN_DECODE_DEPTH_MAX: usize = 4, "How often something decoded or unpacked may be decoded or unpacked again.";
    SCAN_DECODED_BYTES_MAX: usize = 8 * 1024 * 1024, "Bytes that all decoding and unpacking of one file may give.";
    SCAN_LOOSE_COMMANDS_MAX: usize = 2_000, "Commands that are looked at in one text that is no script.";
    SCAN_MARKDOWN_PARTS_MAX: usize = 20_000, "Blocks, comments and pieces of inline code of one text that are looked at.";
    SCAN_ENCODED_RUNS_MAX: usize = 2_000, "Encoded runs of one text that are looked at.";
    SCAN_ARCHIVE_FILES_MAX: usize = 2_000, "Files of one archive that are looked at.";
    SCAN_ARCHIVE_RATIO_MAX: u64 = 200, "How many times larger than its archive the content may be before it counts as a bomb.";
    SCAN_FINDINGS_MAX: usize = 500, "Findings of one skill that are kept; the report says how many were left out.";
    SCAN_FINDINGS_PER_RULE_AND_FILE_MAX: usize = 5, "Findings of one rule in one file that are kept; the others are counted.";
    SCAN_FINDINGS_TAKEN_MAX: usize = 50, "Findings of one rule in one file from which on only worse ones are taken in.";
    SCAN_SNIPPET_CHARS_MAX: usize = 160, "Characters of a file that a finding quotes.";
    SCAN_PROGRAM_MS: u64 = 180_000, "Milliseconds that a scanner of somebody else may take; what it has not said by then makes the verdict incomplete.";
    SCAN_PROGRAM_OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024, "Bytes that a scanner of somebody else may write; more makes the verdict incomplete.";
    SCAN_PROGRAM_SKILLS_MAX: usize = 25, "Skills that a scanner of somebody else is shown at once; further ones wait for the next time.";
    LOCK_BYTES_MAX: u64 = 64 * 1024 * 1024, "Bytes of `artel.lock`.";
    LOCK_SKILLS_MAX: usize = 10_000, "Skills in `artel.lock`; more are neither read nor written.";
    LOCK_TEXT_BYTES_MAX: usize = 4096, "Bytes of one path, location or permission in `artel.lock`.";
    CUSTOM_SKILLS_MAX: usize = 100_000, "Skills that people saved, altogether.";
    HUBS_MAX: usize = 1000, "Registered hubs.";
    HUB_FILES_MAX: usize = 10_000, "Files taken from one hub; a skill that does not fit is left out, and that is said.";
    HUB_BYTES_MAX: u64 = 100 * 1024 * 1024, "Bytes taken from one hub; a skill that does not fit is left out, and that is said.";
    HUB_TEXT_FILE_BYTES_MAX: u64 = 1024 * 1024, "Bytes of one text file of a hub; a larger one is left out, and that is said.";
    HUB_DEPTH_MAX: usize = 10, "Levels of folders in a hub in which skills are looked for; deeper ones are left out.";
    HUB_FETCH_MS: u64 = 60_000, "Milliseconds that fetching one hub may take.";
    HUB_DOWNLOAD_BYTES_MAX: u64 = 256 * 1024 * 1024, "Bytes that fetching one hub may transfer.";
    HUB_UNPACKED_BYTES_MAX: u64 = 1024 * 1024 * 1024, "Bytes that one archive of a hub may unpack to.";
    HUB_ENTRIES_MAX: usize = 250_000, "Files and folders of a hub that are looked at; `include_paths` leaves others out.";
    HUB_LOCATION_CHARS_MAX: usize = 1000, "Characters of a hub's location.";
    HUB_REFERENCE_CHARS_MAX: usize = 200, "Characters of the branch, tag or commit of a hub.";
    HUB_PATH_CHARS_MAX: usize = 1024, "Bytes of a path in a hub.";
    HUB_VARIABLE_CHARS_MAX: usize = 128, "Characters of the name of the variable with a hub's token.";
    HUB_INCLUDE_PATHS_MAX: usize = 100, "Entries of a hub's `include_paths`.";
    HUB_PATH_RULES_MAX: usize = 100, "Rules of a hub about who sees the skills in a folder.";
    HUB_INDEX_BYTES_MAX: u64 = 4 * 1024 * 1024, "Bytes of a site's index of skills.";
    HUB_INDEX_SKILLS_MAX: usize = 1000, "Skills in a site's index; further ones are left out, and that is said.";
    HUB_REDIRECTS_MAX: usize = 5, "Redirections that are followed when a hub is fetched.";
    HUB_WARNINGS_MAX: usize = 50, "Warnings kept about one hub; the last one says how many were left out.";
    HUB_MESSAGE_CHARS_MAX: usize = 500, "Characters of a message about a hub.";
    ADMIN_TOKEN_CHARS_MIN: usize = 32, "Characters of an administrator's token that an operator sets; a shorter one is refused.";
    ADMIN_TOKEN_CHARS_MAX: usize = 256, "Characters of an administrator's token that an operator sets; a longer one is refused.";
    ADMIN_TOKEN_DISTINCT_MIN: usize = 8, "Different characters of an administrator's token that an operator sets; one with fewer is refused.";
    KEYS_PER_OWNER_MAX: u64 = 100, "API keys of one owner that are neither revoked nor forgotten.";
    KEY_LABEL_CHARS_MAX: usize = 200, "Characters of the label of an API key.";
    KEY_CHECKS_AT_ONCE_MAX: usize = 2, "Secrets of API keys that were never seen that are hashed at once; each takes 19 MiB of memory. One of a key that is made, and one from an address that failed too often, may be hashed beside them.";
    KEY_CHECKS_WAITING_MAX: usize = 256, "Secrets of API keys that wait to be hashed; for more the answer is 429.";
    KEY_CHECK_WAIT_MS: u64 = 5_000, "Milliseconds that the secret of an API key waits to be hashed; then the answer is 429.";
    KEY_CHECKS_SUSPECT_WAITING_MAX: usize = 64, "Secrets of API keys from addresses that failed too often that wait to be hashed, one at a time; for more the answer is 429.";
    KEYS_REMEMBERED_MAX: usize = 10_000, "API keys that are remembered as proved; the one that was not used for longest is forgotten first.";
    KEY_REMEMBERED_MS: u64 = 600_000, "Milliseconds for which an API key that is not used is remembered as proved.";
    KEY_REFRESH_MS: u64 = 500, "Milliseconds after which a remembered API key that is used is looked up again beside the request.";
    KEY_REREAD_MS: u64 = 1_000, "Milliseconds after which a remembered API key is looked up again, because another process may have revoked it.";
    SIGN_INS_REMEMBERED_MAX: usize = 10_000, "People whose teams, as the identity provider told them, are not written again with every request.";
    RATE_BUCKETS_MAX: usize = 65_536, "Callers whose requests are counted apart; further ones share one count.";
    REFUSAL_LINES_PER_ADDRESS_MAX: u32 = 5, "Lines a second in the log about refused credentials of one address; further ones are counted.";
    REFUSAL_LINES_MAX: u32 = 50, "Lines a second in the log about refused credentials altogether; further ones are counted.";
    LOGGED_PATH_CHARS_MAX: usize = 200, "Characters of a path in the log that leads nowhere.";
    IDENTITY_TOKEN_BYTES_MAX: usize = 16 * 1024, "Bytes of a token of the identity provider.";
    IDENTITY_ANSWER_BYTES_MAX: usize = 512 * 1024, "Bytes of one answer of the identity provider.";
    IDENTITY_KEYS_MAX: usize = 100, "Keys of the identity provider that are kept.";
    IDENTITY_TEAMS_MAX: usize = 1_000, "Teams that are taken from a token of the identity provider.";
    QUOTA_SAVED_SKILLS: u64 = 1000, "Saved skills of one user over HTTP; `[quotas] saved_skills` says otherwise. Administrators are not counted, here and at the quotas below.";
    QUOTA_SAVED_BYTES: u64 = 512 * 1024 * 1024, "Bytes of the saved skills of one user over HTTP; `[quotas] saved_mib` says otherwise.";
    QUOTA_AGENTS: u64 = 200, "Living agents of one user over HTTP; `[quotas] agents` says otherwise.";
    QUOTA_RUNS: u64 = 200, "Runs of one user that have not ended, over HTTP; `[quotas] runs` says otherwise.";
    QUOTA_DATA_BYTES: u64 = 1024 * 1024 * 1024, "Bytes that skills keep in `data/` for one user, all skills together, before no script starts for them; `[quotas] data_mib` says otherwise. The local owner is not counted.";
    QUOTA_TURNS_MAX: usize = 10_000, "Users whose use of quotas is counted one request after another, before those without a request are forgotten.";
    CONNECTIONS_WAITING_MAX: usize = 4096, "Connections that wait for a place when all are taken; further ones are closed.";
    BODY_FREE_BYTES: usize = 64 * 1024, "Bytes of a request's body that are not counted among all bodies in memory: small requests are answered while large ones fill it.";
    BODY_DRAINED_BYTES_MAX: usize = 16 * 1024 * 1024, "Bytes of a body that is too large which are read and thrown away, so that its sender gets to read the refusal.";
    OVERRIDE_REASON_CHARS_MAX: usize = 1000, "Characters of the reason why files are fine that a scanner flagged.";
    API_PAGE_ITEMS: usize = 50, "Items on one page of a history over HTTP when nobody says how many.";
    API_PAGE_ITEMS_MAX: usize = 1000, "Items on one page of a history over HTTP.";
    API_WAIT_MS: u64 = 30_000, "Milliseconds that a request over HTTP waits for mail or an answer when nobody says how long.";
    API_WAIT_MS_MAX: u64 = 600_000, "Milliseconds that a request over HTTP may wait for mail or an answer.";
    IDEMPOTENCY_KEY_CHARS_MAX: usize = 255, "Characters of an `Idempotency-Key`.";
    REMEMBERED_ANSWERS_MAX: usize = 10_000, "Answers that are remembered for requests with an `Idempotency-Key`; the oldest are forgotten first.";
    ASKS_MAX: usize = 1000, "Requests in words that are remembered; the oldest that are answered are forgotten first.";
    STATS_EXECUTIONS_MAX: usize = 100_000, "Executions of one person that are counted together; the latest count.";
    STREAM_EVENTS_MAX: usize = 64, "Pieces of a live stream that wait for a slow reader.";
    STREAM_STALL_MS: u64 = 30_000, "Milliseconds that a reader of a live stream may take nothing before it is cut off; it can resume.";
    MCP_PAGE_ITEMS: usize = 100, "Items on one page of a list over MCP.";
    MCP_SKILL_TOOLS_MAX: usize = 100, "Skills that are offered as tools of their own over MCP, by priority and name; the others are found by searching.";
    MCP_TOOL_SCHEMA_BYTES_MAX: usize = 16 * 1024, "Bytes of a skill's parameter schema that is shown over MCP; a larger one is only checked.";
    MCP_SEARCH_ITEMS: usize = 10, "Skills that a search over MCP returns when nobody says how many.";
    MCP_SEARCH_ITEMS_MAX: usize = 50, "Skills that a search over MCP returns at once.";
    MCP_FILES_LISTED_MAX: usize = 200, "Files of a skill that `read_skill` lists over MCP; further ones are counted.";
    MCP_TEXT_BYTES_MAX: usize = 48 * 1024, "Bytes of instructions or of a file that one call over MCP returns; the next call goes on from there.";
    MCP_RESULT_BYTES_MAX: usize = 256 * 1024, "Bytes of the structured answer to a call over MCP; what is left out is said.";
    MCP_RESOURCE_BYTES_MAX: u64 = 1024 * 1024, "Bytes of a file that is read as a resource over MCP; a larger one is read in parts.";
    MCP_SKILL_FILES_MAX: usize = 512, "Files of a skill that the Skills extension of MCP lists; hosts need not take more.";
    MCP_SKILL_BYTES_MAX: u64 = 16 * 1024 * 1024, "Bytes of a skill that the Skills extension of MCP lists; hosts need not take more.";
    MCP_WAIT_MS_MAX: u64 = 600_000, "Milliseconds that a call over MCP waits for a run; the run goes on.";
    MCP_BODY_BYTES_MAX: usize = 4 * 1024 * 1024, "Bytes of one message over MCP.";
    MCP_SESSIONS_MAX: usize = 1000, "Sessions of MCP over HTTP.";
    MCP_SESSIONS_PER_USER_MAX: usize = 50, "Sessions of MCP of one user over HTTP; beginning another ends the one that was not used for longest.";
    MCP_SESSION_IDLE_MS: u64 = 1_800_000, "Milliseconds that a session of MCP over HTTP may be silent before it ends.";
    CHAT_MESSAGE_CHARS_MAX: usize = 10_000, "Characters of one message to the chat.";
    CHAT_TEXT_CHARS_MAX: usize = 20_000, "Characters of one text that the chat answers; the run has everything.";
    CHAT_CHOICES_MAX: usize = 20, "Choices that the chat offers at once.";
    CHAT_PROMPT_SKILLS: usize = 100, "Skills that a model in the chat is told of before it searches.";
    CHAT_PROMPT_DESCRIPTION_CHARS: usize = 300, "Characters of a skill's description that it is told.";
    CHAT_CALLS_MAX: usize = 16, "Calls of one answer of a model in the chat that are made.";
    CHAT_CONVERSATIONS_MAX: usize = 1000, "Conversations in the chat that a model remembers; the longest unused is forgotten.";
    CHAT_CONVERSATIONS_PER_USER_MAX: usize = 20, "Conversations of one user that it remembers.";
    CHAT_CONVERSATION_BYTES_MAX: usize = 256 * 1024, "Bytes of a conversation that it remembers; the oldest exchanges are forgotten.";
    PUBLISHED_BYTES_MAX: usize = 100 * 1024 * 1024, "Bytes of all skills together that a server publishes at its well-known address; further ones are left out, and that is logged.";
    CLIENT_ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024, "Bytes of one answer that a command takes from a server.";
    CLIENT_EVENT_BYTES_MAX: usize = 16 * 1024 * 1024, "Bytes of one live event that a command takes from a server.";
    TRAIL_WAITING_MAX: usize = 4096, "Entries of the trails of skills that wait to be kept; further ones are lost and counted.";
    TRAIL_RANKS_MAX: usize = 20, "Skills of one answer to a search whose trail says that they were offered.";
    TRAIL_QUERY_CHARS_MAX: usize = 200, "Characters that the trail of a skill keeps of what somebody searched for.";
    TRAIL_REPEAT_MS: u64 = 60_000, "Milliseconds within which the same user who asks the same again, or takes the same skill up again, leaves one entry in a trail.";
    TRAIL_DAYS_MAX: u64 = 90, "Days that the trail of a skill says to whom it was offered and who took it up.";
    TRAIL_ENTRIES_MAX: u64 = 1_000_000, "Entries about people in the trails of all skills; the oldest are removed first.";
    TRAIL_VERSIONS_MAX: usize = 50, "Earlier states of a skill's files whose scans and runs belong to its trail; the last count.";
    SPANS_WAITING_MAX: usize = 8192, "Spans that wait to be sent to a collector of traces; further ones are lost and counted.";
    SHUTDOWN_GRACE_SECONDS: u64 = 30, "Seconds that running steps may go on when a server is stopped, unless `[server] shutdown_grace` says otherwise.";
    SHUTDOWN_GRACE_SECONDS_MAX: u64 = 86_400, "Seconds that `[server] shutdown_grace` may be.";
    BUNDLE_SKILLS_MAX: usize = 200, "Skills that are asked for in one bundle.";
    BUNDLE_BYTES_MAX: usize = 64 * 1024 * 1024, "Bytes of files in one bundle of skills; what does not fit is asked for again. The first skill always fits.";
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
