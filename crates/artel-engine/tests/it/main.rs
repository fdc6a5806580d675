//! The engine with real processes.

mod attempt;
mod attempt_end;
mod launcher;
mod limits;
mod metrics;
mod planner;
mod plans;
mod sandbox;
mod stage;
mod start;
mod workplace;
