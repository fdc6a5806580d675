//! Files that are never seen half written.

use std::io::Write;

use camino::Utf8Path;

/// Writes `content` beside `path` and moves it there; an existing file keeps its permissions.
pub(crate) fn write_atomically(path: &Utf8Path, content: &[u8]) -> std::io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(parent)?;
    file.write_all(content)?;
    let permissions = match path.metadata() {
        Ok(metadata) => metadata.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
