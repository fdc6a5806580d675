//! Where commands ask: here, on the data folder, or there, at a server. Either way the answers are of the same types, so that
//! whoever prints them cannot tell the difference.
//!
//! Prints only what happens while something goes on.

mod agents;
mod executions;
mod hubs;
mod keys;
mod listening;
mod log;
mod mail;
mod offers;
mod operator;
mod page;
mod plans;
mod roll;
mod runs;
mod see_through;
mod skill_trail;
mod story;
mod trail;

pub(crate) use agents::{AgentDesk, Telling};
pub(crate) use hubs::HubDesk;
pub(crate) use keys::{list_keys, make_key, revoke_key};
pub(crate) use listening::Heard;
pub(crate) use mail::{MailDesk, MailRefused, Written};
pub(crate) use offers::{generation, offered_catalog};
pub(crate) use operator::{
    SettingsOf, change_settings, forget_data, health, reset_health_of, settings, switch,
};
pub(crate) use plans::{NotBegun, ask, check_plan, fresh_key, generate, run_plan, run_skill};
pub(crate) use roll::AgentRoll;
pub(crate) use runs::{CommandRefused, FoundRun, RunDesk};
pub(crate) use see_through::{Carried, carry_out, carry_out_there};
pub(crate) use skill_trail::{Trailed, skill_trail};
pub(crate) use trail::{AgentTrail, Trail};
