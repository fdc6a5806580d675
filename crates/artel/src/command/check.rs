//! `artel skill check`.

use artel_catalog::{Keep, visible};

use super::compose::report;
use super::context::Context;
use crate::failure::Failure;
use crate::output::Tone;

pub(crate) fn run(context: Context<'_>, names: &[String]) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    let report = report(&catalog, names);
    let output = context.output;
    if output.json {
        output.document(&report);
    } else {
        for error in &report.errors {
            let code = serde_json::to_value(error.code).expect("a code is JSON");
            let code = code.as_str().unwrap_or_default();
            output.line(&format!(
                "{}: {}",
                output.paint(&format!("error[{code}]"), Tone::Error),
                visible(&error.message)
            ));
        }
        for warning in &report.warnings {
            output.line(&format!("{}: {}", output.paint("warning", Tone::Warning), visible(warning)));
        }
        if report.valid {
            output.line(&format!("{}: these skills can be used together", output.paint("ok", Tone::Good)));
        }
    }
    if report.valid { Ok(()) } else { Err(Failure::reported()) }
}
