//! One piece of work for the kernel as data: it can be sent to another process. Solids travel as bytes, nothing is kept
//! between two jobs.

use occt_wasm::ShapeHandle;
use serde::{Deserialize, Serialize};

use super::exchange::{self, Fineness, PartLabel, Projection, ViewDirection};
use super::model::{Axis, BooleanKind, Kernel as _, KernelError, Measure, Primitive};
use super::occt::Occt;
use super::parts;
use super::verify::{common_volume, verified_boolean};
use crate::geometry::{Motion, Region, Vec3};

/// Which edges of a solid are meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EdgeChoice {
    /// All of them.
    All,
    /// The straight ones along a direction.
    Along(Vec3),
    /// For each point, the edge that passes it.
    Near(Vec<Vec3>),
}

/// Which faces of a solid are meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FaceChoice {
    /// The flat faces that look furthest into a direction.
    Facing(Vec3),
    /// For each point, the face that it lies on.
    Near(Vec<Vec3>),
}

/// What is to be done with the solids of a job.
#[expect(missing_docs, reason = "the sentence of each variant says what its fields are")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JobRequest {
    /// Makes a solid with a formula and puts it somewhere.
    Primitive { primitive: Primitive, motion: Motion },
    /// Makes a solid by moving a region.
    Extrude { region: Region, by: Vec3 },
    /// Makes a solid by turning a region.
    Revolve { region: Region, axis: Axis, radians: f64 },
    /// Combines the first solid with the others.
    Boolean { kind: BooleanKind },
    /// Moves every solid by every motion.
    Place { motions: Vec<Motion> },
    /// Rounds edges of the one solid.
    Fillet { edges: EdgeChoice, radius: f64 },
    /// Cuts edges of the one solid off at 45 degrees.
    Chamfer { edges: EdgeChoice, distance: f64 },
    /// Hollows the one solid out, leaving faces open.
    Shell { open: FaceChoice, thickness: f64 },
    /// Reads and measures the solids.
    Read,
    /// Computes the moments of inertia of the one solid.
    Inertia,
    /// Makes triangles of every solid.
    Mesh(Fineness),
    /// Projects all solids together, once for each view.
    Project(Vec<ViewDirection>),
    /// Writes the solids as a STEP assembly with a name.
    WriteStep { name: String, labels: Vec<PartLabel> },
    /// Reads the solids of the STEP file that is given instead of a solid.
    ReadStep,
    /// Computes what pairs of solids, by their index, have in common.
    Overlaps { pairs: Vec<(usize, usize)> },
}

/// A request and the solids it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What to do.
    pub request: JobRequest,
    /// The solids, each as the kernel wrote it.
    pub solids: Vec<Vec<u8>>,
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// Solids: what is known about each; their bytes travel beside.
    Solids(Vec<Measure>),
    /// The common volume of each pair.
    Volumes(Vec<f64>),
    /// Moments around the center of mass for a density of one, in mm⁵.
    Inertia([[f64; 3]; 3]),
    /// Meshes or files, which travel beside as bytes.
    Files,
    /// A projection for each view.
    Projections(Vec<Projection>),
}

/// Does a job. Returns the outcome and the bytes of what is in it.
pub fn run_job(kernel: &mut Occt, job: &Job) -> Result<(Outcome, Vec<Vec<u8>>), KernelError> {
    kernel.scoped(|kernel| {
        if job.request == JobRequest::ReadStep {
            let text = job.solids.first().map(|bytes| String::from_utf8_lossy(bytes)).unwrap_or_default();
            let solids = exchange::read_step(kernel, &text)?;
            return finish(kernel, &solids);
        }
        let solids = job.solids.iter().map(|bytes| kernel.load(bytes)).collect::<Result<Vec<_>, _>>()?;
        match answer(kernel, &job.request, &solids)? {
            Some(answer) => Ok(answer),
            None => {
                let shapes = shapes(kernel, &job.request, &solids)?;
                finish(kernel, &shapes)
            }
        }
    })
}

type Answer = (Outcome, Vec<Vec<u8>>);

/// Answers requests that make no solids.
fn answer(
    kernel: &mut Occt,
    request: &JobRequest,
    solids: &[ShapeHandle],
) -> Result<Option<Answer>, KernelError> {
    if let JobRequest::Overlaps { pairs } = request {
        let volume = |&(a, b): &(usize, usize)| {
            let (a, b) = (input(solids, a)?, input(solids, b)?);
            kernel.scoped(|kernel| common_volume(kernel, &a, &b))
        };
        let volumes = pairs.iter().map(volume).collect::<Result<_, _>>()?;
        return Ok(Some((Outcome::Volumes(volumes), Vec::new())));
    }
    if *request == JobRequest::Inertia {
        let inertia = kernel.inertia(input(solids, 0)?)?;
        return Ok(Some((Outcome::Inertia(inertia), Vec::new())));
    }
    if let JobRequest::Mesh(fineness) = request {
        let meshes =
            solids.iter().map(|solid| exchange::mesh(kernel, *solid, fineness).map(|mesh| mesh.to_bytes()));
        return Ok(Some((Outcome::Files, meshes.collect::<Result<_, _>>()?)));
    }
    if let JobRequest::Project(views) = request {
        let all = kernel.compound(solids)?;
        let projections =
            views.iter().map(|view| exchange::project(kernel, all, view)).collect::<Result<_, _>>()?;
        return Ok(Some((Outcome::Projections(projections), Vec::new())));
    }
    if let JobRequest::WriteStep { name, labels } = request {
        let text = exchange::write_step(kernel, solids, name, labels)?;
        return Ok(Some((Outcome::Files, vec![text.into_bytes()])));
    }
    Ok(None)
}

fn input(solids: &[ShapeHandle], index: usize) -> Result<ShapeHandle, KernelError> {
    solids.get(index).copied().ok_or_else(|| KernelError::Failed(format!("the job has no solid {index}")))
}

fn shapes(
    kernel: &mut Occt,
    request: &JobRequest,
    solids: &[ShapeHandle],
) -> Result<Vec<ShapeHandle>, KernelError> {
    let shape = match request {
        JobRequest::Primitive { primitive, motion } => {
            let shape = kernel.primitive(primitive)?;
            kernel.place(&shape, motion)?
        }
        JobRequest::Extrude { region, by } => {
            let shape = kernel.extrude(region, *by)?;
            expect_volume(kernel, shape, region.area() * by.dot(region.plane.normal).abs())?
        }
        JobRequest::Revolve { region, axis, radians } => kernel.revolve(region, axis, *radians)?,
        JobRequest::Boolean { kind } => {
            let shape =
                verified_boolean(kernel, *kind, &input(solids, 0)?, solids.get(1..).unwrap_or_default())?;
            match kind {
                BooleanKind::Union => unified(kernel, shape)?,
                BooleanKind::Subtract | BooleanKind::Intersect => shape,
            }
        }
        JobRequest::Place { motions } => {
            let each = solids.iter().flat_map(|solid| motions.iter().map(move |motion| (solid, motion)));
            return each.map(|(solid, motion)| kernel.place(solid, motion)).collect();
        }
        JobRequest::Read => return Ok(solids.to_vec()),
        JobRequest::Fillet { edges, radius } => parts::fillet(kernel, input(solids, 0)?, edges, *radius)?,
        JobRequest::Chamfer { edges, distance } => {
            parts::chamfer(kernel, input(solids, 0)?, edges, *distance)?
        }
        JobRequest::Shell { open, thickness } => parts::shell(kernel, input(solids, 0)?, open, *thickness)?,
        JobRequest::Overlaps { .. }
        | JobRequest::Inertia
        | JobRequest::Mesh(_)
        | JobRequest::Project(_)
        | JobRequest::WriteStep { .. }
        | JobRequest::ReadStep => return Err(KernelError::Unsupported("make a solid of this".to_owned())),
    };
    Ok(vec![shape])
}

fn expect_volume(kernel: &mut Occt, shape: ShapeHandle, expected: f64) -> Result<ShapeHandle, KernelError> {
    let volume = kernel.volume(&shape)?.abs();
    if (volume - expected).abs() > 1e-6 * expected {
        let message = format!("the solid has {volume:.6} mm³ instead of {expected:.6} mm³");
        return Err(KernelError::Unverified(message));
    }
    Ok(shape)
}

/// Joins faces of one surface that a union left split, unless that changes the solid.
fn unified(kernel: &mut Occt, shape: ShapeHandle) -> Result<ShapeHandle, KernelError> {
    let before = kernel.volume(&shape)?;
    let joined = kernel.kernel.unify_same_domain(shape);
    let Ok(joined) = kernel.check(joined) else { return Ok(shape) };
    let same = (kernel.volume(&joined)? - before).abs() <= 1e-9 * before && kernel.is_valid(&joined)?;
    Ok(if same { joined } else { shape })
}

/// Measures and writes the results; whatever is no valid solid is refused.
fn finish(kernel: &mut Occt, shapes: &[ShapeHandle]) -> Result<(Outcome, Vec<Vec<u8>>), KernelError> {
    let mut measures = Vec::with_capacity(shapes.len());
    let mut written = Vec::with_capacity(shapes.len());
    for shape in shapes {
        let mut shape = parts::unwrapped(kernel, *shape)?;
        if kernel.volume(&shape)? < 0.0 {
            let reversed = kernel.kernel.reverse_shape(shape);
            shape = kernel.check(reversed)?;
        }
        let measure = kernel.measure(&shape)?;
        if measure.topology.solid_count == 0 || measure.volume <= 0.0 {
            return Err(KernelError::Empty);
        }
        if !measure.is_valid {
            return Err(KernelError::Unverified(
                "the kernel's own check finds faults in the result".to_owned(),
            ));
        }
        measures.push(measure);
        written.push(kernel.save(shape)?);
    }
    Ok((Outcome::Solids(measures), written))
}
