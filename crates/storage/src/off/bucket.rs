//! Buckets, of which there are none.

use std::convert::Infallible;
use std::io::Write;
use std::path::Path;

use sheetport_client::ConnectOptions;

use super::address::ObjectAddress;
use crate::error::Error;
use crate::object::Object;

#[derive(Clone, Debug)]
pub struct Bucket(Infallible);

impl Bucket {
    pub fn open(address: &ObjectAddress, _: &ConnectOptions) -> Result<Bucket, Error> {
        match address.0 {}
    }

    pub async fn find(&self, _: &ObjectAddress) -> Result<Option<Object>, Error> {
        match self.0 {}
    }

    pub async fn get(&self, _: &ObjectAddress) -> Result<Object, Error> {
        match self.0 {}
    }

    pub async fn list(&self, _folder: &ObjectAddress) -> Result<Vec<Object>, Error> {
        match self.0 {}
    }

    pub async fn list_all(&self, _folder: &ObjectAddress) -> Result<Vec<Object>, Error> {
        match self.0 {}
    }

    pub async fn read(&self, _: &Object, _copy: &mut impl Write) -> Result<(), Error> {
        match self.0 {}
    }

    pub async fn store(&self, _file: &Path, _: &ObjectAddress, _replaces: bool) -> Result<(), Error> {
        match self.0 {}
    }

    pub async fn copy(&self, _: &Object, _to: &ObjectAddress) -> Result<bool, Error> {
        match self.0 {}
    }

    pub async fn remove(&self, _: &ObjectAddress) -> Result<(), Error> {
        match self.0 {}
    }
}
