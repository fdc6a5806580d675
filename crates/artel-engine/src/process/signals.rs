//! The signals of the launcher: it blocks all of them, and its children start with none blocked or ignored.

/// Blocks every signal, so that nothing but SIGKILL ends the launcher before its children.
#[expect(unsafe_code, reason = "signal masks have no safe function")]
pub(super) fn block_all() {
    // SAFETY: the set is filled before it is used, and the process has one thread.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
}

/// Gives every signal its default effect: what is ignored here would be ignored by every child.
#[expect(unsafe_code, reason = "the C library keeps two signals to itself, so the kernel is asked")]
pub(super) fn reset_dispositions() {
    const SIGNALS: i32 = 64;
    const MASK_BYTES: usize = 8;
    // A handler of zero is the default; no flags, no mask.
    let default = [0_u64; 4];
    for signal in 1..=SIGNALS {
        // SAFETY: the kernel reads a structure of at most four words; signals that cannot be set are refused.
        unsafe {
            let former = std::ptr::null_mut::<u64>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), former, MASK_BYTES);
        }
    }
}
