//! Random combinations of solids on an integer grid, where faces often touch, against volumes computed without any kernel.
//! `ARTEL_CAD_LONG=1` runs many more of them.

use artel_cad::geometry::{Motion, Vec3};
use artel_cad::kernel::{BooleanKind, Kernel as _, KernelError, Primitive};

use crate::csg::{Csg, build};
use crate::serve::kernel;

/// Everything lies in a cube of this size.
const SIZE: i64 = 12;
/// Columns for each unit of length; boxes end between columns, so theirs are exact.
const COLUMNS: i64 = 12;
/// How far the sum over columns may be from the truth, relative to the cube's volume: the wrong results that kernels give
/// are missing or surplus pieces, which are larger.
const TRUTH_TOLERANCE: f64 = 0.002;

/// A small generator of numbers that are the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap() % limit
    }

    fn float(&mut self, from: i64, limit: i64) -> f64 {
        (from + self.below(limit)) as f64
    }
}

#[derive(Clone, Copy, Debug)]
enum Solid {
    Box {
        at: [f64; 3],
        size: [f64; 3],
    },
    /// Along the x, y or z axis (0, 1, 2).
    Cylinder {
        along: usize,
        at: [f64; 3],
        radius: f64,
        height: f64,
    },
    Ball {
        at: [f64; 3],
        radius: f64,
    },
}

impl Solid {
    fn random(numbers: &mut Numbers, kinds: i64) -> Self {
        let corner = |numbers: &mut Numbers| [0, 1, 2].map(|_| numbers.float(0, SIZE - 5));
        match numbers.below(kinds) {
            0 => Self::Box { at: corner(numbers), size: [0, 1, 2].map(|_| numbers.float(1, 5)) },
            1 => {
                let along = if kinds > 2 { usize::try_from(numbers.below(3)).unwrap() } else { 2 };
                let mut at = [0, 1, 2].map(|_| numbers.float(3, SIZE - 6));
                at[along] = numbers.float(0, SIZE - 5);
                Self::Cylinder { along, at, radius: numbers.float(1, 3), height: numbers.float(1, 5) }
            }
            _ => {
                Self::Ball { at: [0, 1, 2].map(|_| numbers.float(3, SIZE - 6)), radius: numbers.float(1, 3) }
            }
        }
    }

    fn csg(&self) -> Csg {
        match *self {
            Self::Box { at: [x, y, z], size: [a, b, c] } => {
                Csg::at(Primitive::Box(Vec3::new(a, b, c)), x, y, z)
            }
            Self::Ball { at: [x, y, z], radius } => Csg::at(Primitive::Sphere { radius }, x, y, z),
            Self::Cylinder { along, at: [x, y, z], radius, height } => {
                let (axis, side) = [(Vec3::X, Vec3::Y), (Vec3::Y, Vec3::Z), (Vec3::Z, Vec3::X)][along];
                let motion = Motion::to_frame(Vec3::new(x, y, z), side, axis);
                Csg::Primitive(Primitive::Cylinder { radius, height }, motion)
            }
        }
    }

    /// Returns where the column at (x, y) is inside.
    fn column(&self, x: f64, y: f64) -> Option<[f64; 2]> {
        let within = |value: f64, from: f64, length: f64| value > from && value < from + length;
        let half = |square: f64| (square > 0.0).then(|| square.sqrt());
        match *self {
            Self::Box { at, size } => {
                (within(x, at[0], size[0]) && within(y, at[1], size[1])).then_some([at[2], at[2] + size[2]])
            }
            Self::Ball { at, radius } => {
                let half = half(radius * radius - (x - at[0]).powi(2) - (y - at[1]).powi(2))?;
                Some([at[2] - half, at[2] + half])
            }
            Self::Cylinder { along: 2, at, radius, height } => ((x - at[0]).powi(2) + (y - at[1]).powi(2)
                < radius * radius)
                .then_some([at[2], at[2] + height]),
            Self::Cylinder { along, at, radius, height } => {
                let (inside, across) = if along == 0 { (x, y - at[1]) } else { (y, x - at[0]) };
                if !within(inside, at[along], height) {
                    return None;
                }
                let half = half(radius * radius - across * across)?;
                Some([at[2] - half, at[2] + half])
            }
        }
    }
}

/// Combines sorted intervals.
fn combine(kind: BooleanKind, a: &[[f64; 2]], b: Option<[f64; 2]>) -> Vec<[f64; 2]> {
    let Some([from, to]) = b else {
        return if kind == BooleanKind::Intersect { Vec::new() } else { a.to_vec() };
    };
    match kind {
        BooleanKind::Intersect => {
            a.iter().map(|[s, e]| [s.max(from), e.min(to)]).filter(|[s, e]| s < e).collect()
        }
        BooleanKind::Subtract => {
            a.iter().flat_map(|[s, e]| [[*s, e.min(from)], [s.max(to), *e]]).filter(|[s, e]| s < e).collect()
        }
        BooleanKind::Union => {
            let mut all = a.to_vec();
            all.push([from, to]);
            all.sort_by(|p, q| p[0].total_cmp(&q[0]));
            let mut joined: Vec<[f64; 2]> = Vec::new();
            for [s, e] in all {
                match joined.last_mut() {
                    Some(last) if s <= last[1] => last[1] = last[1].max(e),
                    _ => joined.push([s, e]),
                }
            }
            joined
        }
    }
}

struct Case {
    first: Solid,
    steps: Vec<(BooleanKind, Solid)>,
}

impl Case {
    fn random(numbers: &mut Numbers, kinds: i64) -> Self {
        let first = Solid::random(numbers, kinds);
        let count = 1 + numbers.below(4);
        let kind = |number: i64| match number {
            0 => BooleanKind::Intersect,
            1 | 2 => BooleanKind::Subtract,
            _ => BooleanKind::Union,
        };
        let steps = (0..count).map(|_| (kind(numbers.below(6)), Solid::random(numbers, kinds))).collect();
        Self { first, steps }
    }

    fn csg(&self) -> Csg {
        self.steps.iter().fold(self.first.csg(), |csg, (kind, solid)| {
            Csg::Boolean(*kind, Box::new(csg), vec![solid.csg()])
        })
    }

    /// Returns the volume after the first so many steps.
    fn truth(&self, steps: usize) -> f64 {
        let mut length = 0.0;
        let at = |index: i64| (index as f64 + 0.5) / COLUMNS as f64;
        for (x, y) in (0..SIZE * COLUMNS).flat_map(|i| (0..SIZE * COLUMNS).map(move |j| (at(i), at(j)))) {
            let start: Vec<[f64; 2]> = self.first.column(x, y).into_iter().collect();
            let column = self.steps[..steps]
                .iter()
                .fold(start, |column, (kind, solid)| combine(*kind, &column, solid.column(x, y)));
            length += column.iter().map(|[from, to]| to - from).sum::<f64>();
        }
        length / (COLUMNS * COLUMNS) as f64
    }
}

/// Returns how many were right, refused and empty; a wrong one fails.
fn run(seed: u64, kinds: i64, count: usize) -> [usize; 3] {
    let (mut numbers, mut kernel) = (Numbers(seed), kernel());
    let mut counts = [0; 3];
    for index in 0..count {
        let case = Case::random(&mut numbers, kinds);
        let truth = case.truth(case.steps.len());
        let volume = kernel.scoped(|kernel| {
            let shape = build(kernel, &case.csg())?;
            kernel.volume(&shape)
        });
        match volume {
            Ok(volume) => {
                let off = (volume - truth).abs();
                let tolerance = TRUTH_TOLERANCE * (SIZE.pow(3) as f64).min(20.0 * truth.max(1.0));
                assert!(
                    off <= tolerance,
                    "case {index}: {volume}, not {truth}: {:?} {:?}",
                    case.first,
                    case.steps
                );
                counts[0] += 1;
            }
            Err(KernelError::Empty) => {
                // Nothing may be left after one of the steps only.
                let least = (1..=case.steps.len()).map(|steps| case.truth(steps)).fold(f64::MAX, f64::min);
                assert!(
                    least < 0.05,
                    "case {index}: {least} is not nothing: {:?} {:?}",
                    case.first,
                    case.steps
                );
                counts[2] += 1;
            }
            Err(KernelError::Failed(_) | KernelError::Unverified(_)) => counts[1] += 1,
            Err(other) => panic!("case {index}: {other}"),
        }
    }
    counts
}

fn cases(short: usize, long: usize) -> usize {
    if std::env::var_os("ARTEL_CAD_LONG").is_some() { long } else { short }
}

/// Checks that no more than a part of the cases is refused, and shows the numbers.
fn check(name: &str, [right, refused, empty]: [usize; 3]) {
    println!("{name}: {right} right, {refused} refused, {empty} empty");
    assert!(refused * 20 <= right + refused, "{refused} of {} were refused", right + refused);
    assert!(right > 0);
}

/// The kernel finds nothing in common between a box with a notch and a ball beside it on one side and a cylinder that passes
/// the ball on the other, and all volumes fit: only points show that it is wrong.
#[test]
fn what_the_kernel_overlooks_is_refused() {
    let case = Case {
        first: Solid::Box { at: [1.0, 3.0, 6.0], size: [4.0, 5.0, 5.0] },
        steps: vec![
            (
                BooleanKind::Subtract,
                Solid::Cylinder { along: 1, at: [6.0, 1.0, 5.0], radius: 3.0, height: 5.0 },
            ),
            (BooleanKind::Union, Solid::Ball { at: [4.0, 8.0, 3.0], radius: 2.0 }),
            (
                BooleanKind::Intersect,
                Solid::Cylinder { along: 2, at: [4.0, 6.0, 1.0], radius: 2.0, height: 3.0 },
            ),
        ],
    };
    let truth = case.truth(3);
    let mut kernel = kernel();
    let volume = kernel.scoped(|kernel| {
        let shape = build(kernel, &case.csg())?;
        kernel.volume(&shape)
    });
    match volume {
        Ok(volume) => assert!((volume - truth).abs() < 0.05 * truth, "{volume}, not {truth}"),
        Err(error) => assert!(matches!(error, KernelError::Unverified(_)), "{error}"),
    }
}

#[test]
fn random_boxes() {
    check("boxes", run(1, 1, cases(30, 400)));
}

#[test]
fn random_boxes_and_upright_cylinders() {
    check("boxes and upright cylinders", run(2, 2, cases(35, 600)));
}

#[test]
fn random_boxes_cylinders_and_spheres() {
    check("boxes, cylinders and spheres", run(3, 3, cases(35, 600)));
}
