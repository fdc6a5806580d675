//! The client against servers on loopback that answer well, badly, partly, or not at all.

mod answers;
mod events;
mod stand_in;
