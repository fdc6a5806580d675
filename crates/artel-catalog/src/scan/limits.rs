//! How much the scanner takes in. Reaching a limit makes the verdict incomplete, never better.

/// Bytes of one file that is scanned.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of one script, or block of code, that is parsed.
pub const CODE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// How often the parser may report progress before it is stopped; it does so every hundred operations.
pub(super) const PARSE_STEPS_MAX: usize = 2_000_000;

/// Levels of a syntax tree that are followed.
pub(super) const TREE_DEPTH_MAX: usize = 150;

/// Values that are computed while following the data of one file.
pub(super) const FLOW_STEPS_MAX: usize = 200_000;

/// Characters of a value that are kept while following data.
pub(super) const VALUE_CHARS_MAX: usize = 8 * 1024;

/// How often something decoded may be decoded again.
pub const DECODE_DEPTH_MAX: usize = 4;

/// Bytes that all decoding and unpacking of one file may give.
pub const DECODED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Commands of one text that is no script that are looked at.
pub(super) const LOOSE_COMMANDS_MAX: usize = 2_000;

/// Blocks, comments and pieces of inline code of one text that are looked at.
pub(super) const MARKDOWN_PARTS_MAX: usize = 20_000;

/// Encoded runs of one text that are looked at.
pub(super) const ENCODED_RUNS_MAX: usize = 2_000;

/// Files of one archive that are looked at.
pub const ARCHIVE_FILES_MAX: usize = 2_000;

/// How many times larger than its archive the content may be before it counts as a bomb.
pub(super) const ARCHIVE_RATIO_MAX: u64 = 200;

/// Findings of one skill that are kept; the report says how many were left out.
pub const FINDINGS_MAX: usize = 500;

/// Findings of one rule in one file that are kept.
pub(super) const FINDINGS_PER_RULE_AND_FILE_MAX: usize = 5;

/// Findings of one rule in one file from which on only worse ones are taken in.
pub(super) const FINDINGS_TAKEN_MAX: usize = 50;

/// Characters of a file that a finding quotes.
pub(super) const SNIPPET_CHARS_MAX: usize = 160;
