//! Agents as tables and properties: reading, spawning, the gate, trees of agents, and the state machine.

mod fuzz;
mod gate;
mod history;
mod machine;
mod reading;
mod spawning;
mod tree;
mod world;
