//! What leaves the kernel for files and pictures: triangles, edges, projections, STEP.

use std::collections::BTreeSet;

use occt_wasm::ShapeHandle;
use serde::{Deserialize, Serialize};

use super::model::{Kernel as _, KernelError};
use super::occt::Occt;
use crate::geometry::Vec3;

/// How finely curved faces become triangles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fineness {
    /// How far a triangle may be from the face, in millimetres.
    pub distance: f64,
    /// How far neighbouring triangles may be turned, in radians.
    pub angle: f64,
}

/// A solid as triangles and edges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Corners.
    pub positions: Vec<[f32; 3]>,
    /// The direction that the face looks to at each corner.
    pub normals: Vec<[f32; 3]>,
    /// Triangles as three corners, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The edges between faces as lines through points.
    pub edges: Vec<Vec<[f32; 3]>>,
}

/// A direction to look from, and the one that is to the right then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ViewDirection {
    /// Where the eye is.
    pub from: Vec3,
    /// What is to the right.
    pub right: Vec3,
}

/// The edges of a solid seen from a direction, as lines through points of the picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    /// Edges and outlines that are seen.
    pub visible: Vec<Vec<[f64; 2]>>,
    /// Edges that lie behind something.
    pub hidden: Vec<Vec<[f64; 2]>>,
}

/// A part of an assembly in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartLabel {
    /// Its name.
    pub name: String,
    /// Red, green and blue, from 0 to 1.
    pub color: Option<[f64; 3]>,
}

/// Makes triangles of a solid.
pub(super) fn mesh(kernel: &mut Occt, shape: ShapeHandle, fineness: &Fineness) -> Result<Mesh, KernelError> {
    let mesh = kernel.kernel.tessellate(shape, fineness.distance, fineness.angle);
    let mesh = kernel.check(mesh)?;
    let lines = kernel.kernel.wireframe(shape, fineness.distance, 0);
    let lines = kernel.check(lines)?;
    let triples = |numbers: &[f32]| numbers.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect::<Vec<_>>();
    let seams = seams(kernel, shape)?;
    let edges = grouped(&lines.points, &lines.edge_groups);
    Ok(Mesh {
        positions: triples(&mesh.positions),
        normals: triples(&mesh.normals),
        triangles: mesh.indices.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
        edges: edges.into_iter().filter(|(hash, _)| !seams.contains(hash)).map(|(_, line)| line).collect(),
    })
}

/// Takes lines apart. Each group is where its numbers start, how many they are, and the hash of the edge.
fn grouped(numbers: &[f32], groups: &[i32]) -> Vec<(i32, Vec<[f32; 3]>)> {
    let mut lines = Vec::new();
    for group in groups.chunks_exact(3) {
        let (start, count) = (usize::try_from(group[0]).unwrap_or(0), usize::try_from(group[1]).unwrap_or(0));
        if let Some(line) = numbers.get(start..start + count) {
            lines.push((group[2], line.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()));
        }
    }
    lines
}

/// Returns the edges where a face meets itself: the seam of a cylinder is no edge that a person sees.
fn seams(kernel: &mut Occt, shape: ShapeHandle) -> Result<BTreeSet<i32>, KernelError> {
    let map = kernel.kernel.edge_to_face_map(shape, i32::MAX);
    let map = kernel.check(map)?;
    let mut seams = BTreeSet::new();
    let mut rest = map.as_slice();
    while let [edge, count, after @ ..] = rest {
        if *count == 1 {
            seams.insert(*edge);
        }
        rest = &after[usize::try_from(*count).unwrap_or(0).min(after.len())..];
    }
    Ok(seams)
}

/// Projects a shape with hidden lines.
pub(super) fn project(
    kernel: &mut Occt,
    shape: ShapeHandle,
    view: &ViewDirection,
) -> Result<Projection, KernelError> {
    let (d, x) = (view.from, view.right);
    let projected = kernel.kernel.project_edges(shape, 0.0, 0.0, 0.0, d.x, d.y, d.z, x.x, x.y, x.z, true);
    let projected = kernel.check(projected)?;
    let mut projection = Projection::default();
    for (handle, visible) in [
        (projected.visible_outline, true),
        (projected.visible_sharp, true),
        (projected.hidden_outline, false),
        (projected.hidden_sharp, false),
    ] {
        // A projection without such lines has no shape for them.
        if handle.id() == 0 {
            continue;
        }
        let lines = kernel.kernel.wireframe(handle, 0.02, 0);
        let lines = kernel.check(lines)?;
        let lines = grouped(&lines.points, &lines.edge_groups);
        let flat = lines
            .into_iter()
            .map(|(_, line)| line.into_iter().map(|[u, v, _]| [f64::from(u), f64::from(v)]).collect());
        if visible {
            projection.visible.extend(flat);
        } else {
            projection.hidden.extend(flat);
        }
    }
    Ok(projection)
}

/// Writes solids as one assembly of named parts.
pub(super) fn write_step(
    kernel: &mut Occt,
    solids: &[ShapeHandle],
    name: &str,
    labels: &[PartLabel],
) -> Result<String, KernelError> {
    let document = kernel.kernel.xcaf_new_document();
    let document = kernel.check(document)?;
    let text = fill_document(kernel, document, solids, name, labels);
    let closed = kernel.kernel.xcaf_close(document);
    kernel.check(closed)?;
    text
}

fn fill_document(
    kernel: &mut Occt,
    document: occt_wasm::DocumentHandle,
    solids: &[ShapeHandle],
    name: &str,
    labels: &[PartLabel],
) -> Result<String, KernelError> {
    let empty = kernel.compound(&[])?;
    let root = kernel.kernel.xcaf_add_assembly(document, empty);
    let root = kernel.check(root)?;
    let named = kernel.kernel.xcaf_set_name(document, root, name);
    kernel.check(named)?;
    for (solid, label) in solids.iter().zip(labels) {
        let part = kernel.kernel.xcaf_add_component(document, root, *solid, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        let part = kernel.check(part)?;
        let referred = kernel.kernel.xcaf_get_referred_label(document, part);
        let referred = kernel.check(referred)?;
        for target in [part, referred] {
            let named = kernel.kernel.xcaf_set_name(document, target, &label.name);
            kernel.check(named)?;
        }
        if let Some([r, g, b]) = label.color {
            let colored = kernel.kernel.xcaf_set_color(document, referred, r, g, b);
            kernel.check(colored)?;
        }
    }
    let text = kernel.kernel.xcaf_export_step(document);
    kernel.check(text)
}

/// Reads the solids of a STEP file, in their order.
pub(super) fn read_step(kernel: &mut Occt, text: &str) -> Result<Vec<ShapeHandle>, KernelError> {
    let shape = kernel.kernel.import_step(text);
    let shape = kernel.check(shape)?;
    kernel.sub_shapes(shape, "solid")
}

impl Mesh {
    /// Writes the mesh as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let count = |bytes: &mut Vec<u8>, number: usize| {
            bytes.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        };
        for list in [&self.positions, &self.normals] {
            count(&mut bytes, list.len());
            list.iter().flatten().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        }
        count(&mut bytes, self.triangles.len());
        self.triangles.iter().flatten().for_each(|index| bytes.extend_from_slice(&index.to_le_bytes()));
        count(&mut bytes, self.edges.len());
        for edge in &self.edges {
            count(&mut bytes, edge.len());
            edge.iter().flatten().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        }
        bytes
    }

    /// Reads what [`Mesh::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Words { bytes };
        let triples = |reader: &mut Words<'_>| -> Option<Vec<[f32; 3]>> {
            let count = reader.next()?;
            (0..count).map(|_| Some([reader.float()?, reader.float()?, reader.float()?])).collect()
        };
        let (positions, normals) = (triples(&mut reader)?, triples(&mut reader)?);
        let count = reader.next()?;
        let triangles = (0..count)
            .map(|_| Some([reader.next()?, reader.next()?, reader.next()?]))
            .collect::<Option<_>>()?;
        let count = reader.next()?;
        let edges = (0..count).map(|_| triples(&mut reader)).collect::<Option<_>>()?;
        Some(Self { positions, normals, triangles, edges })
    }
}

struct Words<'a> {
    bytes: &'a [u8],
}

impl Words<'_> {
    fn next(&mut self) -> Option<u32> {
        let (word, rest) = self.bytes.split_first_chunk::<4>()?;
        self.bytes = rest;
        Some(u32::from_le_bytes(*word))
    }

    fn float(&mut self) -> Option<f32> {
        self.next().map(f32::from_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mesh_comes_back_as_it_was() {
        let mesh = Mesh {
            positions: vec![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]],
            normals: vec![[0.0, 0.0, 1.0]; 2],
            triangles: vec![[0, 1, 0]],
            edges: vec![vec![[0.0; 3], [1.0; 3]], Vec::new()],
        };
        assert_eq!(Mesh::from_bytes(&mesh.to_bytes()), Some(mesh.clone()));
        assert_eq!(Mesh::from_bytes(&mesh.to_bytes()[..9]), None);
    }
}
