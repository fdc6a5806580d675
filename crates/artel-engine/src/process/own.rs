//! What artel's own process is to the kernel: its user, and the modes of the files that it makes.

use rustix::fs::Mode;

/// Returns the user that this process acts as.
pub(crate) fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Takes bits from the mode of every file and folder that this process makes from here on.
pub(crate) fn set_umask(bits: u32) {
    rustix::process::umask(Mode::from_raw_mode(bits));
}
