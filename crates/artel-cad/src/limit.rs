//! Every limit of the program. Reaching one is an error that names it.

/// Bytes of one line on stdin, which is one request or one batch.
pub const LINE_BYTES_MAX: usize = 4 << 20;
/// Requests in one batch.
pub const BATCH_MAX: usize = 100;
/// How far a coordinate may be from the origin, in millimetres: beyond a kilometre the kernel's tolerance of 1e-7 is lost.
pub const COORDINATE_MAX: f64 = 1e6;
/// The shortest edge, smallest radius and thinnest wall, in millimetres.
pub const LENGTH_MIN: f64 = 1e-4;
/// How far apart two ends may be and still be the same point, in millimetres.
pub const JOIN_DISTANCE_MAX: f64 = 1e-6;
/// Points of one polyline.
pub const POINTS_MAX: usize = 10_000;
/// Curves of one profile.
pub const PROFILE_CURVES_MAX: usize = 2_000;
/// Tools of one boolean, and copies of one pattern.
pub const TOOLS_MAX: usize = 500;
/// Entities that one call may return.
pub const PAGE_MAX: usize = 1_000;
/// Entities of one workspace.
pub const ENTITIES_MAX: usize = 100_000;
/// Characters of a workspace id, an entity id or a name.
pub const NAME_CHARS_MAX: usize = 100;
/// Bytes of an idempotency key.
pub const KEY_BYTES_MAX: usize = 200;
/// How deep a chain of workspaces, each made from the one before, may be.
pub const BASE_DEPTH_MAX: usize = 32;
/// How long the kernel may work on one request unless the command line says otherwise.
pub const KERNEL_MS: u64 = 8_000;
/// Memory the kernel may use, in bytes.
pub const KERNEL_MEMORY_BYTES_MAX: usize = 1 << 30;
/// Bytes of one frame between this process and the kernel's.
pub const FRAME_BYTES_MAX: usize = 512 << 20;
/// Bytes of a file that is imported.
pub const IMPORT_BYTES_MAX: u64 = 64 << 20;
/// Solids that the parts of one imported file may have.
pub const IMPORT_PARTS_MAX: usize = 1_000;
/// Unknown coordinates of one sketch that is solved.
pub const SKETCH_UNKNOWNS_MAX: usize = 2_000;
/// Pairs of solids whose intersection is computed in one merge.
pub const OVERLAP_PAIRS_MAX: usize = 10_000;
