//! How long it takes to find the order in which skills that depend on each other must run, on skills that this program
//! makes up the same every time.
//!
//! 10,000 skills with 100,000 dependencies, and halves of that to see how the time grows. It prints numbers and judges
//! nothing.
#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use artel_model::name::SkillName;
use artel_model::registry::Registry;
use artel_model::skill::Skill;
use artel_model::version::{Dependency, Version};

const SKILLS: [usize; 4] = [1_250, 2_500, 5_000, 10_000];
const DEPENDENCIES_EACH: usize = 10;
const ROUNDS: usize = 10;

fn main() {
    println!("{:<28} {:>12} {:>12}", "skills and dependencies", "order us", "check all us");
    for count in SKILLS {
        let skills = skills(count);
        let edges: usize = skills.iter().map(|skill| skill.dependencies.len()).sum();
        let registry = Registry::of(&skills);
        let last = name(count - 1);
        let needed = registry.resolve_dependencies(&last).map(|order| order.len());
        assert_eq!(needed, Ok(count), "the last skill needs all others");
        let order = best(|| registry.resolve_dependencies(&last));
        let check = best(|| registry.dependency_problems());
        println!(
            "{:<28} {:>12} {:>12}",
            format!("{count} and {edges}"),
            order.as_micros(),
            check.as_micros()
        );
    }
}

/// Every skill needs the one before it and nine others of lower number, so the last needs all.
fn skills(count: usize) -> Vec<Arc<Skill>> {
    let mut random = Random(0x5eed);
    let skill = |number: usize| {
        let mut skill = Skill::new(name(number), Version::new(1, 0, 0), "Does its part.".to_owned());
        let others = (0..DEPENDENCIES_EACH).filter(|_| number > 0);
        let chosen = others.map(|nth| if nth == 0 { number - 1 } else { random.below(number) });
        skill.dependencies =
            chosen.map(|other| Dependency { name: name(other), requirement: None }).collect();
        Arc::new(skill)
    };
    (0..count).map(skill).collect()
}

fn name(number: usize) -> SkillName {
    format!("skill-{number:05}").parse().expect("a made-up name is valid")
}

fn best<T>(work: impl Fn() -> T) -> Duration {
    let time = |_| {
        let started = Instant::now();
        black_box(work());
        started.elapsed()
    };
    (0..ROUNDS).map(time).min().unwrap_or_default()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }
}
