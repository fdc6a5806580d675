//! The searched fields of a document and how much a word in each of them counts.

/// A searched part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The slug.
    Name,
    /// The name for people.
    Title,
    /// The tags, together.
    Tags,
    /// The description.
    Description,
    /// The instructions.
    Body,
}

impl std::fmt::Display for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Name => "name",
            Self::Title => "title",
            Self::Tags => "tags",
            Self::Description => "description",
            Self::Body => "body",
        })
    }
}

impl Field {
    /// Every field, the most telling first.
    pub const ALL: [Self; 5] = [Self::Name, Self::Title, Self::Tags, Self::Description, Self::Body];

    /// Returns the field's name in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Title => "title",
            Self::Tags => "tags",
            Self::Description => "description",
            Self::Body => "body",
        }
    }

    fn rule(self) -> Rule {
        match self {
            Self::Name => Rule { weight: 8.0, usual_words: 2.0, length_effect: 0.5 },
            Self::Title => Rule { weight: 5.0, usual_words: 3.0, length_effect: 0.5 },
            Self::Tags => Rule { weight: 3.0, usual_words: 4.0, length_effect: 0.3 },
            Self::Description => Rule { weight: 1.5, usual_words: 20.0, length_effect: 0.5 },
            Self::Body => Rule { weight: 0.4, usual_words: 300.0, length_effect: 0.6 },
        }
    }
}

/// A set of fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FieldSet(u8);

impl FieldSet {
    const EVERY: Self = Self(0b1_1111);

    /// Name, title and tags: what a document calls itself.
    pub(super) const TELLING: Self = Self(0b0_0111);

    /// Returns the set of these fields.
    pub fn of(fields: &[Field]) -> Self {
        Self(fields.iter().fold(0, |bits, &field| bits | 1 << field as u8))
    }

    /// Returns whether the field is in the set.
    pub fn contains(self, field: Field) -> bool {
        self.0 & (1 << field as u8) != 0
    }

    /// Returns the fields of the set, the most telling first.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |&field| self.contains(field))
    }

    pub(super) fn from_bits(bits: u8) -> Self {
        Self(bits & Self::EVERY.0)
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }
}

impl std::fmt::Debug for FieldSet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

/// How often one word occurs in each field, or how many words each field has.
pub(super) type PerField = [u32; Field::ALL.len()];

struct Rule {
    weight: f32,
    /// The length at which the field's length changes nothing. It is fixed instead of the corpus' average, so
    /// that a document scores the same whatever else is in the index (or outside the caller's view).
    usual_words: f32,
    /// From 0 (length has no effect) to 1 (the share of the words is what counts).
    length_effect: f32,
}

/// What one occurrence counts in each field of a document whose fields have `lengths` words.
pub(super) fn occurrence_weights(lengths: &PerField) -> [f32; Field::ALL.len()] {
    Field::ALL.map(|field| {
        let Rule { weight, usual_words, length_effect } = field.rule();
        let length = lengths[field as usize] as f32 / usual_words;
        weight / (1.0 - length_effect + length_effect * length)
    })
}

/// How strongly a document is about a word, between 0 and 1: the weighted occurrences of all fields,
/// saturated.
///
/// Repetition counts by its logarithm, so that a body which repeats a word does not outrank a name that says
/// it.
pub(super) fn strength(occurrences: &PerField, weights: &[f32; Field::ALL.len()]) -> f32 {
    const SATURATION: f32 = 1.2;
    let mut weighted = 0.0;
    for (&count, weight) in occurrences.iter().zip(weights) {
        weighted += match count {
            0 => 0.0,
            1 => *weight,
            _ => weight * (1.0 + (count as f32).ln()),
        };
    }
    weighted / (weighted + SATURATION)
}
