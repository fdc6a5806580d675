//! `artel-cad render`: a picture of a workspace or of a file, without a call.

use std::fs;
use std::path::Path;

use super::files::import_bytes;
use super::formats::{Format, Selection, write};
use super::session::{Call, Session};
use crate::clock::Stopwatch;
use crate::config::Config;
use crate::entity::WorkspaceId;
use crate::error::{CadError, CadResult, Code, bad_params};
use crate::file::PictureSize;

/// Draws a file, if there is one of this name, or a workspace; the end of `output` says whether as a picture or a drawing.
pub fn render_to(config: &Config, source: &str, output: &Path) -> CadResult<()> {
    let format = Format::of_name(&output.to_string_lossy())?;
    if !matches!(format, Format::Png | Format::Svg) {
        return Err(bad_params("a picture is a .png, a drawing an .svg"));
    }
    let workspace: WorkspaceId =
        if Path::new(source).is_file() { "main".parse()? } else { source.parse()? };
    let mut session;
    if Path::new(source).is_file() {
        let bytes = fs::read(source).map_err(|error| unusable(source, &error))?;
        session = Session::in_memory(config)?;
        let call = Call {
            workspace: &workspace,
            agent: "render",
            key: None,
            method: "file.import",
            watch: Stopwatch::start(),
        };
        import_bytes(&mut session, &call, Format::of_name(source)?, source, &bytes)?;
    } else {
        session = Session::open(config)?;
    }
    let (_, view) = session.store.view(&workspace)?;
    let size = PictureSize { width: 1200, height: 900 };
    let selection = Selection { workspace: &workspace, view, entities: Vec::new(), size, tolerance: None };
    let (bytes, _) = write(&mut session, &selection, format)?;
    fs::write(output, bytes).map_err(|error| unusable(&output.to_string_lossy(), &error))
}

fn unusable(path: &str, error: &std::io::Error) -> CadError {
    CadError::new(Code::FileNotFound, format!("`{path}` cannot be used: {error}"))
}
