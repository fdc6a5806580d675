//! Solids as expressions, built the same way by every kernel.

use artel_cad::geometry::{Motion, Region, Vec3};
use artel_cad::kernel::{Axis, BooleanKind, Kernel, KernelError, Primitive, verified_boolean};

#[derive(Clone, Debug)]
pub(crate) enum Csg {
    Primitive(Primitive, Motion),
    Extrude(Region, Vec3),
    Revolve(Region, Axis, f64),
    Boolean(BooleanKind, Box<Csg>, Vec<Csg>),
}

impl Csg {
    pub(crate) fn at(primitive: Primitive, x: f64, y: f64, z: f64) -> Self {
        Self::Primitive(primitive, Motion::translation(Vec3::new(x, y, z)))
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self::Boolean(BooleanKind::Union, Box::new(self), vec![other])
    }

    pub(crate) fn minus(self, others: Vec<Self>) -> Self {
        Self::Boolean(BooleanKind::Subtract, Box::new(self), others)
    }

    pub(crate) fn common(self, other: Self) -> Self {
        Self::Boolean(BooleanKind::Intersect, Box::new(self), vec![other])
    }
}

pub(crate) fn build<K: Kernel>(kernel: &mut K, csg: &Csg) -> Result<K::Shape, KernelError> {
    match csg {
        Csg::Primitive(primitive, motion) => {
            let shape = kernel.primitive(primitive)?;
            kernel.place(&shape, motion)
        }
        Csg::Extrude(region, by) => kernel.extrude(region, *by),
        Csg::Revolve(region, axis, radians) => kernel.revolve(region, axis, *radians),
        Csg::Boolean(kind, target, tools) => {
            let target = build(kernel, target)?;
            let tools = tools.iter().map(|tool| build(kernel, tool)).collect::<Result<Vec<_>, _>>()?;
            verified_boolean(kernel, *kind, &target, &tools)
        }
    }
}
