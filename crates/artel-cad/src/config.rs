//! Where things are: read once from the command line and the environment, and passed on.

use std::io;
use std::path::PathBuf;

use crate::kernel::KernelSettings;
use crate::limit::{KERNEL_MEMORY_BYTES_MAX, KERNEL_MS};

/// Everything the program needs to know about its surroundings.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder of the workspaces.
    pub data: PathBuf,
    /// The folder that files are exported to and imported from.
    pub files: PathBuf,
    /// How the kernel is started.
    pub kernel: KernelSettings,
}

impl Config {
    /// Puts the configuration together: options come first, then `ARTEL_CAD_DATA` and `ARTEL_CAD_CACHE`, then the user's
    /// own folders.
    pub fn read(
        data: Option<PathBuf>,
        files: Option<PathBuf>,
        cache: Option<PathBuf>,
        time_ms: Option<u64>,
    ) -> io::Result<Self> {
        let data = data
            .or_else(|| variable("ARTEL_CAD_DATA"))
            .or_else(|| user_folder("XDG_DATA_HOME", ".local/share"));
        let data =
            data.ok_or_else(|| io::Error::other("no home folder; say where the workspaces are with --data"))?;
        let kernel = KernelSettings {
            program: std::env::current_exe()?,
            cache: cache_folder(cache)?,
            time_ms: time_ms.unwrap_or(KERNEL_MS),
            memory_bytes_max: KERNEL_MEMORY_BYTES_MAX,
        };
        let files = files.or_else(|| variable("ARTEL_CAD_FILES")).unwrap_or_else(|| data.join("files"));
        Ok(Self { data, files, kernel })
    }
}

/// Returns where the compiled kernel is kept.
pub fn cache_folder(option: Option<PathBuf>) -> io::Result<PathBuf> {
    let cache =
        option.or_else(|| variable("ARTEL_CAD_CACHE")).or_else(|| user_folder("XDG_CACHE_HOME", ".cache"));
    cache.ok_or_else(|| io::Error::other("no home folder; say where to cache the kernel with --cache"))
}

fn user_folder(name: &str, below_home: &str) -> Option<PathBuf> {
    let folder = variable(name).or_else(|| variable("HOME").map(|home| home.join(below_home)))?;
    Some(folder.join("artel-cad"))
}

#[expect(clippy::disallowed_methods, reason = "this is the configuration")]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
