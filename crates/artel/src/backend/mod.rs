//! Where commands do their work: on the application over this machine's data folder, or at a server through its API. Both
//! answer with the same types, so that what prints them knows no difference.

mod agents;
mod error;
mod events;
mod hubs;
mod keys;
mod local;
mod log;
mod mail;
mod offers;
mod open;
mod operator;
mod plans;
mod run_history;
mod runs;
mod skill_trail;
mod wait_for_run;

pub(crate) use agents::Telling;
pub(crate) use error::BackendError;
pub(crate) use events::EventStream;
pub(crate) use hubs::HubBackend;
pub(crate) use log::{agent_event, run_event};
pub(crate) use offers::{generation, offered_catalog};
pub(crate) use open::Backend;
pub(crate) use operator::{
    SettingsOf, change_settings, forget_data, health, reset_health_of, settings, switch,
};
pub(crate) use plans::NotBegun;
pub(crate) use runs::{is_left_over, not_commanded};
pub(crate) use skill_trail::Trailed;
pub(crate) use wait_for_run::Carried;
