//! Binary glTF: named meshes with colors, for viewers. Its unit is the metre and its y points up, so one node turns and
//! scales everything.

use serde_json::{Value, json};

use crate::kernel::{Mesh, PartLabel};

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;

/// Writes labelled meshes.
pub fn write_glb(parts: &[(PartLabel, Mesh)]) -> Vec<u8> {
    let mut document = Document::default();
    for (label, mesh) in parts {
        document.add(label, mesh);
    }
    document.finish()
}

#[derive(Default)]
struct Document {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    materials: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
}

impl Document {
    fn add(&mut self, label: &PartLabel, mesh: &Mesh) {
        let bounds = |pick: fn(f32, f32) -> f32, start: f32| {
            mesh.positions.iter().fold([start; 3], |all, p| [0, 1, 2].map(|axis| pick(all[axis], p[axis])))
        };
        let (min, max) = (bounds(f32::min, f32::MAX), bounds(f32::max, f32::MIN));
        let floats =
            |list: &[[f32; 3]]| list.iter().flatten().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        let indices: Vec<u8> = mesh.triangles.iter().flatten().flat_map(|n| n.to_le_bytes()).collect();
        let count = mesh.positions.len();
        let positions = self.accessor(
            &floats(&mesh.positions),
            json!({"componentType": FLOAT, "type": "VEC3", "count": count, "min": min, "max": max}),
        );
        let normals = self.accessor(
            &floats(&mesh.normals),
            json!({"componentType": FLOAT, "type": "VEC3", "count": count}),
        );
        let triangles = self.accessor(
            &indices,
            json!({"componentType": UNSIGNED_INT, "type": "SCALAR", "count": mesh.triangles.len() * 3}),
        );
        let [r, g, b] = label.color.unwrap_or([0.7, 0.74, 0.78]);
        self.materials.push(json!({
            "pbrMetallicRoughness": {"baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.2, "roughnessFactor": 0.6}
        }));
        self.meshes.push(json!({"name": label.name, "primitives": [{
            "attributes": {"POSITION": positions, "NORMAL": normals}, "indices": triangles,
            "material": self.materials.len() - 1
        }]}));
        self.nodes.push(json!({"name": label.name, "mesh": self.meshes.len() - 1}));
    }

    fn accessor(&mut self, bytes: &[u8], mut accessor: Value) -> usize {
        self.views.push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.bytes.extend_from_slice(bytes);
        accessor["bufferView"] = json!(self.views.len() - 1);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn finish(mut self) -> Vec<u8> {
        let children: Vec<usize> = (0..self.nodes.len()).collect();
        let half = std::f64::consts::FRAC_1_SQRT_2;
        self.nodes.push(json!({
            "name": "assembly", "children": children, "rotation": [-half, 0.0, 0.0, half], "scale": [0.001, 0.001, 0.001]
        }));
        let document = json!({
            "asset": {"version": "2.0", "generator": "artel-cad"},
            "scene": 0, "scenes": [{"nodes": [self.nodes.len() - 1]}],
            "nodes": self.nodes, "meshes": self.meshes, "materials": self.materials, "accessors": self.accessors,
            "bufferViews": self.views, "buffers": [{"byteLength": self.bytes.len()}]
        });
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        let mut file = b"glTF".to_vec();
        file.extend_from_slice(&number(2));
        file.extend_from_slice(&number(12 + 8 + text.len() + 8 + self.bytes.len()));
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &self.bytes)] {
            file.extend_from_slice(&number(chunk.len()));
            file.extend_from_slice(kind);
            file.extend_from_slice(chunk);
        }
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_and_lengths_fit_together() {
        let mesh = Mesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            normals: vec![[0.0, 0.0, 1.0]; 3],
            triangles: vec![[0, 1, 2]],
            edges: Vec::new(),
        };
        let label = PartLabel { name: "lid".to_owned(), color: Some([1.0, 0.0, 0.0]) };
        let file = write_glb(&[(label, mesh)]);
        let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&file[..4], number(8)), (b"glTF".as_slice(), file.len()));
        let length = number(12);
        let document: Value = serde_json::from_slice(&file[20..20 + length]).unwrap();
        assert_eq!(document["nodes"][0]["name"], json!("lid"));
        assert_eq!(document["buffers"][0]["byteLength"], json!(3 * 12 + 3 * 12 + 12));
        assert_eq!(number(20 + length), 84);
    }
}
