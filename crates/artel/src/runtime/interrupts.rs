//! Somebody presses Ctrl-C, or asks the process to end.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Failure;

/// Tells when somebody wants an end.
pub(crate) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupts {
    /// Begins to listen; from then on the process does not end by itself.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| Failure::missing(format!("cannot listen for signals: {error}")))
        };
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    /// Begins to listen for SIGHUP, which then does not end the process: a server reads its configuration again.
    pub(crate) fn hangups() -> Result<Signal, Failure> {
        signal(SignalKind::hangup())
            .map_err(|error| Failure::missing(format!("cannot listen for signals: {error}")))
    }

    /// Waits until somebody wants an end.
    pub(crate) async fn next(&mut self) {
        let heard = tokio::select! {
            heard = self.interrupt.recv() => heard,
            heard = self.terminate.recv() => heard,
        };
        if heard.is_none() {
            // Nothing more is ever heard.
            std::future::pending::<()>().await;
        }
    }
}
