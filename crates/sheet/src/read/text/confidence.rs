//! Confidence in a decision about a file.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Another reading fits nearly as well, or there is little evidence.
    Guess,
    Likely,
    Certain,
    /// Stated by the caller or by the file itself.
    Given,
}

impl Confidence {
    /// The name in structured output.
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Guess => "guess",
            Confidence::Likely => "likely",
            Confidence::Certain => "certain",
            Confidence::Given => "told",
        }
    }
}
