//! The kernel's compiled module on disk. Compiling takes more than a minute, loading milliseconds, so it is done once for
//! each machine and version, by one process at a time.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use occt_wasm::OcctKernel;
use occt_wasm::wasmtime::{Engine, Module};

/// The version of the kernel, as pinned in Cargo.toml: it is part of the file's name.
const KERNEL_VERSION: &str = "occt-wasm-7.0.0";

/// A folder of this user that holds the compiled module.
#[derive(Clone, Debug)]
pub struct ModuleCache {
    folder: PathBuf,
}

/// Why there is no compiled module.
#[expect(missing_docs, reason = "the sentence of each variant says what its fields are")]
#[derive(Debug, thiserror::Error)]
pub enum WarmupError {
    /// The folder or a file in it could not be used.
    #[error("cannot use the kernel's cache at `{}`", path.display())]
    Cache { path: PathBuf, source: io::Error },
    /// Others could have put a program there.
    #[error("`{}` can be written by other users; give it to this user only (chmod 700)", path.display())]
    NotPrivate { path: PathBuf },
    /// The module could not be compiled.
    #[error("cannot compile the geometry kernel: {0}")]
    Compile(String),
}

impl ModuleCache {
    /// Uses a folder, which is made when it is needed.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns where the module is kept.
    pub fn path(&self) -> PathBuf {
        self.folder.join(format!("{KERNEL_VERSION}-{}.cwasm", std::env::consts::ARCH))
    }

    /// Returns whether loading will be quick, or why the folder cannot be used.
    pub fn is_warm(&self) -> Result<bool, WarmupError> {
        self.prepare_folder()?;
        Ok(self.path().is_file())
    }

    /// Loads the module, and compiles it first if need be; `before_compiling` is called then.
    pub fn load<T>(&self, before_compiling: impl FnOnce() -> T) -> Result<Module, WarmupError> {
        let engine = engine()?;
        self.prepare_folder()?;
        if let Some(module) = self.read(&engine) {
            return Ok(module);
        }
        let lock_path = self.folder.join("lock");
        let lock = File::create(&lock_path).and_then(|file| file.lock().map(|()| file));
        let _lock = lock.map_err(|source| WarmupError::Cache { path: lock_path, source })?;
        // Another process may have compiled it while this one waited.
        if let Some(module) = self.read(&engine) {
            return Ok(module);
        }
        let _progress = before_compiling();
        let module = OcctKernel::compile(&engine).map_err(|error| WarmupError::Compile(error.to_string()))?;
        let bytes = module.serialize().map_err(|error| WarmupError::Compile(error.to_string()))?;
        let unfinished = self.folder.join("unfinished");
        fs::write(&unfinished, bytes)
            .and_then(|()| fs::rename(&unfinished, self.path()))
            .map_err(|source| WarmupError::Cache { path: self.path(), source })?;
        Ok(module)
    }

    fn prepare_folder(&self) -> Result<(), WarmupError> {
        let failed = |source| WarmupError::Cache { path: self.folder.clone(), source };
        if !self.folder.is_dir() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(failed)?;
        }
        let about = fs::metadata(&self.folder).map_err(failed)?;
        let this_user = fs::metadata("/proc/self").map_err(failed)?.uid();
        if about.uid() != this_user || about.mode() & 0o022 != 0 {
            return Err(WarmupError::NotPrivate { path: self.folder.clone() });
        }
        Ok(())
    }

    /// Reads the module; a file of another version or machine is the same as none.
    fn read(&self, engine: &Engine) -> Option<Module> {
        let path = self.path();
        path.is_file().then(|| deserialize(engine, &path)).flatten()
    }
}

#[expect(unsafe_code, reason = "the file is machine code; only this user can write to the folder it lies in")]
fn deserialize(engine: &Engine, path: &Path) -> Option<Module> {
    // SAFETY: `prepare_folder` made sure that no other user can have written the file, and this program writes nothing
    // but what `Module::serialize` gave, under another name first.
    unsafe { Module::deserialize_file(engine, path) }.ok()
}

fn engine() -> Result<Engine, WarmupError> {
    let mut config = OcctKernel::engine_config();
    // Only backtraces would need them, and the file is smaller without.
    config.generate_address_map(false);
    config.native_unwind_info(false);
    Engine::new(&config).map_err(|error| WarmupError::Compile(error.to_string()))
}
