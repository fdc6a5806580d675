//! Files: triangles in three formats, STEP texts, drawings and pictures. Nothing here knows workspaces or the kernel's process.

mod drawing;
mod glb;
mod obj;
mod picture;
mod png;
mod step;
mod stl;

pub use drawing::{DRAWING_VIEWS, draw};
pub use glb::write_glb;
pub use obj::write_obj;
pub use picture::{PictureSize, render};
pub use png::write_png;
pub use step::{part_names, reproducible};
pub use stl::{StlMesh, read_stl, write_stl};
