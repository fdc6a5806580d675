//! The post office, with the bus that the configuration names.

use std::sync::Arc;

use artel_agents::{DeadLetterBox, Office, OfficeConfig, OfficeParts};
use artel_bus::{Bus, BusConfig, BusError, InProcessBus, RedisBus, RedisBusConfig};
use artel_engine::Clock;
use uuid::Uuid;

use super::open::POLL_MS;
use super::store::Store;
use crate::command::Context;
use crate::config::BusChoice;
use crate::failure::{Failure, chain};

/// What to do when the bus cannot be reached at the start.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BusAway {
    /// Messages stay within the process, which does not live long.
    StandIn,
    /// The bus is used as soon as it is there.
    Reconnect,
}

/// Opens the post office on a store.
pub(crate) async fn open_office(
    context: Context<'_>,
    store: &Store,
    away: BusAway,
) -> Result<Office, Failure> {
    let clock = Clock::system();
    // The bus and the office share one box, so that what neither can keep is counted together.
    let dead = DeadLetterBox::open(store.mail.clone());
    let dead_letters = Arc::new(dead.clone());
    let config = BusConfig { clock: artel_bus::Clock::new(move || clock.now()), dead_letters };
    let bus: Arc<dyn Bus> = match reach_bus(&context.config.bus.value, config.clone()).await? {
        Reached::Bus(bus) => bus,
        Reached::Away(why) => {
            // Everything that must not be lost goes through the store.
            context.output.talk(&format!("{why}; messages come a little later"));
            match (away, &context.config.bus.value) {
                (BusAway::Reconnect, BusChoice::Redis(url)) => Arc::new(
                    RedisBus::connect_later(RedisBusConfig::new(url, Uuid::new_v4(), config))
                        .map_err(|error| Failure::usage(chain(&error)))?,
                ),
                (BusAway::Reconnect | BusAway::StandIn, _) => {
                    Arc::new(InProcessBus::standing_in(config, why))
                }
            }
        }
    };
    let parts = OfficeParts {
        mail: store.mail.clone(),
        waits: store.waits.clone(),
        agents: store.agents.clone(),
        runs: store.runs.clone(),
        bus,
        clock,
    };
    let mailbox_max = context.config.quotas.value.mailbox;
    let config = OfficeConfig { poll_ms: POLL_MS, mailbox_max, ..OfficeConfig::default() };
    Ok(Office::with_dead_letters(config, parts, dead))
}

/// What came of reaching for the bus.
pub(crate) enum Reached {
    /// It is there.
    Bus(Arc<dyn Bus>),
    /// It is not, and why.
    Away(String),
}

/// Reaches for the bus; an address that is none is wrong usage.
pub(crate) async fn reach_bus(choice: &BusChoice, config: BusConfig) -> Result<Reached, Failure> {
    let url = match choice {
        BusChoice::InProcess => return Ok(Reached::Bus(Arc::new(InProcessBus::new(config)))),
        BusChoice::Redis(url) => url,
    };
    match RedisBus::connect(RedisBusConfig::new(url, Uuid::new_v4(), config)).await {
        Ok(bus) => {
            match bus.server_version().await {
                Ok(version) => tracing::info!(bus = %choice, version, "the bus is Redis"),
                Err(error) => {
                    tracing::warn!(bus = %choice, why = chain(&error), "the bus does not say its version")
                }
            }
            Ok(Reached::Bus(Arc::new(bus)))
        }
        Err(error @ (BusError::Address { .. } | BusError::StreamLength(_))) => {
            Err(Failure::usage(format!("bus `{choice}`: {}", chain(&error))))
        }
        Err(
            error @ (BusError::NoTopic | BusError::Expired | BusError::Closed | BusError::Unavailable { .. }),
        ) => Ok(Reached::Away(format!("the bus `{choice}` cannot be reached: {}", chain(&error)))),
    }
}
