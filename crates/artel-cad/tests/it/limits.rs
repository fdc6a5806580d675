//! Requests that ask for too much end in an error, and the next request works.

use artel_cad::geometry::{Motion, Vec3};
use artel_cad::kernel::{Job, JobRequest, KernelError, KernelProcess, KernelSettings, Outcome, Primitive};

use crate::serve::kernel_cache;

#[test]
fn memory_is_bounded_and_the_kernel_comes_back() {
    let settings = KernelSettings {
        program: env!("CARGO_BIN_EXE_artel-cad").into(),
        cache: kernel_cache(),
        time_ms: 60_000,
        // The module starts with 128 MiB.
        memory_bytes_max: 130 << 20,
    };
    let mut kernel = KernelProcess::new(settings);
    let ball = Job {
        request: JobRequest::Primitive {
            primitive: Primitive::Sphere { radius: 1.0 },
            motion: Motion::translation(Vec3::ZERO),
        },
        solids: Vec::new(),
    };
    let (_, solids) = kernel.run(&ball).unwrap();
    let motions =
        (0..200_000).map(|index| Motion::translation(Vec3::new(f64::from(index), 0.0, 0.0))).collect();
    let error = kernel.run(&Job { request: JobRequest::Place { motions }, solids }).unwrap_err();
    assert_eq!(error, KernelError::Memory { limit_bytes: 130 << 20 });
    assert!(matches!(kernel.run(&ball), Ok((Outcome::Solids(_), _))));
}
