//! A bare tokio loop: starts a program and takes what it prints, layer after layer, some at once. Records nothing, and
//! knows nothing of plans.
//!
//! usage: tokio-loop PROGRAM AT_ONCE LAYERS TOOLS_PER_LAYER

use std::process::Stdio;
use std::sync::Arc;

use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

#[tokio::main(worker_threads = 2)]
async fn main() {
    let words: Vec<String> = std::env::args().collect();
    let [_, program, numbers @ ..] = &words[..] else { panic!("the program is missing") };
    let numbers: Vec<usize> =
        numbers.iter().map(|number| number.parse().expect("a number is expected")).collect();
    let [at_once, layers, tools] = numbers[..] else { panic!("AT_ONCE LAYERS TOOLS_PER_LAYER are missing") };
    let slots = Arc::new(Semaphore::new(at_once));
    for _ in 0..layers {
        let mut running = JoinSet::new();
        for _ in 0..tools {
            let slot = slots.clone().acquire_owned().await.expect("the slots are never closed");
            let program = program.clone();
            running.spawn(async move {
                let output = Command::new(program).stdin(Stdio::null()).output().await;
                let output = output.expect("the program starts");
                assert!(output.status.success() && !output.stdout.is_empty(), "the program failed");
                drop(slot);
            });
        }
        while let Some(result) = running.join_next().await {
            result.expect("no program fails");
        }
    }
}
