//! Flags of `help`.

use clap::Args;

#[derive(Args, Debug)]
pub struct Help {
    /// A command such as `upload`, codes of problems such as `not-a-number`, or `codes` for a list of all codes
    #[arg(value_name = "TOPIC")]
    pub topic: Vec<String>,
}
