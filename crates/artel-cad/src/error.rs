//! Errors as they are answered: a number, a name, and a sentence that says what is wrong and what to do about it.

use serde_json::{Map, Value, json};

/// The kinds of errors, by the names and numbers of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The line is not JSON.
    ParseError,
    /// The JSON is not a request.
    InvalidRequest,
    /// No such method.
    MethodNotFound,
    /// The parameters do not fit the method.
    InvalidParams,
    /// The program failed: its data folder or the machine.
    InternalError,
    /// An id that the workspace does not have.
    EntityNotFound,
    /// Constraints that contradict each other.
    ConstraintConflict,
    /// Something would be made of itself.
    CircularDependency,
    /// A constraint that does not fit the entities it names.
    InvalidConstraint,
    /// The operation makes no sense for this input.
    OperationInvalid,
    /// The result is no valid solid, or could not be verified.
    TopologyError,
    /// Workspaces that disagree, or a workspace that is in the way.
    WorkspaceConflict,
    /// A file or workspace that does not exist.
    FileNotFound,
    /// A format this program does not know.
    UnsupportedFormat,
    /// A file that could not be read as its format.
    ImportFailed,
    /// More memory than allowed.
    InsufficientMemory,
    /// More time than allowed.
    Timeout,
}

impl Code {
    /// All codes, in the order of their numbers.
    pub const ALL: [Self; 17] = [
        Self::ParseError,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::InternalError,
        Self::EntityNotFound,
        Self::ConstraintConflict,
        Self::CircularDependency,
        Self::InvalidConstraint,
        Self::OperationInvalid,
        Self::TopologyError,
        Self::WorkspaceConflict,
        Self::FileNotFound,
        Self::UnsupportedFormat,
        Self::ImportFailed,
        Self::InsufficientMemory,
        Self::Timeout,
    ];

    /// Returns the number and the name.
    pub const fn number_and_name(self) -> (i64, &'static str) {
        match self {
            Self::ParseError => (-32700, "PARSE_ERROR"),
            Self::InvalidRequest => (-32600, "INVALID_REQUEST"),
            Self::MethodNotFound => (-32601, "METHOD_NOT_FOUND"),
            Self::InvalidParams => (-32602, "INVALID_PARAMS"),
            Self::InternalError => (-32603, "INTERNAL_ERROR"),
            Self::EntityNotFound => (-32001, "ENTITY_NOT_FOUND"),
            Self::ConstraintConflict => (-32002, "CONSTRAINT_CONFLICT"),
            Self::CircularDependency => (-32003, "CIRCULAR_DEPENDENCY"),
            Self::InvalidConstraint => (-32004, "INVALID_CONSTRAINT"),
            Self::OperationInvalid => (-32005, "OPERATION_INVALID"),
            Self::TopologyError => (-32006, "TOPOLOGY_ERROR"),
            Self::WorkspaceConflict => (-32007, "WORKSPACE_CONFLICT"),
            Self::FileNotFound => (-32008, "FILE_NOT_FOUND"),
            Self::UnsupportedFormat => (-32009, "UNSUPPORTED_FORMAT"),
            Self::ImportFailed => (-32010, "IMPORT_FAILED"),
            Self::InsufficientMemory => (-32011, "INSUFFICIENT_MEMORY"),
            Self::Timeout => (-32012, "TIMEOUT"),
        }
    }
}

/// An error that is answered to the caller.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct CadError {
    /// What kind of error it is.
    pub code: Code,
    /// What is wrong, and with what.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Facts about it, for programs.
    pub facts: Map<String, Value>,
}

impl CadError {
    /// Makes an error of a kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, facts: Map::new() }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a fact for programs.
    #[must_use]
    pub fn fact(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.facts.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the error object of JSON-RPC.
    pub fn to_json(&self) -> Value {
        let (number, name) = self.code.number_and_name();
        let mut data = self.facts.clone();
        data.insert("code".to_owned(), json!(name));
        let message = match &self.hint {
            Some(hint) => {
                data.insert("hint".to_owned(), json!(hint));
                format!("{}; {hint}", self.message)
            }
            None => self.message.clone(),
        };
        json!({"code": number, "message": message, "data": data})
    }
}

/// Makes an error about an operation that makes no sense for its input.
pub fn invalid(message: impl Into<String>) -> CadError {
    CadError::new(Code::OperationInvalid, message)
}

/// Makes an error about parameters.
pub fn bad_params(message: impl Into<String>) -> CadError {
    CadError::new(Code::InvalidParams, message)
}

/// The usual result of everything here.
pub type CadResult<T> = Result<T, CadError>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_number_and_name() {
        let numbers: std::collections::BTreeSet<_> =
            Code::ALL.iter().map(|code| code.number_and_name().0).collect();
        let names: std::collections::BTreeSet<_> =
            Code::ALL.iter().map(|code| code.number_and_name().1).collect();
        assert_eq!((numbers.len(), names.len()), (17, 17));
    }

    #[test]
    fn an_error_says_its_name_and_hint() {
        let error = invalid("the box has no height").hint("give `height` in millimetres").fact("height", 0);
        let expected = json!({
            "code": -32005,
            "message": "the box has no height; give `height` in millimetres",
            "data": {"code": "OPERATION_INVALID", "hint": "give `height` in millimetres", "height": 0}
        });
        assert_eq!(error.to_json(), expected);
    }
}
