//! Solids whose volume and area are known from formulas, built by both kernels.

use std::f64::consts::{PI, TAU};

use artel_cad::geometry::{Arc, Curve, Motion, NamedCurve, Region, Vec3};
use artel_cad::kernel::{Axis, Kernel, KernelError, Primitive};

use crate::csg::{Csg, build};
use crate::second_kernel::SecondKernel;
use crate::serve::kernel;

struct Case {
    name: String,
    csg: Csg,
    volume: f64,
    /// Unknown where no short formula gives it.
    area: Option<f64>,
    /// How far volume and area may be off, relative: where faces end in curves that are no circles or lines, the first
    /// kernel integrates numerically.
    tolerance: f64,
}

const EXACT: f64 = 1e-6;
/// The promise for everything else.
const NEAR: f64 = 1e-3;

fn case(name: impl Into<String>, csg: Csg, volume: f64, area: Option<f64>) -> Case {
    Case { name: name.into(), csg, volume, area, tolerance: EXACT }
}

fn block(x: f64, y: f64, z: f64) -> Csg {
    block_at([x, y, z], [0.0; 3])
}

fn block_at([x, y, z]: [f64; 3], [a, b, c]: [f64; 3]) -> Csg {
    Csg::at(Primitive::Box(Vec3::new(x, y, z)), a, b, c)
}

fn cylinder_at(radius: f64, height: f64, [x, y, z]: [f64; 3]) -> Csg {
    Csg::at(Primitive::Cylinder { radius, height }, x, y, z)
}

fn along_x(radius: f64, height: f64, [x, y, z]: [f64; 3]) -> Csg {
    let motion = Motion::to_frame(Vec3::new(x, y, z), Vec3::Y, Vec3::X);
    Csg::Primitive(Primitive::Cylinder { radius, height }, motion)
}

fn ball_at(radius: f64, [x, y, z]: [f64; 3]) -> Csg {
    Csg::at(Primitive::Sphere { radius }, x, y, z)
}

fn polygon(points: &[[f64; 2]]) -> Vec<NamedCurve> {
    let at = |[x, y]: [f64; 2]| Vec3::new(x, y, 0.0);
    (0..points.len())
        .map(|i| {
            let curve = Curve::Line { start: at(points[i]), end: at(points[(i + 1) % points.len()]) };
            (format!("line_{i}"), curve)
        })
        .collect()
}

fn circle(x: f64, y: f64, radius: f64) -> NamedCurve {
    (format!("circle_{x}_{y}"), Curve::Circle { center: Vec3::new(x, y, 0.0), normal: Vec3::Z, radius })
}

fn extrude(curves: &[NamedCurve], height: f64) -> Csg {
    Csg::Extrude(Region::from_curves(curves).unwrap(), Vec3::Z * height)
}

fn revolve(points: &[[f64; 2]], radians: f64) -> Csg {
    let axis = Axis { origin: Vec3::ZERO, direction: Vec3::Y };
    Csg::Revolve(Region::from_curves(&polygon(points)).unwrap(), axis, radians)
}

fn primitives() -> Vec<Case> {
    let mut cases = Vec::new();
    for [x, y, z] in [[1.0, 1.0, 1.0], [100.0, 80.0, 20.0], [0.1, 500.0, 3.0], [33.3, 7.7, 1.1]] {
        cases.push(case(
            format!("box {x} {y} {z}"),
            block(x, y, z),
            x * y * z,
            Some(2.0 * (x * y + y * z + z * x)),
        ));
    }
    for (r, h) in [(1.0, 1.0), (5.0, 40.0), (50.0, 0.5), (0.25, 100.0)] {
        let area = TAU * r * (r + h);
        cases.push(case(
            format!("cylinder {r} {h}"),
            cylinder_at(r, h, [3.0, 4.0, 5.0]),
            PI * r * r * h,
            Some(area),
        ));
    }
    for r in [0.5, 10.0, 250.0] {
        cases.push(case(
            format!("sphere {r}"),
            ball_at(r, [0.0; 3]),
            4.0 / 3.0 * PI * r.powi(3),
            Some(4.0 * PI * r * r),
        ));
    }
    for (a, b, h) in [(10.0, 0.0, 30.0), (10.0, 5.0, 20.0), (2.0, 8.0, 3.0)] {
        let slant = f64::hypot(a - b, h);
        let volume = PI * h / 3.0 * (a * a + a * b + b * b);
        let area = PI * (a * a + b * b + (a + b) * slant);
        cases.push(case(
            format!("cone {a} {b} {h}"),
            Csg::at(Primitive::Cone { bottom: a, top: b, height: h }, 0.0, 0.0, 0.0),
            volume,
            Some(area),
        ));
    }
    for (major, minor) in [(10.0, 2.0), (50.0, 20.0)] {
        cases.push(case(
            format!("torus {major} {minor}"),
            Csg::at(Primitive::Torus { major, minor }, 1.0, 2.0, 3.0),
            2.0 * PI * PI * major * minor * minor,
            Some(4.0 * PI * PI * major * minor),
        ));
    }
    cases
}

fn extrusions() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in 3..=12_u32 {
        let r = 10.0;
        let points: Vec<[f64; 2]> = (0..n)
            .map(|i| (TAU * f64::from(i) / f64::from(n)).sin_cos())
            .map(|(s, c)| [r * c, r * s])
            .collect();
        let side = 2.0 * r * (PI / f64::from(n)).sin();
        let base = 0.5 * f64::from(n) * r * r * (TAU / f64::from(n)).sin();
        let area = 2.0 * base + f64::from(n) * side * 7.0;
        cases.push(case(
            format!("prism of {n} sides"),
            extrude(&polygon(&points), 7.0),
            base * 7.0,
            Some(area),
        ));
    }
    let l_shape = [[0.0, 0.0], [40.0, 0.0], [40.0, 10.0], [10.0, 10.0], [10.0, 30.0], [0.0, 30.0]];
    cases.push(case("L profile", extrude(&polygon(&l_shape), 5.0), 600.0 * 5.0, Some(1200.0 + 140.0 * 5.0)));
    let ring = [circle(0.0, 0.0, 10.0), circle(0.0, 0.0, 6.0)];
    let (base, around) = (PI * 64.0, TAU * 16.0);
    cases.push(case("ring", extrude(&ring, 3.0), base * 3.0, Some(2.0 * base + around * 3.0)));
    let slot = slot_outline(30.0, 5.0);
    let (base, around) = (30.0 * 10.0 + PI * 25.0, 60.0 + TAU * 5.0);
    cases.push(case("slot", extrude(&slot, 8.0), base * 8.0, Some(2.0 * base + around * 8.0)));
    for holes in [1_u32, 4, 9, 100] {
        let side = f64::from(holes).sqrt() as u32;
        let size = f64::from(side) * 10.0;
        let mut curves = polygon(&[[0.0, 0.0], [size, 0.0], [size, size], [0.0, size]]);
        for i in 0..holes {
            curves.push(circle(5.0 + 10.0 * f64::from(i % side), 5.0 + 10.0 * f64::from(i / side), 2.0));
        }
        let base = size * size - f64::from(holes) * PI * 4.0;
        let around = 4.0 * size + f64::from(holes) * TAU * 2.0;
        let area = Some(2.0 * base + around * 4.0);
        cases.push(case(format!("plate with {holes} holes"), extrude(&curves, 4.0), base * 4.0, area));
    }
    cases
}

fn slot_outline(length: f64, radius: f64) -> Vec<NamedCurve> {
    let at = |x: f64, y: f64| Vec3::new(x, y, 0.0);
    let right = Arc::from_angles(at(length, 0.0), Vec3::Z, radius, [-PI / 2.0, PI / 2.0]).unwrap();
    let left = Arc::from_angles(at(0.0, 0.0), Vec3::Z, radius, [PI / 2.0, 1.5 * PI]).unwrap();
    [
        Curve::Line { start: at(0.0, -radius), end: at(length, -radius) },
        Curve::Arc(right),
        Curve::Line { start: at(length, radius), end: at(0.0, radius) },
        Curve::Arc(left),
    ]
    .into_iter()
    .enumerate()
    .map(|(index, curve)| (format!("curve_{index}"), curve))
    .collect()
}

fn revolutions() -> Vec<Case> {
    let mut cases = Vec::new();
    let rectangle = [[10.0, 0.0], [14.0, 0.0], [14.0, 20.0], [10.0, 20.0]];
    for degrees in [45.0_f64, 90.0, 180.0, 270.0, 360.0] {
        let radians = degrees.to_radians();
        let volume = radians * 12.0 * 80.0;
        let ends = if degrees < 360.0 { 160.0 } else { 0.0 };
        let area = radians * (20.0 * (10.0 + 14.0) + 2.0 * 4.0 * 12.0) + ends;
        cases.push(case(
            format!("tube turned by {degrees}"),
            revolve(&rectangle, radians),
            volume,
            Some(area),
        ));
    }
    let solid = [[0.0, 0.0], [5.0, 0.0], [5.0, 12.0], [0.0, 12.0]];
    cases.push(case("shaft", revolve(&solid, TAU), PI * 25.0 * 12.0, Some(TAU * 5.0 * 17.0)));
    let cone = [[0.0, 0.0], [6.0, 0.0], [0.0, 8.0]];
    cases.push(case("turned cone", revolve(&cone, TAU), PI * 36.0 * 8.0 / 3.0, Some(PI * 36.0 + PI * 60.0)));
    let stepped = [[0.0, 0.0], [10.0, 0.0], [10.0, 5.0], [6.0, 5.0], [6.0, 25.0], [0.0, 25.0]];
    let volume = PI * (100.0 * 5.0 + 36.0 * 20.0);
    cases.push(case("stepped shaft", revolve(&stepped, TAU), volume, Some(TAU * (100.0 + 50.0 + 120.0))));
    let groove = [[8.0, 0.0], [12.0, 0.0], [10.0, 3.0]];
    let sides = f64::hypot(2.0, 3.0);
    let area = TAU * (4.0 * 10.0 + sides * 11.0 + sides * 9.0);
    cases.push(case("ring with a triangular section", revolve(&groove, TAU), TAU * 10.0 * 6.0, Some(area)));
    cases
}

fn booleans() -> Vec<Case> {
    let cube = || block(10.0, 10.0, 10.0);
    let moved = |x: f64, y: f64, z: f64| block_at([10.0; 3], [x, y, z]);
    let hole = |x: f64, y: f64| cylinder_at(3.0, 30.0, [x, y, -10.0]);
    let post = PI * 9.0 * 10.0;
    vec![
        case("union with an overlap", cube().union(moved(5.0, 5.0, 5.0)), 1875.0, Some(1050.0)),
        case("union face to face", cube().union(moved(10.0, 0.0, 0.0)), 2000.0, Some(1000.0)),
        case("union of separate cubes", cube().union(moved(20.0, 0.0, 0.0)), 2000.0, Some(1200.0)),
        case("union with itself", cube().union(cube()), 1000.0, Some(600.0)),
        case("union with something inside", cube().union(block_at([4.0; 3], [3.0; 3])), 1000.0, Some(600.0)),
        case("union half a face", cube().union(moved(10.0, 5.0, 0.0)), 2000.0, Some(1100.0)),
        case("without a corner", cube().minus(vec![moved(5.0, 5.0, 5.0)]), 875.0, Some(600.0)),
        case("without something apart", cube().minus(vec![moved(20.0, 0.0, 0.0)]), 1000.0, Some(600.0)),
        case("without its half", cube().minus(vec![moved(5.0, 0.0, 0.0)]), 500.0, Some(400.0)),
        case("with a cavity", cube().minus(vec![block_at([4.0; 3], [3.0; 3])]), 936.0, Some(696.0)),
        case(
            "with a pocket",
            cube().minus(vec![block_at([6.0, 6.0, 8.0], [2.0, 2.0, 2.0])]),
            712.0,
            Some(792.0),
        ),
        case(
            "with a hole",
            cube().minus(vec![hole(5.0, 5.0)]),
            1000.0 - post,
            Some(600.0 - 18.0 * PI + 60.0 * PI),
        ),
        case(
            "with a blind hole",
            cube().minus(vec![cylinder_at(3.0, 20.0, [5.0, 5.0, 4.0])]),
            1000.0 - PI * 54.0,
            Some(600.0 + 36.0 * PI),
        ),
        case(
            "with a hole at its corner",
            cube().minus(vec![hole(0.0, 0.0)]),
            1000.0 - post / 4.0,
            Some(600.0 - 4.5 * PI - 60.0 + 15.0 * PI),
        ),
        case(
            "with a round boss",
            cube().union(cylinder_at(3.0, 5.0, [5.0, 5.0, 10.0])),
            1000.0 + 45.0 * PI,
            Some(600.0 + 30.0 * PI),
        ),
        case("common corner", cube().common(moved(5.0, 5.0, 5.0)), 125.0, Some(150.0)),
        case("common with something inside", cube().common(block_at([4.0; 3], [3.0; 3])), 64.0, Some(96.0)),
        case("common with itself", cube().common(cube()), 1000.0, Some(600.0)),
        case(
            "tube from two cylinders",
            cylinder_at(10.0, 20.0, [0.0; 3]).minus(vec![cylinder_at(6.0, 20.0, [0.0; 3])]),
            PI * 64.0 * 20.0,
            Some(TAU * 16.0 * 20.0 + 2.0 * PI * 64.0),
        ),
        case(
            "coaxial cylinders end to end",
            cylinder_at(5.0, 10.0, [0.0; 3]).union(cylinder_at(3.0, 10.0, [0.0, 0.0, 10.0])),
            PI * (250.0 + 90.0),
            Some(TAU * (50.0 + 30.0) + 50.0 * PI),
        ),
        case(
            "lens of two spheres",
            ball_at(5.0, [0.0; 3]).common(ball_at(5.0, [6.0, 0.0, 0.0])),
            PI * (4.0 * 5.0 + 6.0) * 16.0 / 12.0,
            Some(2.0 * TAU * 5.0 * 2.0),
        ),
        case(
            "half a sphere",
            ball_at(6.0, [0.0; 3]).common(block_at([20.0, 20.0, 10.0], [-10.0, -10.0, 0.0])),
            2.0 / 3.0 * PI * 216.0,
            Some(3.0 * PI * 36.0),
        ),
        case(
            "capsule",
            cylinder_at(4.0, 10.0, [0.0; 3])
                .union(ball_at(4.0, [0.0; 3]))
                .union(ball_at(4.0, [0.0, 0.0, 10.0])),
            PI * 160.0 + 4.0 / 3.0 * PI * 64.0,
            Some(TAU * 4.0 * 10.0 + 4.0 * PI * 16.0),
        ),
    ]
}

fn curved() -> Vec<Case> {
    let near = |name: &str, csg: Csg, volume: f64| Case {
        name: name.to_owned(),
        csg,
        volume,
        area: None,
        tolerance: NEAR,
    };
    let crossed = |a: f64, b: f64| common_of_cylinders(a, b);
    let upright = |r: f64| cylinder_at(r, 40.0, [0.0, 0.0, -20.0]);
    let lying = |r: f64| along_x(r, 40.0, [-20.0, 0.0, 0.0]);
    vec![
        near("equal cylinders in common", upright(5.0).common(lying(5.0)), 16.0 / 3.0 * 125.0),
        near(
            "equal cylinders crossed",
            upright(5.0).union(lying(5.0)),
            2.0 * PI * 1000.0 - 16.0 / 3.0 * 125.0,
        ),
        near("cross-drilled shaft", upright(10.0).minus(vec![lying(4.0)]), PI * 4000.0 - crossed(10.0, 4.0)),
        near("drilled ball", ball_at(10.0, [0.0; 3]).minus(vec![upright(6.0)]), 4.0 / 3.0 * PI * 512.0),
        near(
            "cone with a hole across",
            Csg::at(Primitive::Cone { bottom: 10.0, top: 5.0, height: 20.0 }, 0.0, 0.0, 0.0)
                .minus(vec![block_at([40.0, 4.0, 4.0], [-20.0, -2.0, 8.0])]),
            PI * 20.0 / 3.0 * 175.0 - cone_slot(),
        ),
    ]
}

/// Integrates what a cylinder along x with radius `b` has in common with one along z with radius `a`, which is larger.
fn common_of_cylinders(a: f64, b: f64) -> f64 {
    integrate(-b, b, |y| 2.0 * (a * a - y * y).sqrt() * 2.0 * (b * b - y * y).max(0.0).sqrt())
}

/// Integrates what the square bar has in common with the cone.
fn cone_slot() -> f64 {
    integrate(8.0, 12.0, |z| {
        let r = 10.0 - z / 4.0;
        2.0 * (2.0 * (r * r - 4.0).sqrt() + r * r * (2.0 / r).asin())
    })
}

/// Integrates by Gauss points of small pieces after a substitution that takes the square roots' ends away.
fn integrate(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (middle, half) = ((from + to) / 2.0, (to - from) / 2.0);
    let n = 20_000;
    (0..n)
        .map(|i| {
            let t = -PI / 2.0 + PI * (f64::from(i) + 0.5) / f64::from(n);
            f(middle + half * t.sin()) * half * t.cos() * PI / f64::from(n)
        })
        .sum()
}

fn cases() -> Vec<Case> {
    [primitives(), extrusions(), revolutions(), booleans(), curved()].into_iter().flatten().collect()
}

fn off(found: f64, expected: f64) -> f64 {
    (found - expected).abs() / expected.abs()
}

#[test]
fn every_solid_has_the_volume_and_area_of_its_formula() {
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let mut kernel = kernel();
    let mut problems = Vec::new();
    for case in &cases {
        let measured = kernel.scoped(|kernel| {
            let shape = build(kernel, &case.csg)?;
            kernel.measure(&shape)
        });
        match measured {
            Err(error) => problems.push(format!("{}: {error}", case.name)),
            Ok(measure) => {
                let area = case.area.map_or(0.0, |area| off(measure.surface_area, area));
                if off(measure.volume, case.volume).max(area) > case.tolerance || !measure.is_valid {
                    problems
                        .push(format!("{}: {measure:?}, not {} and {:?}", case.name, case.volume, case.area));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// What the second kernel cannot do, and why.
const SECOND_CANNOT: &[(&str, &str)] = &[];

#[test]
fn the_second_kernel_agrees() {
    let mut problems = Vec::new();
    for case in cases() {
        let built = build(&mut SecondKernel, &case.csg).and_then(|shape| SecondKernel.volume(&shape));
        let listed = SECOND_CANNOT.iter().any(|(name, _)| *name == case.name);
        match built {
            Ok(volume) if off(volume, case.volume) <= EXACT && !listed => {}
            Err(KernelError::Failed(_) | KernelError::Unverified(_)) if listed => {}
            other => problems.push(format!("{}: {other:?}, not {}", case.name, case.volume)),
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}
