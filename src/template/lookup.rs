//! stub
#[derive(Debug)]
pub struct Lookup;
#[derive(Debug)]
pub struct Fault;
impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("lookup tables are not understood yet")
    }
}
impl Fault {
    pub fn hint(&self) -> Option<String> {
        None
    }
    pub fn is_about(&self, _: &str) -> bool {
        true
    }
}
impl Lookup {
    pub fn from_rows(_h: &[String], _r: &[Vec<String>], _f: &str, _t: &str) -> Result<Lookup, Fault> {
        Ok(Lookup)
    }
    pub fn get(&self, _: &str) -> Option<&str> {
        None
    }
    pub fn nearest(&self, _: &str) -> Option<&str> {
        None
    }
}
