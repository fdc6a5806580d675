//! The engine with real processes.

mod attempt;
mod attempt_end;
mod cgroup;
mod hostile_sandbox;
mod hub;
mod hub_server;
mod hub_web;
mod launcher;
mod limits;
mod metrics;
mod planner;
mod plans;
mod sandbox;
mod scanner;
mod stage;
mod start;
mod users;
mod workplace;
