//! How much work a change is, as far as that can be told before it is made.
//!
//! Every change says it for itself: one that is said to be brief is made on the thread of whoever asks for it, which must
//! not be held up.

/// About how much work the change of one short row is, in bytes.
const ROW_BYTES: usize = 1 << 10;

/// How much work a change is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Effort {
    /// It touches few rows, and writes about so many bytes.
    Brief(usize),
    /// How many rows it touches depends on what lies in the database. About so many bytes of it are known.
    Long(usize),
}

impl Effort {
    /// One short row.
    pub(crate) const ROW: Self = Self::Brief(ROW_BYTES);

    /// So many short rows, with so many bytes beside that.
    pub(crate) fn rows(rows: usize, bytes: usize) -> Self {
        Self::Brief(rows.saturating_mul(ROW_BYTES).saturating_add(bytes))
    }

    /// Returns how many bytes are known of.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Brief(bytes) | Self::Long(bytes) => bytes,
        }
    }

    /// Says whether it may be long.
    pub(crate) fn is_long(self) -> bool {
        match self {
            Self::Brief(_) => false,
            Self::Long(_) => true,
        }
    }
}
