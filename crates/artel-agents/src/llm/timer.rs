//! How long a model's work may take. Time does not pass while the agent stands still.

use std::pin::pin;
use std::time::Duration;

use super::halt::Halt;
use crate::clock::now;
use crate::driver::{Control, DriverSignal};

/// Watches over the time of one piece of work, and over what the agent is told meanwhile.
pub(super) struct Timer {
    control: Control,
    deadline: Duration,
    left: Duration,
}

/// What becomes of something that goes on when the agent is told to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum AtEnd {
    /// It is dropped.
    Drop,
    /// It hears of that itself, and is waited for.
    Wait,
}

impl Timer {
    pub(super) fn new(control: Control, deadline: Duration) -> Self {
        Self { control, deadline, left: deadline }
    }

    /// Returns how much time is left.
    pub(super) fn left(&self) -> Duration {
        self.left
    }

    /// Waits until the agent may go on; not when it should end.
    pub(super) async fn may_go_on(&mut self) -> Result<(), Halt> {
        let mut signal = self.control.signal();
        loop {
            match signal {
                DriverSignal::Go => return Ok(()),
                DriverSignal::End => return Err(Halt::Ended),
                DriverSignal::Pause => signal = self.control.changed().await,
            }
        }
    }

    /// Waits until the agent is told something, but no longer than that.
    pub(super) async fn hear(&mut self, longest: Duration) {
        if self.control.signal() == DriverSignal::Go {
            // That nobody says anything is fine too.
            let _ = tokio::time::timeout(longest, self.control.changed()).await;
        }
    }

    /// Lets something go on as long as there is time for it.
    pub(super) async fn bound<T>(&mut self, work: impl Future<Output = T>, at_end: AtEnd) -> Result<T, Halt> {
        let mut work = pin!(work);
        let mut signal = self.control.signal();
        loop {
            let from = now();
            let (is_running, is_ending) = (signal != DriverSignal::Pause, signal == DriverSignal::End);
            if is_ending && at_end == AtEnd::Drop {
                return Err(Halt::Ended);
            }
            let mut done = None;
            tokio::select! {
                value = &mut work => done = Some(value),
                told = self.control.changed(), if !is_ending => signal = told,
                () = tokio::time::sleep(self.left), if is_running => {
                    return Err(Halt::Late { deadline_ms: self.deadline.as_millis() });
                }
            }
            if is_running {
                self.left = self.left.saturating_sub(now().saturating_duration_since(from));
            }
            if let Some(value) = done {
                return Ok(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;
    use tokio::time::sleep;

    use super::*;

    fn timer(seconds: u64) -> (watch::Sender<DriverSignal>, Timer) {
        let (sender, receiver) = watch::channel(DriverSignal::Go);
        (sender, Timer::new(Control::new(receiver), Duration::from_secs(seconds)))
    }

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn time_is_up_when_it_is_up() {
        let (_sender, mut timer) = timer(10);
        timer.bound(sleep(seconds(4)), AtEnd::Drop).await.unwrap();
        assert_eq!(timer.left(), seconds(6));
        let late = timer.bound(sleep(seconds(7)), AtEnd::Drop).await.unwrap_err();
        assert_eq!(late.to_string(), "it took longer than 10000 ms");
    }

    #[tokio::test(start_paused = true)]
    async fn time_stands_still_while_the_agent_does() {
        let (sender, mut timer) = timer(10);
        let pause = async {
            sleep(seconds(2)).await;
            sender.send_replace(DriverSignal::Pause);
            sleep(seconds(100)).await;
            sender.send_replace(DriverSignal::Go);
        };
        let (done, ()) = tokio::join!(timer.bound(sleep(seconds(105)), AtEnd::Drop), pause);
        done.unwrap();
        assert_eq!(timer.left(), seconds(5));
        sender.send_replace(DriverSignal::Pause);
        let resume = async {
            sleep(seconds(100)).await;
            sender.send_replace(DriverSignal::Go);
        };
        let (may, ()) = tokio::join!(timer.may_go_on(), resume);
        may.unwrap();
        assert_eq!(timer.left(), seconds(5));
    }

    #[tokio::test(start_paused = true)]
    async fn what_goes_on_is_dropped_or_waited_for_at_the_end() {
        let (sender, mut timer) = timer(10);
        sender.send_replace(DriverSignal::End);
        assert!(matches!(timer.may_go_on().await, Err(Halt::Ended)));
        assert!(matches!(timer.bound(sleep(seconds(1)), AtEnd::Drop).await, Err(Halt::Ended)));
        timer.bound(sleep(seconds(2)), AtEnd::Wait).await.unwrap();
        drop(sender);
        timer.bound(sleep(seconds(2)), AtEnd::Wait).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_nobody_can_tell_anything_ends() {
        let (sender, mut timer) = timer(10);
        sender.send_replace(DriverSignal::Pause);
        drop(sender);
        assert!(matches!(timer.may_go_on().await, Err(Halt::Ended)));
    }
}
