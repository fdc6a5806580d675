//! The engine with real processes.

mod attempt;
mod attempt_end;
mod launcher;
mod limits;
mod planner;
mod sandbox;
mod stage;
mod start;
