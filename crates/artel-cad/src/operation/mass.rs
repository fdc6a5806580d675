//! What a solid weighs and how it resists turning.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::session::{Call, Session};
use crate::entity::EntityId;
use crate::error::{CadError, CadResult, Code, bad_params};
use crate::kernel::{Job, JobRequest, Outcome};
use crate::rpc::{Access, Method};

/// Kilograms for a cubic millimetre of a density of one kilogram for a cubic metre.
const KG_PER_MM3: f64 = 1e-9;

/// The methods of this file.
pub(super) fn methods() -> Vec<Method> {
    vec![Method::new(
        "solid.mass_properties",
        Access::Reads,
        "Returns volume, area, center of mass and moments of inertia of a solid; with a density also its mass.",
        r#"{"solid_id": "plate", "density": 7850}"#,
        mass_properties,
    )]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MassParams {
    /// The solid.
    #[serde(alias = "entity_id")]
    solid_id: EntityId,
    /// Kilograms for a cubic metre: 7850 for steel, 2700 for aluminium, 1240 for PLA.
    density: Option<f64>,
}

fn mass_properties(session: &mut Session, call: &Call<'_>, params: MassParams) -> CadResult<Value> {
    if let Some(density) = params.density
        && !(1e-3..=1e5).contains(&density)
    {
        return Err(bad_params(format!("`density` = {density} is not from 0.001 to 100000 kg/m³")));
    }
    let view = session.view(call)?;
    let (_, solid, bytes) = session.solid(&view, &params.solid_id)?;
    let (Outcome::Inertia(inertia), _) =
        session.run(&Job { request: JobRequest::Inertia, solids: vec![bytes] })?
    else {
        return Err(CadError::new(Code::InternalError, "the kernel's answer does not fit the question"));
    };
    let measure = solid.measure;
    let mut answer = json!({
        "solid_id": params.solid_id, "workspace_id": call.workspace, "volume": measure.volume,
        "surface_area": measure.surface_area, "center_of_mass": measure.center_of_mass, "inertia_mm5": inertia
    });
    if let Some(density) = params.density {
        let factor = density * KG_PER_MM3;
        answer["mass_kg"] = json!(measure.volume * factor);
        answer["inertia_kg_mm2"] = json!(inertia.map(|row| row.map(|part| part * factor)));
    }
    Ok(answer)
}
