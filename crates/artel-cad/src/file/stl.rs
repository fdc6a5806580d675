//! STL: triangles without anything else, binary when written, binary or text when read.

use std::collections::BTreeMap;

use crate::geometry::{BoundingBox, Vec3};
use crate::kernel::Mesh;

/// Writes meshes one after another as one binary STL.
pub fn write_stl(meshes: &[Mesh]) -> Vec<u8> {
    let count: usize = meshes.iter().map(|mesh| mesh.triangles.len()).sum();
    let mut bytes = b"artel-cad, millimetres".to_vec();
    bytes.resize(80, b' ');
    bytes.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    for mesh in meshes {
        for triangle in &mesh.triangles {
            let corners = triangle.map(|index| mesh.positions[index as usize]);
            let numbers = [facet_normal(&corners), corners[0], corners[1], corners[2]];
            numbers.iter().flatten().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
            bytes.extend_from_slice(&[0, 0]);
        }
    }
    bytes
}

fn facet_normal(corners: &[[f32; 3]; 3]) -> [f32; 3] {
    let at = |[x, y, z]: [f32; 3]| Vec3::new(f64::from(x), f64::from(y), f64::from(z));
    let [a, b, c] = corners.map(at);
    let normal = (b - a).cross(c - a).unit().unwrap_or(Vec3::Z);
    [normal.x as f32, normal.y as f32, normal.z as f32]
}

/// What an STL file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct StlMesh {
    /// The corners of each triangle.
    pub triangles: Vec<[[f32; 3]; 3]>,
}

impl StlMesh {
    /// Returns the box around all triangles.
    pub fn bounding_box(&self) -> Option<BoundingBox> {
        let points = self.triangles.iter().flatten();
        BoundingBox::around(points.map(|[x, y, z]| Vec3::new(f64::from(*x), f64::from(*y), f64::from(*z))))
    }

    /// Returns whether every edge belongs to two triangles that pass it in opposite directions.
    pub fn is_watertight(&self) -> bool {
        let key = |point: [f32; 3]| point.map(f32::to_bits);
        let mut edges: BTreeMap<[[u32; 3]; 2], i64> = BTreeMap::new();
        for triangle in &self.triangles {
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                let (a, b) = (key(triangle[a]), key(triangle[b]));
                if a == b {
                    continue;
                }
                let (ends, step) = if a < b { ([a, b], 1) } else { ([b, a], -1) };
                *edges.entry(ends).or_default() += step;
            }
        }
        !edges.is_empty() && edges.values().all(|count| *count == 0)
    }
}

/// Reads an STL file, or says why it is none.
pub fn read_stl(bytes: &[u8]) -> Result<StlMesh, String> {
    let count = bytes.get(80..84).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    match count {
        Some(count) if count.checked_mul(50).is_some_and(|length| length + 84 == bytes.len()) => {
            let triangles = bytes[84..].chunks_exact(50).map(|facet| {
                let number = |i: usize| {
                    let at = 12 + 4 * i;
                    f32::from_le_bytes([facet[at], facet[at + 1], facet[at + 2], facet[at + 3]])
                };
                [0, 1, 2].map(|corner| [0, 1, 2].map(|axis| number(3 * corner + axis)))
            });
            checked(triangles.collect())
        }
        _ if bytes.starts_with(b"solid") => read_text(&String::from_utf8_lossy(bytes)),
        _ => Err("it is neither a binary nor a text STL".to_owned()),
    }
}

fn read_text(text: &str) -> Result<StlMesh, String> {
    let mut corners = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(rest) = line.trim().strip_prefix("vertex") else { continue };
        let numbers: Vec<f32> = rest.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [x, y, z] => corners.push([x, y, z]),
            _ => return Err(format!("line {} has no three coordinates", index + 1)),
        }
    }
    if corners.len() % 3 != 0 {
        return Err(format!("{} corners make no triangles", corners.len()));
    }
    checked(corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect())
}

fn checked(triangles: Vec<[[f32; 3]; 3]>) -> Result<StlMesh, String> {
    if triangles.is_empty() {
        return Err("it has no triangles".to_owned());
    }
    if triangles.iter().flatten().flatten().any(|number| !number.is_finite()) {
        return Err("it has a coordinate that is not a number".to_owned());
    }
    Ok(StlMesh { triangles })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pyramid() -> Mesh {
        Mesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            normals: vec![[0.0; 3]; 4],
            triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
            edges: Vec::new(),
        }
    }

    #[test]
    fn what_is_written_is_read_back_closed() {
        let bytes = write_stl(&[pyramid()]);
        assert_eq!(bytes.len(), 84 + 4 * 50);
        let read = read_stl(&bytes).unwrap();
        assert!(read.is_watertight());
        assert_eq!(read.bounding_box().unwrap().max, Vec3::new(1.0, 1.0, 1.0));
        let mut open = pyramid();
        open.triangles.pop();
        assert!(!read_stl(&write_stl(&[open])).unwrap().is_watertight());
    }

    #[test]
    fn text_is_read_and_nonsense_refused() {
        let text = "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";
        assert_eq!(read_stl(text.as_bytes()).unwrap().triangles.len(), 1);
        assert!(read_stl(b"solid x\nvertex 1 2\n").unwrap_err().contains("line 2"));
        assert!(read_stl(b"PK").is_err());
        assert!(read_stl(&[0; 84]).unwrap_err().contains("no triangles"));
    }
}
