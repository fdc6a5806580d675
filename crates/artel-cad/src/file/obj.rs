//! OBJ: triangles with names, as text.

use std::fmt::Write as _;

use crate::kernel::Mesh;

/// Writes named meshes.
pub fn write_obj(parts: &[(String, Mesh)]) -> String {
    let mut text = String::from("# artel-cad, millimetres\n");
    let mut first = 1;
    for (name, mesh) in parts {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "o {}", name.replace(char::is_whitespace, "_"));
        for [x, y, z] in &mesh.positions {
            let _ = writeln!(text, "v {x} {y} {z}");
        }
        for [x, y, z] in &mesh.normals {
            let _ = writeln!(text, "vn {x} {y} {z}");
        }
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|index| index + first);
            let _ = writeln!(text, "f {a}//{a} {b}//{b} {c}//{c}");
        }
        first += u32::try_from(mesh.positions.len()).unwrap_or(0);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_counted_over_all_parts() {
        let mesh = Mesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.5, 0.0]],
            normals: vec![[0.0, 0.0, 1.0]; 3],
            triangles: vec![[0, 1, 2]],
            edges: Vec::new(),
        };
        let text = write_obj(&[("a b".to_owned(), mesh.clone()), ("c".to_owned(), mesh)]);
        assert!(text.contains("o a_b\nv 0 0 0\nv 1 0 0\nv 0 1.5 0\n"));
        assert!(text.contains("f 1//1 2//2 3//3\no c\n") && text.ends_with("f 4//4 5//5 6//6\n"), "{text}");
    }
}
