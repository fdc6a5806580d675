//! What all tests share.

use std::path::{Path, PathBuf};

use artel_cad::kernel::{ModuleCache, Occt};

/// Returns the folder of the compiled kernel, which all tests share; the first one compiles it.
pub(crate) fn kernel_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("artel-cad-kernel")
}

/// Returns the kernel in this process, for tests that need no workspaces.
pub(crate) fn kernel() -> Occt {
    let module = ModuleCache::new(kernel_cache()).load(|| ()).unwrap();
    Occt::new(&module, 1 << 30).unwrap()
}
