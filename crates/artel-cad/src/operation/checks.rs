//! Checks of numbers and names that many methods share. Messages name the parameter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{CadResult, bad_params};
use crate::geometry::Vec3;
use crate::limit::{COORDINATE_MAX, LENGTH_MIN, NAME_CHARS_MAX};

/// What angles are given in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AngleUnit {
    /// 360 for a full turn.
    #[default]
    Degrees,
    /// 2π for a full turn.
    Radians,
}

impl AngleUnit {
    /// Returns an angle in radians.
    pub(crate) fn radians(self, name: &str, angle: f64) -> CadResult<f64> {
        let limit = match self {
            Self::Degrees => 36_000.0,
            Self::Radians => 700.0,
        };
        if !angle.is_finite() || angle.abs() > limit {
            return Err(bad_params(format!("`{name}` = {angle} is not within ±{limit}")));
        }
        Ok(match self {
            Self::Degrees => angle.to_radians(),
            Self::Radians => angle,
        })
    }
}

/// Returns a length if it can be built with.
pub(crate) fn length(name: &str, value: f64) -> CadResult<f64> {
    if value.is_finite() && (LENGTH_MIN..=COORDINATE_MAX).contains(&value) {
        return Ok(value);
    }
    Err(bad_params(format!("`{name}` = {value} is not from {LENGTH_MIN} to {COORDINATE_MAX} mm")))
}

/// Returns a direction with length one.
pub(crate) fn direction(name: &str, value: Vec3) -> CadResult<Vec3> {
    value.unit().ok_or_else(|| bad_params(format!("`{name}` = {value} has no direction")))
}

/// Returns a name if it can be shown and written into files.
pub(crate) fn label(name: Option<String>) -> CadResult<Option<String>> {
    match name {
        Some(text) if text.is_empty() || text.chars().count() > NAME_CHARS_MAX => {
            Err(bad_params(format!("`name` has 1 to {NAME_CHARS_MAX} characters")))
        }
        Some(text) if text.chars().any(char::is_control) => Err(bad_params("`name` has control characters")),
        other => Ok(other),
    }
}

/// Returns a color if each part is from 0 to 1.
pub(crate) fn color(color: Option<[f64; 3]>) -> CadResult<Option<[f64; 3]>> {
    match color {
        Some(parts) if !parts.iter().all(|part| (0.0..=1.0).contains(part)) => {
            Err(bad_params("`color` is red, green and blue, each from 0 to 1"))
        }
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_positive_and_finite() {
        assert!(length("width", 1e-3).is_ok());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-5, 2e6] {
            let message = length("width", bad).unwrap_err().message;
            assert!(message.starts_with("`width` = "), "{message}");
        }
    }

    #[test]
    fn angles_say_their_unit() {
        let half = std::f64::consts::PI;
        assert_eq!(AngleUnit::Degrees.radians("angle", 180.0), Ok(half));
        assert_eq!(AngleUnit::Radians.radians("angle", half), Ok(half));
        assert!(AngleUnit::Radians.radians("angle", 720.0).is_err());
    }
}
