//! The geometry kernel: what is asked of it, the one in use, and the process it works in.

mod compiled;
mod exchange;
mod job;
mod model;
mod occt;
mod parts;
mod process;
mod verify;

pub use compiled::{ModuleCache, WarmupError};
pub use exchange::{Fineness, Mesh, PartLabel, Projection, ViewDirection};
pub use job::{EdgeChoice, FaceChoice, Job, JobRequest, Outcome, run_job};
pub use model::{Axis, BooleanKind, Kernel, KernelError, Measure, Primitive, Topology};
pub use occt::Occt;
pub use process::{KernelProcess, KernelSettings, serve_jobs};
pub use verify::{common_volume, verified_boolean};
