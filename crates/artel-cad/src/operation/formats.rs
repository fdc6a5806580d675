//! Workspaces into bytes and back, in every format.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::session::Session;
use crate::entity::{Entity, EntityId, EntityKind, Shape, Solid, WorkspaceId};
use crate::error::{CadError, CadResult, Code, invalid};
use crate::file::{
    DRAWING_VIEWS, PictureSize, draw, part_names, read_stl, render, reproducible, write_glb, write_obj,
    write_png, write_stl,
};
use crate::geometry::BoundingBox;
use crate::kernel::{Fineness, Job, JobRequest, Mesh, Outcome, PartLabel};
use crate::limit::IMPORT_PARTS_MAX;
use crate::store::{Content, Put, Stored, View};

/// The formats of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Exact solids as an assembly of named parts, for other CAD programs.
    Step,
    /// Triangles.
    Stl,
    /// Triangles with names.
    Obj,
    /// Triangles with names and colors, for viewers.
    Glb,
    /// Everything that the workspace holds, to be read back.
    Json,
    /// A drawing with three views, hidden lines and dimensions.
    Svg,
    /// A shaded picture.
    Png,
}

impl Format {
    /// Finds the format by the end of a file's name.
    pub fn of_name(name: &str) -> CadResult<Self> {
        match name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "step" | "stp" => Ok(Self::Step),
            "stl" => Ok(Self::Stl),
            "obj" => Ok(Self::Obj),
            "glb" | "gltf" => Ok(Self::Glb),
            "json" => Ok(Self::Json),
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            other => {
                Err(CadError::new(Code::UnsupportedFormat, format!("`.{other}` is no format that is known"))
                    .hint("use step, stl, obj, glb, json, svg or png"))
            }
        }
    }

    /// Returns how names of such files end.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Stl => "stl",
            Self::Obj => "obj",
            Self::Glb => "glb",
            Self::Json => "json",
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}

/// What of a workspace is written, and how.
pub(super) struct Selection<'a> {
    pub(super) workspace: &'a WorkspaceId,
    pub(super) view: View,
    /// Only these; everything when empty.
    pub(super) entities: Vec<EntityId>,
    pub(super) size: PictureSize,
    /// How far triangles may be from curved faces; by the size of the whole when left out.
    pub(super) tolerance: Option<f64>,
}

/// A solid to be written.
struct Part {
    label: PartLabel,
    bytes: Vec<u8>,
    around: BoundingBox,
}

/// Writes a workspace, or some of it. Returns the bytes and how many entities are in them.
pub(super) fn write(
    session: &mut Session,
    selection: &Selection<'_>,
    format: Format,
) -> CadResult<(Vec<u8>, usize)> {
    if format == Format::Json {
        return write_json(session, selection);
    }
    let parts = parts(session, selection)?;
    let around = parts.iter().map(|part| part.around).reduce(BoundingBox::union);
    let around = around
        .ok_or_else(|| invalid("there are no solids to write").hint("make some first, or write json"))?;
    let count = parts.len();
    let bytes = match format {
        Format::Step => write_step(session, selection, parts)?,
        Format::Svg => write_svg(session, selection, &parts, &around)?,
        Format::Stl | Format::Obj | Format::Glb | Format::Png | Format::Json => {
            let meshes = meshes(session, selection, parts, &around)?;
            triangles(meshes, selection, format)
        }
    };
    Ok((bytes, count))
}

fn parts(session: &mut Session, selection: &Selection<'_>) -> CadResult<Vec<Part>> {
    let stored = match selection.entities.is_empty() {
        true => session.store.entities(&selection.view, &[EntityKind::Solid])?,
        false => session.stored(&selection.view, &selection.entities)?,
    };
    let mut parts = Vec::new();
    for one in stored {
        let Shape::Solid(Solid { measure, color, .. }) = &one.entity.shape else {
            return Err(invalid(format!("`{}` is a {}, not a solid", one.id, one.entity.kind().word())));
        };
        let name = one.entity.name.clone().unwrap_or_else(|| one.id.to_string());
        let label = PartLabel { name, color: *color };
        parts.push(Part { label, bytes: session.store.blob(one.version)?, around: measure.bounding_box });
    }
    Ok(parts)
}

fn write_step(session: &mut Session, selection: &Selection<'_>, parts: Vec<Part>) -> CadResult<Vec<u8>> {
    let (labels, solids): (Vec<_>, Vec<_>) = parts.into_iter().map(|part| (part.label, part.bytes)).unzip();
    let request = JobRequest::WriteStep { name: selection.workspace.to_string(), labels };
    let (_, files) = session.run(&Job { request, solids })?;
    let text = files.into_iter().next().unwrap_or_default();
    Ok(reproducible(&String::from_utf8_lossy(&text)).into_bytes())
}

fn write_svg(
    session: &mut Session,
    selection: &Selection<'_>,
    parts: &[Part],
    around: &BoundingBox,
) -> CadResult<Vec<u8>> {
    let solids = parts.iter().map(|part| part.bytes.clone()).collect();
    let request = JobRequest::Project(DRAWING_VIEWS.to_vec());
    let unexpected = || CadError::new(Code::InternalError, "the kernel's answer does not fit the question");
    let (Outcome::Projections(projections), _) = session.run(&Job { request, solids })? else {
        return Err(unexpected());
    };
    let projections = projections.try_into().map_err(|_| unexpected())?;
    let title = match parts {
        [part] => part.label.name.clone(),
        _ => selection.workspace.to_string(),
    };
    Ok(draw(&title, &projections, around).into_bytes())
}

fn meshes(
    session: &mut Session,
    selection: &Selection<'_>,
    parts: Vec<Part>,
    around: &BoundingBox,
) -> CadResult<Vec<(PartLabel, Mesh)>> {
    let distance = selection.tolerance.unwrap_or_else(|| (around.size().length() / 2_000.0).max(1e-3));
    let fineness = Fineness { distance, angle: 0.25 };
    let (labels, solids): (Vec<_>, Vec<_>) = parts.into_iter().map(|part| (part.label, part.bytes)).unzip();
    let (_, files) = session.run(&Job { request: JobRequest::Mesh(fineness), solids })?;
    let meshes: Option<Vec<Mesh>> = files.iter().map(|bytes| Mesh::from_bytes(bytes)).collect();
    let meshes =
        meshes.ok_or_else(|| CadError::new(Code::InternalError, "the kernel's mesh cannot be read"))?;
    Ok(labels.into_iter().zip(meshes).collect())
}

fn triangles(meshes: Vec<(PartLabel, Mesh)>, selection: &Selection<'_>, format: Format) -> Vec<u8> {
    match format {
        Format::Stl => write_stl(&meshes.into_iter().map(|(_, mesh)| mesh).collect::<Vec<_>>()),
        Format::Obj => {
            let named: Vec<(String, Mesh)> =
                meshes.into_iter().map(|(label, mesh)| (label.name, mesh)).collect();
            write_obj(&named).into_bytes()
        }
        Format::Glb => write_glb(&meshes),
        Format::Png | Format::Step | Format::Svg | Format::Json => {
            let colored: Vec<_> = meshes.into_iter().map(|(label, mesh)| (label.color, mesh)).collect();
            let pixels = render(&colored, &DRAWING_VIEWS[3], selection.size);
            write_png(selection.size.width, selection.size.height, &pixels)
        }
    }
}

/// An entity in a JSON file.
#[derive(Debug, Serialize, Deserialize)]
struct FileEntity {
    entity_id: EntityId,
    entity: Entity,
    /// The bytes of a solid or mesh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes_base64: Option<String>,
}

/// A workspace as a JSON file.
#[derive(Debug, Serialize, Deserialize)]
struct WorkspaceFile {
    format: String,
    version: u32,
    entities: Vec<FileEntity>,
}

const FILE_FORMAT: &str = "artel-cad workspace";

fn write_json(session: &mut Session, selection: &Selection<'_>) -> CadResult<(Vec<u8>, usize)> {
    let stored: Vec<Stored> = match selection.entities.is_empty() {
        true => {
            let versions = session.store.versions(&selection.view)?;
            let read = |(id, reference): (&EntityId, &crate::store::VersionRef)| {
                session.store.version(id, reference.version)
            };
            versions.iter().map(read).collect::<CadResult<_>>()?
        }
        false => session.stored(&selection.view, &selection.entities)?,
    };
    let mut entities = Vec::new();
    for one in stored {
        let has_bytes = matches!(one.entity.shape, Shape::Solid(_) | Shape::Mesh { .. });
        let bytes_base64 = match has_bytes {
            true => Some(STANDARD.encode(session.store.blob(one.version)?)),
            false => None,
        };
        entities.push(FileEntity { entity_id: one.id, entity: one.entity, bytes_base64 });
    }
    let count = entities.len();
    let file = WorkspaceFile { format: FILE_FORMAT.to_owned(), version: 1, entities };
    let mut bytes = serde_json::to_vec(&file).map_err(|error| {
        CadError::new(Code::InternalError, format!("the file cannot be written: {error}"))
    })?;
    bytes.push(b'\n');
    Ok((bytes, count))
}

fn failed(message: impl Into<String>) -> CadError {
    CadError::new(Code::ImportFailed, message)
}

/// Reads a file into entities that can be written to a workspace.
pub(super) fn read(session: &mut Session, format: Format, name: &str, bytes: &[u8]) -> CadResult<Vec<Put>> {
    match format {
        Format::Step => read_step(session, bytes),
        Format::Json => read_json(session, bytes),
        Format::Stl => {
            let mesh =
                read_stl(bytes).map_err(|error| failed(format!("`{name}` cannot be read: {error}")))?;
            let bounding_box = mesh.bounding_box().ok_or_else(|| failed("it has no triangles"))?;
            let (triangles, is_watertight) = (mesh.triangles.len(), mesh.is_watertight());
            let shape = Shape::Mesh { triangles, bounding_box, is_watertight };
            let entity = Entity { name: Some(name.to_owned()), shape };
            Ok(vec![Put { id: None, content: Content::New(Box::new(entity), Some(bytes.to_vec())) }])
        }
        Format::Obj | Format::Glb | Format::Svg | Format::Png => {
            let message = format!("`{}` files are written, not read", format.ending());
            Err(CadError::new(Code::UnsupportedFormat, message).hint("import step, json or stl"))
        }
    }
}

fn read_step(session: &mut Session, bytes: &[u8]) -> CadResult<Vec<Put>> {
    let text = std::str::from_utf8(bytes).map_err(|_| failed("the file is not text"))?;
    if !text.trim_start().starts_with("ISO-10303-21") {
        return Err(failed("the file is no STEP file: it does not start with ISO-10303-21"));
    }
    let names = part_names(text);
    let made = session.make(JobRequest::ReadStep, vec![bytes.to_vec()]).map_err(|error| {
        let is_content = matches!(error.code, Code::TopologyError | Code::OperationInvalid);
        if is_content { failed(format!("the file has no usable solids: {}", error.message)) } else { error }
    })?;
    if made.is_empty() || made.len() > IMPORT_PARTS_MAX {
        return Err(failed(format!(
            "the file has {} solids; 1 to {IMPORT_PARTS_MAX} can be read",
            made.len()
        )));
    }
    let is_named = names.len() == made.len();
    Ok(made
        .into_iter()
        .enumerate()
        .map(|(index, (measure, bytes))| {
            let solid =
                Solid { measure, made_by: "file.import".to_owned(), made_of: Vec::new(), color: None };
            let name = if is_named { names[index].clone() } else { format!("part {}", index + 1) };
            let entity = Entity { name: Some(name), shape: Shape::Solid(solid) };
            Put { id: None, content: Content::New(Box::new(entity), Some(bytes)) }
        })
        .collect())
}

fn read_json(session: &mut Session, bytes: &[u8]) -> CadResult<Vec<Put>> {
    let file: WorkspaceFile = serde_json::from_slice(bytes)
        .map_err(|error| failed(format!("the file is no workspace: {error}")))?;
    if file.format != FILE_FORMAT || file.version != 1 {
        return Err(failed("the file is no workspace of this version").hint("export one with format json"));
    }
    let mut puts = Vec::new();
    for one in file.entities {
        let mut entity = one.entity;
        let bytes = match one.bytes_base64 {
            Some(text) => Some(
                STANDARD
                    .decode(text)
                    .map_err(|_| failed(format!("`{}` has bytes that are not base64", one.entity_id)))?,
            ),
            None => None,
        };
        if let Shape::Solid(solid) = &mut entity.shape {
            // What the file says about a solid is not believed: the kernel reads and measures it.
            let solids = bytes.iter().cloned().collect();
            let (measure, _) = session
                .make_one(JobRequest::Read, solids)
                .map_err(|error| failed(format!("`{}` is no solid: {}", one.entity_id, error.message)))?;
            solid.measure = measure;
        }
        puts.push(Put { id: Some(one.entity_id), content: Content::New(Box::new(entity), bytes) });
    }
    Ok(puts)
}

/// Returns what an import brought, for the answer.
pub(super) fn summary(ids: &[EntityId], puts: &[Put]) -> Value {
    let names: Vec<Value> = ids
        .iter()
        .zip(puts)
        .map(|(id, put)| match &put.content {
            Content::New(entity, _) => {
                json!({"entity_id": id, "entity_type": entity.kind(), "name": entity.name})
            }
            Content::Existing(_) | Content::Changed(..) => json!({"entity_id": id}),
        })
        .collect();
    json!(names)
}
