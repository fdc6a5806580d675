//! Command lines with places to be filled: `{task}`, `{model}`, `{work}`, `{skills}`. What is filled in stays inside its
//! argument; there is no shell.

use thiserror::Error;

/// A command line with places to be filled.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Template {
    words: Vec<Vec<Piece>>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Piece {
    Text(String),
    Place(Place),
}

/// A place to be filled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// What the agent is for.
    Task,
    /// The model that it should use.
    Model,
    /// The folder that it works in.
    Work,
    /// The folder with its skills.
    Skills,
}

/// What the places are filled with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling<'a> {
    pub(super) task: &'a str,
    pub(super) model: &'a str,
    pub(super) work: &'a str,
    pub(super) skills: &'a str,
}

/// Why a text is no template.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub(super) enum TemplateError {
    /// A place that nothing is known for.
    #[error(
        "`{{{0}}}` stands for nothing: there are {{task}}, {{model}}, {{work}} and {{skills}}; write `{{{{{0}}}}}` for the text"
    )]
    Unknown(String),
    /// A NUL byte cannot be in an argument.
    #[error("a command line cannot hold a NUL byte")]
    Nul,
}

impl Template {
    /// Reads the words of a command line. `{{` and `}}` are braces.
    pub(super) fn parse(words: &[impl AsRef<str>]) -> Result<Self, TemplateError> {
        let words = words.iter().map(|word| parse_word(word.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { words })
    }

    /// Says whether a place is to be filled somewhere.
    pub(super) fn names(&self, place: Place) -> bool {
        self.words.iter().flatten().any(|piece| *piece == Piece::Place(place))
    }

    /// Says whether a task that begins with a dash could be taken for an option.
    pub(super) fn opens_with_task(&self) -> bool {
        let options = &self.words[..self.options_end()];
        let first =
            |word: &Vec<Piece>| word.iter().find(|piece| **piece != Piece::Text(String::new())).cloned();
        options.iter().filter_map(first).any(|piece| piece == Piece::Place(Place::Task))
    }

    /// Returns how many words can be options: those before `--`, or all.
    pub(super) fn options_end(&self) -> usize {
        let end = [Piece::Text("--".to_owned())];
        self.words.iter().position(|word| *word == end).unwrap_or(self.words.len())
    }

    /// Returns the words with all places filled.
    pub(super) fn fill(&self, filling: Filling<'_>) -> Vec<String> {
        let fill = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Place(Place::Task) => filling.task.to_owned(),
            Piece::Place(Place::Model) => filling.model.to_owned(),
            Piece::Place(Place::Work) => filling.work.to_owned(),
            Piece::Place(Place::Skills) => filling.skills.to_owned(),
        };
        self.words.iter().map(|word| word.iter().map(fill).collect()).collect()
    }
}

fn parse_word(word: &str) -> Result<Vec<Piece>, TemplateError> {
    if word.contains('\0') {
        return Err(TemplateError::Nul);
    }
    let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), word);
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("{{") {
            text.push('{');
            rest = after;
        } else if let Some(after) = rest.strip_prefix("}}") {
            text.push('}');
            rest = after;
        } else if let Some((name, after)) = place_name(rest) {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
            pieces.push(Piece::Place(place(name).ok_or_else(|| TemplateError::Unknown(name.to_owned()))?));
            rest = after;
        } else {
            text.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

/// Splits `{name}` off; braces around anything but a name are text, such as JSON.
fn place_name(text: &str) -> Option<(&str, &str)> {
    let (name, after) = text.strip_prefix('{')?.split_once('}')?;
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    is_name.then_some((name, after))
}

fn place(name: &str) -> Option<Place> {
    match name {
        "task" => Some(Place::Task),
        "model" => Some(Place::Model),
        "work" => Some(Place::Work),
        "skills" => Some(Place::Skills),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: &str) {
        let filling = Filling { task: "say \"{model}\"; rm *", model: "m", work: "/w", skills: "/w/s" };
        assert_eq!(Template::parse(&[word]).unwrap().fill(filling), [expected]);
    }

    #[test]
    fn places_are_filled_inside_one_argument() {
        check("{task}", "say \"{model}\"; rm *");
        check("--model={model}", "--model=m");
        check("{work}:{skills}", "/w:/w/s");
        check("{{task}}", "{task}");
        check("{\"task\": 1}", "{\"task\": 1}");
        check("{}", "{}");
        check("a}b{", "a}b{");
        check("", "");
    }

    #[test]
    fn what_stands_for_nothing_is_refused() {
        assert_eq!(Template::parse(&["{tusk}"]), Err(TemplateError::Unknown("tusk".to_owned())));
        assert_eq!(Template::parse(&["a\0b"]), Err(TemplateError::Nul));
        let message = TemplateError::Unknown("x".to_owned()).to_string();
        assert!(message.contains("`{x}` stands for nothing") && message.contains("`{{x}}`"), "{message}");
        assert!(Template::parse(&["{task}", "x"]).unwrap().names(Place::Task));
        assert!(!Template::parse(&["{{task}}"]).unwrap().names(Place::Task));
    }

    #[test]
    fn a_task_must_not_become_an_option() {
        let opens = |words: &[&str]| Template::parse(words).unwrap().opens_with_task();
        assert!(opens(&["-p", "{task}"]) && opens(&["{task}!"]));
        assert!(!opens(&["--", "{task}"]) && !opens(&["--task={task}"]) && !opens(&["{work}"]));
    }
}
