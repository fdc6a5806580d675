//! Every file that defines a skill, wherever it was loaded from: for whoever must see exactly what is used.

use artel_model::limit::REGISTRY_FILE_BYTES_MAX;

use super::loaded::Location;
use crate::source::{DiskTree, EmbeddedTree, FileTree, FolderLimits, MemoryTree, ReadError, read_file};

/// Returns the files that define a skill; of one out of a registry file, that file.
pub fn whole_tree(location: &Location, limits: FolderLimits) -> Result<Box<dyn FileTree>, ReadError> {
    match location {
        Location::Folder(path) => Ok(Box::new(DiskTree::with_limits(path.clone(), limits))),
        Location::RegistryFile { path, .. } => {
            let mut tree = MemoryTree::default();
            let content = read_file(path, REGISTRY_FILE_BYTES_MAX)?;
            tree.add(path.file_name().unwrap_or("skills"), content, false);
            Ok(Box::new(tree))
        }
        Location::BuiltIn(name) => {
            let tree = EmbeddedTree::find(name).ok_or_else(|| ReadError::Missing((*name).into()))?;
            Ok(Box::new(tree))
        }
    }
}
