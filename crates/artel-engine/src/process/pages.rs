//! How large the pages of this program's memory are. Knows nothing of what is kept in them.

/// Keeps the kernel from giving this program pages of 2 MiB; the first thing to do, before there are threads.
///
/// An allocator asks for them when it takes memory in large pieces, and the kernel clears each whole when its first byte
/// is touched: a program that lives for a second pays for that and uses a fraction of it. Programs that it starts inherit
/// this; see `allow_huge_pages`.
pub fn refuse_huge_pages() {
    // Older kernels cannot; then it is only slower.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Undoes [`refuse_huge_pages`] for this program and those it starts: what is right for artel may not be for a script.
pub(super) fn allow_huge_pages() {
    let _ = rustix::thread::disable_transparent_huge_pages(false);
}
