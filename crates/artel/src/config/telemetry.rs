//! What `artel.toml` may say about traces: where they are sent, under which name, and how many of them.

use artel_engine::trace::SampleRatio;
use serde::Deserialize;

use super::environment::Environment;
use super::load::{Origin, Setting};
use crate::failure::Failure;

/// What artel is called where traces are collected, when nobody says otherwise.
const SERVICE_NAME: &str = "artel";
/// Where traces are sent, below the address of a collector.
const TRACES_PATH: &str = "/v1/traces";
/// Variables that say where a collector is; the first that is set counts.
const ENDPOINT_VARIABLES: [&str; 2] = ["ARTEL_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
/// The variable that says what artel is called.
const NAME_VARIABLE: &str = "OTEL_SERVICE_NAME";

/// What `[telemetry]` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TelemetryTable {
    otlp_endpoint: Option<String>,
    service_name: Option<String>,
    sample_ratio: Option<f64>,
}

/// Where traces go.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TelemetrySettings {
    /// Where they are sent; nowhere when absent.
    pub(crate) traces_url: Option<String>,
    pub(crate) service_name: String,
    pub(crate) sample_ratio: SampleRatio,
}

impl TelemetryTable {
    /// Reads the table; the environment wins over it.
    pub(super) fn settings(
        self,
        environment: &Environment,
        file: Origin,
    ) -> Result<Setting<TelemetrySettings>, Failure> {
        let named = |name: &'static str| Some((environment.get(name)?.to_owned(), Origin::Environment(name)));
        let variable = ENDPOINT_VARIABLES.into_iter().find_map(named);
        let endpoint = variable.or(self.otlp_endpoint.map(|text| (text, file)));
        let (traces_url, origin) = match endpoint {
            Some((text, origin)) => (Some(traces_url(&text, &origin)?), origin),
            None => (None, Origin::Default),
        };
        let sample_ratio = match self.sample_ratio {
            Some(ratio) => SampleRatio::try_from(ratio)
                .map_err(|error| Failure::usage(format!("`[telemetry] sample_ratio`: {error}")))?,
            None => SampleRatio::ALL,
        };
        let name = environment.get(NAME_VARIABLE).map(str::to_owned).or(self.service_name);
        let service_name = name.unwrap_or_else(|| SERVICE_NAME.to_owned());
        Ok(Setting { value: TelemetrySettings { traces_url, service_name, sample_ratio }, origin })
    }
}

fn traces_url(text: &str, origin: &Origin) -> Result<String, Failure> {
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    if !is_url || text.contains(['?', '#', ' ']) {
        return Err(Failure::usage(format!(
            "`{text}` (from {origin}) is no address of a collector of traces"
        ))
        .hint("an address is like http://127.0.0.1:4318; traces are sent to it by OTLP over HTTP"));
    }
    let base = text.trim_end_matches('/');
    Ok(if base.ends_with(TRACES_PATH) { base.to_owned() } else { format!("{base}{TRACES_PATH}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(table: &str, variables: &[(&str, &str)]) -> Result<Setting<TelemetrySettings>, Failure> {
        let table: TelemetryTable = toml::from_str(table).unwrap();
        table.settings(&Environment::of(variables), Origin::File("artel.toml".into()))
    }

    #[test]
    fn traces_are_sent_nowhere_unless_somebody_says_where() {
        assert_eq!(read("", &[]).unwrap().value.traces_url, None);
    }

    #[test]
    fn the_environment_wins_over_the_file() {
        let file = "otlp_endpoint = 'http://collector:4318/'\nservice_name = 'shop'\nsample_ratio = 0.5";
        let settings = read(file, &[]).unwrap();
        assert_eq!(settings.value.traces_url.as_deref(), Some("http://collector:4318/v1/traces"));
        assert_eq!(settings.value.service_name, "shop");
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://other"), ("OTEL_SERVICE_NAME", "x")];
        let settings = read(file, &variables).unwrap();
        assert_eq!(settings.value.traces_url.as_deref(), Some("http://other/v1/traces"));
        assert_eq!(settings.value.service_name, "x");
        assert_eq!(settings.origin, Origin::Environment("OTEL_EXPORTER_OTLP_ENDPOINT"));
        let both = [("ARTEL_OTLP_ENDPOINT", "http://own/v1/traces"), variables[0]];
        assert_eq!(read(file, &both).unwrap().value.traces_url.as_deref(), Some("http://own/v1/traces"));
    }

    #[test]
    fn what_is_no_address_and_no_ratio_is_refused() {
        for text in ["", "collector:4318", "ftp://collector", "http://collector?key=1"] {
            let table = format!("otlp_endpoint = '{text}'");
            assert_eq!(read(&table, &[]).unwrap_err().exit_code(), 2, "{text}");
        }
        assert_eq!(read("sample_ratio = 1.5", &[]).unwrap_err().exit_code(), 2);
    }
}
