//! What goes into a step: its input with references filled in from what came before.

use serde_json::{Map, Value};

use super::machine::Run;
use super::report::{ErrorKind, StepError};
use super::step::Settled;
use crate::plan::{StepIndex, fill_step};

impl Run {
    /// Returns the input of a step, or of what stands in for it, with every reference filled in.
    pub fn input(&self, step: StepIndex) -> Result<Map<String, Value>, StepError> {
        let plan = &self.plan().steps()[step];
        let input = self.steps[step].script(plan).map_or(&plan.input, |(_, input)| input);
        let output = |step: StepIndex| self.steps[step].settled().and_then(Settled::output);
        fill_step(self.plan(), step, input, &output)
            .map_err(|error| StepError::new(ErrorKind::ToolExecutionFailed, error.to_string()))
    }
}
