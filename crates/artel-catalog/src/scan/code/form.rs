//! The small form that Python and JavaScript are brought into before their data is followed.

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    Text(String),
    Number(i64),
    Name(String),
    Member(Box<Form>, String),
    Index(Box<Form>, Box<Form>),
    /// The whole, backwards.
    Reversed(Box<Form>),
    Call(Box<CallForm>),
    /// One text after the other.
    Concat(Vec<Form>),
    /// One path below the other.
    Below(Box<Form>, Box<Form>),
    List(Vec<Form>),
    Object(Vec<(Option<String>, Form)>),
    /// One of them.
    Either(Vec<Form>),
    /// Something that is made of these in a way that does not matter.
    Made(Vec<Form>),
    /// The body for each of something.
    Each {
        targets: Vec<String>,
        over: Box<Form>,
        body: Box<Form>,
    },
    Function(Box<FunctionForm>),
    /// A value that gets a name on the way.
    Let(String, Box<Form>),
    Nothing,
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallForm {
    pub(super) callee: Form,
    pub(super) arguments: Vec<Argument>,
    pub(super) row: usize,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Argument {
    pub(super) name: Option<String>,
    pub(super) value: Form,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FunctionForm {
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) body: Vec<Step>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Assign {
        targets: Vec<String>,
        value: Form,
        adds: bool,
    },
    /// Parts of an object get names of their own.
    Unpack {
        names: Vec<(String, String)>,
        value: Form,
    },
    Do(Form),
    Return(Form),
    Import {
        name: String,
        path: String,
    },
    Function(FunctionForm),
    ForEach {
        targets: Vec<String>,
        over: Form,
        body: Vec<Step>,
    },
}
