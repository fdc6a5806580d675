//! What it costs to start a process and wait for its end: `posix_spawn` as the floor, the launcher without and with the
//! sandbox, one at a time and several in flight. Prints microseconds a process; asserts nothing.
//!
//! `cargo bench -p artel-engine --bench spawn -- [count] [plain|launched|sandboxed|user]`

#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![expect(clippy::disallowed_methods, reason = "it measures time, and starts processes without the launcher")]

use std::process::ExitCode;
use std::time::Instant;

use artel_engine::process::{
    ChildProcess, ClosedFiles, Launcher, LauncherConfig, LauncherProgram, Network, ProcessLimits, Profile,
    RunAs, Sandbox, SpawnRequest, Strictness, can_run_as, run_launcher_if_asked,
};

/// The user that processes of root run as.
const USER: u32 = 1_900_000_001;
const PROGRAM: &str = "/bin/true";
const ROUNDS: usize = 10;
const FLIGHTS: [usize; 3] = [1, 2, 4];

fn main() -> ExitCode {
    if let Some(code) = run_launcher_if_asked() {
        return code;
    }
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let count = arguments.next().and_then(|argument| argument.parse().ok()).unwrap_or(200);
    let only = arguments.next().unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    runtime.block_on(measure(count, &only));
    ExitCode::SUCCESS
}

/// The best of some rounds, as others use the machine too; the ways take turns.
async fn measure(count: usize, only: &str) {
    let config = LauncherConfig { program: LauncherProgram::this_program(), guard: None };
    let launcher = Launcher::start(config).await.expect("the launcher starts");
    let profile = Profile {
        read: Vec::new(),
        execute: vec!["/srv".into()],
        write: vec!["/dev/shm".into()],
        write_shared: Vec::new(),
        network: Network::Denied,
        strictness: Strictness::Enforce,
    };
    let another = RunAs::User { user: USER, group: USER, closed_files: ClosedFiles::Read };
    let mut ways = vec![
        ("plain", None),
        ("launched", Some((Sandbox::Off, RunAs::Artel))),
        ("sandboxed", Some((Sandbox::On(profile.clone()), RunAs::Artel))),
    ];
    if can_run_as(USER..=USER).is_ok() {
        ways.push(("user", Some((Sandbox::On(profile), another))));
    }
    let mut best = vec![[u128::MAX; FLIGHTS.len()]; ways.len()];
    for _ in 0..ROUNDS {
        for ((name, sandbox), best) in ways.iter().zip(&mut best) {
            for (flight, best) in FLIGHTS.iter().zip(best).filter(|_| name.contains(only)) {
                let time = match sandbox.clone() {
                    None => timed(count, *flight, || async { plain() }).await,
                    Some((sandbox, run_as)) => {
                        let launcher = launcher.clone();
                        timed(count, *flight, move || launched(launcher.clone(), sandbox.clone(), run_as))
                            .await
                    }
                };
                *best = time.min(*best);
            }
        }
    }
    println!("{:>12} {:>8} {:>8} {:>8}", "in flight", FLIGHTS[0], FLIGHTS[1], FLIGHTS[2]);
    for ((name, _), best) in ways.iter().zip(best).filter(|((name, _), _)| name.contains(only)) {
        println!("{name:>12} {:>8} {:>8} {:>8}", best[0], best[1], best[2]);
    }
}

/// Returns microseconds a process.
async fn timed<F, W>(count: usize, flight: usize, work: W) -> u128
where
    F: Future<Output = ()> + Send + 'static,
    W: Fn() -> F + Clone + Send + 'static,
{
    let began = Instant::now();
    let tasks: Vec<_> = (0..flight)
        .map(|_| {
            let work = work.clone();
            tokio::spawn(async move {
                for _ in 0..count / flight {
                    work().await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no process fails");
    }
    began.elapsed().as_micros() / count as u128
}

/// With pipes, as a script would have.
fn plain() {
    let mut command = std::process::Command::new(PROGRAM);
    command.env_clear();
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped());
    command.stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.wait().expect("the program ends");
}

async fn launched(launcher: Launcher, sandbox: Sandbox, run_as: RunAs) {
    let request = SpawnRequest {
        program: PROGRAM.into(),
        arguments: Vec::new(),
        cwd: "/".into(),
        environment: Vec::new(),
        run_as,
        sandbox,
        limits: ProcessLimits {
            cpu_s: 60,
            memory_bytes: 1 << 30,
            open_files: 256,
            processes: 64,
            file_bytes: 1 << 30,
            folder_bytes: 1 << 30,
        },
    };
    let ChildProcess { mut group, .. } = launcher.spawn(request).await.expect("the program starts");
    group.exited().await;
    group.release().await;
}
