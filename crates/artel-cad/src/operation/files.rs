//! Files in and out. Their names are below one folder; nothing else of the disk can be reached.

use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::checks::length;
use super::formats::{Format, Selection, read, summary, write};
use super::session::{Call, Session};
use crate::entity::EntityId;
use crate::error::{CadError, CadResult, Code, bad_params};
use crate::file::PictureSize;
use crate::limit::{IMPORT_BYTES_MAX, NAME_CHARS_MAX, TOOLS_MAX};
use crate::rpc::{Access, Method};
use crate::store::Change;

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![
        Method::new(
            "file.export",
            Access::Reads,
            "Writes a workspace, or some of its solids, as step, stl, obj, glb, json, svg (drawing) or png (picture).",
            r#"{"format": "step", "path": "housing.step"}"#,
            export,
        ),
        Method::new(
            "file.import",
            Access::Writes,
            "Reads a step or json file into the workspace, or an stl file as a mesh to compare with.",
            r#"{"path": "housing.step"}"#,
            import,
        ),
        Method::new(
            "file.delete",
            Access::Reads,
            "Deletes a file that was exported.",
            r#"{"path": "housing.step"}"#,
            delete,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExportParams {
    /// The format; the end of `path` says it when left out.
    format: Option<Format>,
    /// Where to, below the folder of files; the workspace's name when left out.
    #[serde(alias = "file_path", alias = "filename")]
    path: Option<String>,
    /// Only these solids; everything when left out.
    #[serde(default)]
    entity_ids: Vec<EntityId>,
    /// How far triangles may be from curved faces, in millimetres; a 2000th of the size when left out.
    tolerance: Option<f64>,
    /// The width of a picture in pixels.
    #[serde(default = "default_width")]
    #[schemars(range(min = 16, max = 4096))]
    width: u32,
    /// The height of a picture in pixels.
    #[serde(default = "default_height")]
    #[schemars(range(min = 16, max = 4096))]
    height: u32,
}

fn default_width() -> u32 {
    1200
}

fn default_height() -> u32 {
    900
}

fn export(session: &mut Session, call: &Call<'_>, params: ExportParams) -> CadResult<Value> {
    let format = match (params.format, &params.path) {
        (Some(format), _) => format,
        (None, Some(path)) => Format::of_name(path)?,
        (None, None) => return Err(bad_params("give `format` or `path`")),
    };
    if !(16..=4096).contains(&params.width) || !(16..=4096).contains(&params.height) {
        return Err(bad_params("`width` and `height` are from 16 to 4096 pixels"));
    }
    if params.entity_ids.len() > TOOLS_MAX {
        return Err(bad_params(format!("{} entities, {TOOLS_MAX} is the limit", params.entity_ids.len())));
    }
    let path = params.path.unwrap_or_else(|| format!("{}.{}", call.workspace, format.ending()));
    let file = below(session.files(), &path)?;
    let selection = Selection {
        workspace: call.workspace,
        view: session.view(call)?,
        entities: params.entity_ids,
        size: PictureSize { width: params.width, height: params.height },
        tolerance: params.tolerance.map(|value| length("tolerance", value)).transpose()?,
    };
    let (bytes, count) = write(session, &selection, format)?;
    save(&file, &bytes).map_err(|error| unusable(&file, &error))?;
    let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(json!({
        "path": file, "format": format, "bytes": bytes.len(), "sha256": hash, "entity_count": count,
        "workspace_id": call.workspace
    }))
}

/// Writes under another name first, so that no half of a file is ever seen.
fn save(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let unfinished = file.with_extension("unfinished");
    fs::write(&unfinished, bytes)?;
    fs::rename(&unfinished, file)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ImportParams {
    /// The file, below the folder of files.
    #[serde(alias = "file_path", alias = "filename")]
    path: String,
    /// The format; the end of `path` says it when left out.
    format: Option<Format>,
}

fn import(session: &mut Session, call: &Call<'_>, params: ImportParams) -> CadResult<Value> {
    let format = match params.format {
        Some(format) => format,
        None => Format::of_name(&params.path)?,
    };
    let file = below(session.files(), &params.path)?;
    let bytes = load(&file)?;
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    import_bytes(session, call, format, &name, &bytes)
}

/// Reads a file's bytes into the workspace.
pub(super) fn import_bytes(
    session: &mut Session,
    call: &Call<'_>,
    format: Format,
    name: &str,
    bytes: &[u8],
) -> CadResult<Value> {
    let name: String = name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
    let view = session.view(call)?;
    let puts = read(session, format, &name, bytes)?;
    for put in &puts {
        session.refuse_taken(&view, put.id.as_ref())?;
    }
    let change = Change { puts: puts.clone(), ..Change::default() };
    session.commit(call, change, |receipt| {
        json!({
            "imported": receipt.ids.len(), "entities": summary(&receipt.ids, &puts), "entity_ids": receipt.ids,
            "workspace_id": call.workspace
        })
    })
}

fn load(file: &Path) -> CadResult<Vec<u8>> {
    let opened = fs::File::open(file).map_err(|error| unusable(file, &error))?;
    let mut bytes = Vec::new();
    opened.take(IMPORT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| unusable(file, &error))?;
    if bytes.len() as u64 > IMPORT_BYTES_MAX {
        let message = format!("`{}` has more than {} MiB", file.display(), IMPORT_BYTES_MAX >> 20);
        return Err(CadError::new(Code::ImportFailed, message));
    }
    Ok(bytes)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteParams {
    /// The file, below the folder of files.
    path: String,
}

fn delete(session: &mut Session, _: &Call<'_>, params: DeleteParams) -> CadResult<Value> {
    let file = below(session.files(), &params.path)?;
    fs::remove_file(&file).map_err(|error| unusable(&file, &error))?;
    Ok(json!({"deleted": file}))
}

fn unusable(file: &Path, error: &std::io::Error) -> CadError {
    let message = format!("`{}` cannot be used: {error}", file.display());
    CadError::new(Code::FileNotFound, message).hint("file.import reads what lies below the folder of files")
}

/// Returns a path below a folder, whatever is tried to get out of it.
fn below(folder: &Path, path: &str) -> CadResult<PathBuf> {
    let plain = Path::new(path);
    let is_inside = plain.components().all(|part| matches!(part, Component::Normal(_)));
    if path.is_empty() || path.len() > 300 || path.contains('\0') || !is_inside {
        let shown: String = path.chars().take(100).collect();
        return Err(bad_params(format!("`{shown}` is no path below the folder of files"))
            .hint("use a plain name such as `part.step`, without `..` and without a leading `/`"));
    }
    let mut at = folder.to_path_buf();
    for part in plain.components() {
        at.push(part);
        if at.is_symlink() {
            return Err(bad_params(format!("`{}` is a link, which is not followed", at.display())));
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_their_folder() {
        let folder = Path::new("/data/files");
        assert_eq!(below(folder, "a/b.step"), Ok(PathBuf::from("/data/files/a/b.step")));
        for bad in ["", "../x", "/etc/passwd", "a/../../x", "a\0b", "./../x"] {
            assert!(below(folder, bad).is_err(), "{bad:?}");
        }
    }
}
